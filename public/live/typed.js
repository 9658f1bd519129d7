// What is typed into the cards of the feed, until it is sent: the stream replaces a card that somebody else decides.
import { keepIn } from '../kept.js'

export const keepTyped = (live) => {
  const typed = new Map() // by the card's id: the text of each field

  document.addEventListener('input', ({ target }) => {
    const card = target.closest('[data-card=open]')
    if (card) typed.set(card.id, { ...typed.get(card.id), [target.name]: target.value })
  })
  document.addEventListener('submit', ({ target }) => typed.delete(target.closest('[data-card]')?.id))
  live?.addEventListener('htmx:sse:after:message', () => {
    for (const [id, fields] of typed) {
      const card = document.getElementById(id)
      if (card?.dataset.card !== 'done') continue
      typed.delete(id)
      keepIn(card, Object.values(fields))
    }
  })
}
