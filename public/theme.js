// Changes the theme without loading the page again, so that typed text stays. The theme shows at once and is saved on the server; if that
// cannot be reached, it holds for this page alone.
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (form.getAttribute('action') !== '/theme' || !submitter) return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, submitter))
  fetch('/theme', { method: 'POST', body, keepalive: true, redirect: 'manual' }).catch(() => {}) // manual: the redirect leads to this page
  const theme = submitter.value
  document.documentElement.className = theme
  document.querySelector('meta[name=color-scheme]').content = theme === 'system' ? 'light dark' : theme
  for (const button of document.querySelectorAll('[name=theme][aria-pressed]')) button.ariaPressed = String(button.value === theme)
  if (submitter.offsetWidth > 0) return
  form.querySelectorAll('button').forEach((button) => button.offsetWidth > 0 && button.focus()) // the button that took its place
})
