// What people's forms are better with, and work without.
addEventListener('keydown', (event) => {
  const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target instanceof HTMLTextAreaElement
  if (sends) event.target.form?.requestSubmit()
})

// A form that was asked for has come into the page's dialog.
document.addEventListener('htmx:after:swap', () => {
  const dialog = document.getElementById('dialog')
  if (dialog?.firstElementChild && !dialog.open) dialog.showModal()
})
document.addEventListener('close', ({ target }) => target.id === 'dialog' && target.replaceChildren(), true)

// Not sent at all: the form says so, and keeps what was typed.
document.addEventListener('htmx:error', ({ target }) => {
  if (target instanceof HTMLFormElement) target.querySelector('[role=alert][hidden]')?.removeAttribute('hidden')
})
