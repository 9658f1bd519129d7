// Forms: Ctrl or ⌘ with Enter submits, and a form that could not be sent says so. Forms work without both.
addEventListener('keydown', (event) => {
  const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target instanceof HTMLTextAreaElement
  const form = sends && event.target.form
  if (form && !form.querySelector('[type=submit]:disabled')) form.requestSubmit() // disabled while the form is under way: it would be sent again
})

// A form that could not be sent, or was answered by a proxy on the way, says so and keeps the typed text; a form without a place for that
// (components/forms/act-form.tsx) and a link to a dialog say so in a notice (parley.js). Where this server refused it, they say why, in its
// words: the answer is a sentence, of which nothing is swapped in (src/pages/routes.tsx).
const REFUSED_FORM = /^<(?:form|article) / // this server answers a form that it refuses with the form, or with its card
const showNotSent = (target, why) => {
  if (!target.matches('form, a')) return
  const place = target.querySelector('[data-unsent]')
  const text = why || `${place ? 'Not sent: the server' : 'Parley'} cannot be reached. ${place?.dataset.unsent ?? 'Try again.'}`
  if (!place) return document.dispatchEvent(new CustomEvent('notice', { detail: text }))
  place.textContent = text
  place.hidden = false
}
document.addEventListener('htmx:error', ({ target }) => showNotSent(target))
document.addEventListener('htmx:response:error', ({ target, detail: { ctx } }) => {
  if (REFUSED_FORM.test(ctx.text)) return
  ctx.swap = 'none'
  const { status } = ctx.response // all that is known of what a proxy says
  showNotSent(target, ctx.hx.reswap ? ctx.text : /40[13]/.test(status) && 'Not sent: sign in again, in another tab.')
})

// A card that was answered in its place keeps the focus, which its button had.
document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  if (ctx.target?.dataset?.card && document.activeElement === document.body) ctx.target.focus({ preventScroll: true })
})
