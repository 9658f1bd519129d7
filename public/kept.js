/** A line at the end of a card that somebody else decided meanwhile: what was typed into it is not lost. A proposal's card reaches to its border,
 *  that of a permission has a margin within. */
export const keepIn = (card, texts) => {
  const note = document.createElement('p')
  const place = card.matches('.card') ? 'border-t px-3.5 py-3 sm:px-4' : 'mt-2'
  note.className = `${place} text-[12.5px] text-muted-foreground wrap-anywhere`
  note.textContent = `What you had typed: ${texts.join(' · ')}`
  card.append(note)
}
