/** A line in a card that somebody else decided meanwhile: what was typed into it is not lost. It stands below the title of a proposal, else at
 *  the card's end. */
export const keepIn = (card, texts) => {
  const note = document.createElement('p')
  note.className = 'mt-2 text-muted-foreground wrap-anywhere'
  note.textContent = `What you had typed: ${texts.join(' · ')}`
  ;(card.querySelector('h3')?.parentNode ?? card).append(note)
}
