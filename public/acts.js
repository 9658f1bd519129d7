// What people's forms are better with, and work without.
addEventListener('keydown', (event) => {
  const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target instanceof HTMLTextAreaElement
  if (sends) event.target.form?.requestSubmit()
})

// Not sent at all, or answered by something else on the way: the form says so, and keeps what was typed; a link to a dialog says so in a
// notice (parley.js).
const OUR_OWN = '<form' // a form that is refused comes back
const unsent = (target) => {
  if (target.matches('form')) target.querySelector('[role=alert][hidden]')?.removeAttribute('hidden')
  if (target.matches('a')) document.dispatchEvent(new CustomEvent('notice', { detail: 'Parley cannot be reached. Try again.' }))
}
document.addEventListener('htmx:error', ({ target }) => unsent(target))
document.addEventListener('htmx:response:error', ({ target, detail: { ctx } }) => {
  if (ctx.text.startsWith(OUR_OWN) || !target.matches('form, a')) return
  ctx.swap = 'none'
  unsent(target)
})
