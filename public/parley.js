// What pages are better with and work without: buttons that copy, and "/" to search.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (!navigator.clipboard) continue // not on plain http beyond this machine: the text can be marked
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(await textFor(button))
    const { title } = button
    button.title = 'Copied'
    button.classList.add('text-ok-foreground')
    setTimeout(() => {
      button.title = title
      button.classList.remove('text-ok-foreground')
    }, 1_500)
  })
}

// What stands beside the button; or the document, as it was written, in the version that the page shows.
async function textFor(button) {
  if (button.dataset.copy === '') return button.closest('figure').querySelector('pre').textContent
  const { version } = document.getElementById('doc').dataset
  return version === '0' ? '' : (await fetch(`${button.dataset.copy}/${version}.md`)).text()
}

addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return
  event.preventDefault()
  const search = document.querySelector('input[type=search]')
  if (search) search.focus()
  else location.assign('/search')
})
