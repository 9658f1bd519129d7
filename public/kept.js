// What is typed into a card that somebody else decides meanwhile: in the inbox (approvals.js) and in the feed (live/typed.js).

const STYLE =
  'thin-scroll mt-1 block field-sizing-content max-h-60 w-full resize-y rounded-md border bg-card px-3 py-1.5 text-[13px] leading-5 text-foreground max-sm:text-base'
const PAUSE_MS = 1_000

/** Puts what was typed into the card: it is not lost. It stands below the title of a proposal, else at the card's end. Returns its field. */
export const keepIn = (card, texts) => {
  const [label, field] = [document.createElement('label'), document.createElement('textarea')]
  Object.assign(field, { className: STYLE, dir: 'auto', readOnly: true, value: texts.join('\n') })
  label.className = 'mt-2 block text-muted-foreground'
  label.append('What you had typed', field)
  ;(card.querySelector('h3')?.parentNode ?? card).append(label)
  return field
}

/** The field is gone in which somebody was typing, and types on: none of these keys is to be a shortcut. They go to the field with what was
 *  typed (`kept`), which stays as it is; where nothing was, they do nothing. */
export const leaveField = (card, kept) => {
  ;(kept ?? card).focus({ preventScroll: true })
  if (!kept) dropKeys()
}

/** Keys do nothing until none has come for a while, or one goes to another field. */
const dropKeys = () => {
  let pause
  const stop = () => removeEventListener('keydown', drop, true)
  const wait = () => {
    clearTimeout(pause)
    pause = setTimeout(stop, PAUSE_MS)
  }
  const drop = (event) => {
    if (event.target.closest?.('input, textarea, select')) return stop()
    event.stopPropagation()
    wait()
  }
  addEventListener('keydown', drop, true)
  wait()
}
