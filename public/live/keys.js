// Keys that go from row to row, to the end, and to where one writes or reads.
import { $ } from './elements.js'

const HELP = {
  'j k': 'Next row, previous row',
  g: 'Newest message',
  c: 'Write a message',
  d: 'Document',
  '/': 'Search',
  '?': 'These keys',
}

export const listenToKeys = (rows, toEnd) => {
  const KEYS = { j: () => step(rows, 1), k: () => step(rows, -1), g: toEnd, c: toComposer, d: toDocument, '?': help }
  leaveOut(rows.children)
  new MutationObserver((changes) => changes.forEach(({ addedNodes }) => leaveOut(addedNodes))).observe(rows, { childList: true })
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select')) return
    if (document.querySelector('dialog[open]')) return
    if (!Object.hasOwn(KEYS, event.key)) return
    event.preventDefault() // a letter would be the first of what is written
    KEYS[event.key]()
  })
}

const step = (rows, by) => {
  const all = [...rows.querySelectorAll('.row')].filter((row) => row.checkVisibility?.() ?? true)
  const before = document.activeElement?.closest?.('.row')
  const at = all.indexOf(before)
  const from = at < 0 ? all.length - (by > 0 ? 1 : 0) : at
  const row = all[Math.max(0, Math.min(all.length - 1, from + by))]
  if (!row) return
  if (before) leaveOut([before])
  linkOf(row).tabIndex = 0 // of all rows' links the Tab key stops at this one
  row.tabIndex = -1
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

const linkOf = (row) => row.querySelector?.(`a[href="#${row.id}"], .row-doc a`)

// Without script the Tab key stops at each row's link; with it, j and k lead there.
const leaveOut = (some) => {
  for (const row of some) {
    const link = linkOf(row)
    if (link) link.tabIndex = -1
  }
}

const toComposer = () => {
  if ($('message')) location.hash = 'message'
  $('message')?.focus()
}

const toDocument = () => {
  location.hash = 'document'
  document.querySelector('#document [role=region]').focus()
}

const help = () => {
  const dialog = document.createElement('dialog')
  dialog.className = 'm-auto rounded-xl border bg-card p-5 text-[13px] text-foreground shadow-xl backdrop:bg-black/40'
  dialog.ariaLabel = 'Keys'
  dialog.setAttribute('closedby', 'any')
  dialog.innerHTML = Object.entries(HELP)
    .map(([key, does]) => `<p class="flex gap-3"><kbd class="w-7">${key}</kbd>${does}</p>`)
    .join('')
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
