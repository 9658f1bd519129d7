// The dialog that lists a page's keys, for help.js and approvals.js.
/** Opens the dialog, unless one is open: a second `?` may come while the first one's script is on its way. `keys`: what each key does. */
export const showKeys = (keys) => {
  if (document.querySelector('dialog[open]')) return
  const dialog = document.createElement('dialog')
  dialog.className = 'm-auto rounded-xl border bg-card p-5 text-[13px] text-foreground shadow-xl backdrop:bg-black/40'
  dialog.ariaLabel = 'Keys'
  dialog.setAttribute('closedby', 'any')
  dialog.innerHTML = Object.entries(keys)
    .map(([key, does]) => `<p class="flex gap-3"><kbd class="w-7">${key}</kbd>${does}</p>`)
    .join('')
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
