// Cards that wait for a person, in the inbox: after a form of one was sent the focus goes on, and a second tap lands on nothing else.
{
  const SECOND_TAP_MS = 500

  let sent // the card whose form is under way; with the card that is next, and where that stands
  let until = 0 // taps on cards until then belong to the one before

  /** The card that waits after this one, else before it. */
  const neighbour = (card) => {
    const all = [...document.querySelectorAll('main [data-card]')].filter((one) => one === card || one.dataset.card === 'open')
    const at = all.indexOf(card)
    return all[at + 1] ?? all[at - 1]
  }

  const onSubmit = ({ target, submitter }) => {
    const card = target.closest('[data-card]')
    sent = card ? { id: card.id } : undefined
    if (!card) return
    card.dataset.busy = '' // updates of this card by the stream wait until its form is answered (approvals.js)
    if (submitter === document.activeElement) card.focus({ preventScroll: true }) // a button that is disabled meanwhile loses the focus
  }

  const beforeSwap = ({ detail: { ctx } }) => {
    const card = ctx.sourceElement?.closest?.('[data-card]')
    if (!card || card.id !== sent?.id) return
    const next = neighbour(card)
    if (next) Object.assign(sent, { next: next.id, top: next.getBoundingClientRect().top })
  }

  const afterSwap = ({ detail: { ctx } }) => {
    if (ctx.target?.id?.startsWith('together-')) {
      ctx.target.hidden = false // where the stream told of the first approvals before this answer came (approvals.js)
      ctx.target.focus({ preventScroll: true })
    }
    if (!sent || ctx.target?.id !== sent.id) return
    const { id, next, top } = sent
    sent = undefined
    goOn(document.getElementById(id), next && document.getElementById(next), top)
  }

  const goOn = (card, next, top) => {
    if (!card) return
    if (card.dataset.card === 'open' || card.querySelector('[role=alert]:not([hidden])'))
      return (card.querySelector('[aria-invalid]') ?? card).focus() // what was typed is there, and why it was refused
    ;(next ?? card).focus({ preventScroll: true })
    if (next) scrollBy({ top: next.getBoundingClientRect().top - top, behavior: 'instant' }) // what lies below stays in place, where that is possible
    until = performance.now() + SECOND_TAP_MS
  }

  const onClick = (event) => {
    const again = event.detail > 0 && performance.now() < until && event.target.closest?.('[data-card]')
    if (!again) return
    event.preventDefault()
    event.stopPropagation()
  }

  document.addEventListener('submit', onSubmit)
  document.addEventListener('htmx:before:swap', beforeSwap)
  document.addEventListener('htmx:after:swap', afterSwap)
  document.addEventListener('htmx:finally:request', ({ target }) => delete target.closest?.('[data-card]')?.dataset.busy)
  document.addEventListener('click', onClick, { capture: true })
}
