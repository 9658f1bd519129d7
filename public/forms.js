// Forms: Ctrl or ⌘ with Enter submits, and a form that could not be sent says so. Forms work without both.
addEventListener('keydown', (event) => {
  const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target instanceof HTMLTextAreaElement
  const form = sends && event.target.form
  if (form && !form.querySelector('[type=submit]:disabled')) form.requestSubmit() // disabled while the form is under way: it would be sent again
})

// A form that could not be sent, or was answered by a proxy on the way, says so and keeps the typed text; a link to a dialog says so in a
// notice (parley.js).
const REFUSED_FORM = /^<(?:form|article) / // this server answers a form that it refuses with the form, or with its card
const showNotSent = (target) => {
  if (target.matches('form')) target.querySelector('[role=alert][hidden]')?.removeAttribute('hidden')
  if (target.matches('a')) document.dispatchEvent(new CustomEvent('notice', { detail: 'Parley cannot be reached. Try again.' }))
}
document.addEventListener('htmx:error', ({ target }) => showNotSent(target))
document.addEventListener('htmx:response:error', ({ target, detail: { ctx } }) => {
  if (REFUSED_FORM.test(ctx.text) || !target.matches('form, a')) return
  ctx.swap = 'none'
  showNotSent(target)
})

// A card that was answered in its place keeps the focus, which its button had.
document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
  if (ctx.target?.dataset?.card && document.activeElement === document.body) ctx.target.focus({ preventScroll: true })
})
