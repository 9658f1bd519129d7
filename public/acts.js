// What people's forms are better with, and work without.
addEventListener('keydown', (event) => {
  const sends = event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.target instanceof HTMLTextAreaElement
  if (sends) event.target.form?.requestSubmit()
})

// Not sent at all: the form says so, and keeps what was typed.
document.addEventListener('htmx:error', ({ target }) => {
  if (target instanceof HTMLFormElement) target.querySelector('[role=alert][hidden]')?.removeAttribute('hidden')
})
