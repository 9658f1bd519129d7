// What is typed into what is replaced.
import { keepIn, leaveField } from '../kept.js'

/** What is typed into the cards of the feed, until it is taken: the stream replaces a card that somebody else decides. */
export const keepTyped = (live) => {
  const typed = new Map() // by the card's id: the text of each field
  let typing // the id of the card that had the focus in a field before the stream's message
  let sent // the id of the card whose form is under way

  document.addEventListener('input', ({ target }) => {
    const card = target.closest('[data-card=open]')
    if (card) typed.set(card.id, { ...typed.get(card.id), [target.name]: target.value })
  })
  document.addEventListener('htmx:before:request', ({ target, detail: { ctx } }) => {
    const id = target.closest('[data-card]')?.id
    const fields = typed.get(id)
    sent = id
    if (typed.delete(id)) ctx.restore = () => typed.set(id, { ...fields, ...typed.get(id) })
  })
  document.addEventListener('htmx:finally:request', ({ detail: { ctx } }) => {
    sent = undefined
    if (!(ctx.response?.status < 400)) ctx.restore?.()
  })
  live?.addEventListener('htmx:sse:before:message', () => {
    typing = document.activeElement?.closest('[data-card=open] :is(textarea, input, select)')?.closest('[data-card]').id
  })
  live?.addEventListener('htmx:sse:after:message', () => {
    let kept
    for (const [id, fields] of typed) {
      const card = document.getElementById(id)
      if (card?.dataset.card !== 'done' || card.querySelector('[role=alert]:not([hidden])')) continue // an answer that refused says them
      typed.delete(id)
      const field = keepIn(card, Object.values(fields))
      if (id === typing) kept = field
    }
    const card = typing && typing !== sent && document.getElementById(typing)
    if (card?.dataset.card === 'done') leaveField(card, kept)
  })
}

/** What is typed while a message or a prompt is under way: the answer to it is a form in the place of its own. That is empty where the text was
 *  taken, and goes on with what was added to it, before or behind; else it has the text as it was sent, which stays. A text that was changed
 *  otherwise stays whole. */
export const keepAdded = () => {
  const fieldOf = ({ sourceElement, target }) =>
    sourceElement === target && target?.matches?.('form') ? target.querySelector('textarea') : undefined

  const withoutSent = (typed, sent) => {
    if (typed.startsWith(sent)) return typed.slice(sent.length).trim()
    return typed.endsWith(sent) ? typed.slice(0, -sent.length).trim() : typed
  }

  document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => void (ctx.sent = fieldOf(ctx)?.value))
  document.addEventListener('htmx:before:swap', ({ detail: { ctx, tasks } }) => {
    const { sent } = ctx
    const typed = fieldOf(ctx)?.value
    const next = tasks.find(({ target }) => target === ctx.target)?.fragment.querySelector('textarea')
    if (typed === undefined || typed === sent || !next) return
    if (!next.value) next.value = withoutSent(typed, sent)
    else next.value = typed.includes(sent) ? typed : `${sent}\n\n${typed}`.trim()
  })
}
