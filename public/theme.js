// Another theme without another page: what was typed stays. It shows at once, and the server keeps it; if that cannot be reached, it
// holds for this page.
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (form.getAttribute('action') !== '/theme' || !submitter) return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, submitter))
  fetch('/theme', { method: 'POST', body, keepalive: true, redirect: 'manual' }).catch(() => {}) // manual: the page is here already
  const theme = submitter.value
  document.documentElement.className = theme
  document.querySelector('meta[name=color-scheme]').content = theme === 'system' ? 'light dark' : theme
  for (const button of document.querySelectorAll('[name=theme][aria-pressed]')) button.ariaPressed = String(button.value === theme)
  if (submitter.offsetWidth > 0) return
  form.querySelectorAll('button').forEach((button) => button.offsetWidth > 0 && button.focus()) // the one that took its place
})
