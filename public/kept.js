/** A line below a card that somebody else decided meanwhile: what was typed into it is not lost. */
export const keptNote = (texts) => {
  const note = document.createElement('p')
  note.className = 'border-t p-3 text-muted-foreground'
  note.textContent = `What you had typed: ${texts.join(' · ')}`
  return note
}
