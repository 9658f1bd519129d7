// Keys: from row to row, to the end, to the composer, and to what stands beside the feed.
import { $, isTyping } from './elements.js'

export const listenToKeys = (rows) => {
  const KEYS = {
    j: () => step(rows, 1),
    k: () => step(rows, -1),
    g: () => $('jump').click(),
    c: toComposer,
    d: toDocument,
    b: () => toSide('board'),
    r: () => toSide('records'),
    '?': loadHelp,
  }
  skipInTabOrder(rows.children)
  new MutationObserver((changes) => changes.forEach(({ addedNodes }) => skipInTabOrder(addedNodes))).observe(rows, { childList: true })
  addEventListener('click', ({ target }) => target.closest('[href="#message"]') && toComposer())
  if (location.hash === '#message') toComposer()
  addEventListener('keydown', (event) => {
    if (isTyping(event) || !Object.hasOwn(KEYS, event.key)) return
    event.preventDefault() // otherwise the letter would be typed into the field that gets the focus
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
  if (before) skipInTabOrder([before])
  const link = linkOf(row) // guests have none at edits of the document
  if (link) link.tabIndex = 0 // the Tab key stops at this row's link alone
  row.tabIndex = -1
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}

const linkOf = (row) => row.querySelector?.(`a[href="#${row.id}"], .row-doc a`)

// Takes the rows' links out of the Tab order: j and k lead to them. Without script the Tab key stops at each.
const skipInTabOrder = (some) => {
  for (const row of some) {
    const link = linkOf(row)
    if (link) link.tabIndex = -1
  }
}

// Where there is a box for prompts as well, the one for messages may be hidden (components/agents/prompt-box.tsx).
const toComposer = () => {
  if (!$('message')) return
  if ($('to-teams')) $('to-teams').checked = true
  location.hash = 'message'
  $('message').focus()
}

const toDocument = () => {
  if (!$('document')?.checkVisibility()) return toSide('document')
  location.hash = 'document'
  document.querySelector('#document [role=region]').focus()
}

// Of the links in the pane and in the tabs one shows.
const toSide = (name) => [...document.querySelectorAll(`[data-side=${name}]`)].find((link) => link.checkVisibility())?.click()

const loadHelp = () => {
  const script = document.createElement('script')
  script.src = '/public/help.js'
  document.head.append(script)
}
