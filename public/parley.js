// What pages are better with and work without: buttons that copy, and "/" to search.
for (const button of document.querySelectorAll('[data-copy]')) {
  const code = button.closest('figure').querySelector('pre')
  if (!navigator.clipboard) continue // not on plain http beyond this machine: the text can be marked
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent)
    const { title } = button
    button.title = 'Copied'
    button.classList.add('text-ok-foreground')
    setTimeout(() => {
      button.title = title
      button.classList.remove('text-ok-foreground')
    }, 1_500)
  })
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return
  event.preventDefault()
  const search = document.querySelector('input[type=search]')
  if (search) search.focus()
  else location.assign('/search')
})
