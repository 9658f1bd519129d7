// Keeps the text of a card of the feed that the stream replaces.
import { keepIn, leaveField } from '../kept.js'

/** What is typed into the cards of the feed, until it is taken: the stream replaces a card that somebody else decides. */
export const keepTyped = (live) => {
  const typed = new Map() // by the card's id: the text of each field
  let typing // the id of the card that had the focus in a field before the stream's message
  let sent // the id of the card whose form is under way

  const keep = (field) => {
    const card = field.closest('[data-card=open]')
    if (card) typed.set(card.id, { ...typed.get(card.id), [field.name]: field.value })
  }
  for (const field of document.querySelectorAll('[data-card] :is(textarea, input)')) if (field.value !== field.defaultValue) keep(field)
  document.addEventListener('input', ({ target }) => keep(target))
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
  live?.addEventListener('htmx:before:swap', () => {
    typing = document.activeElement?.closest('[data-card=open] :is(textarea, input, select)')?.closest('[data-card]').id
  })
  live?.addEventListener('htmx:after:swap', () => {
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
