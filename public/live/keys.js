// Keys that go from row to row, and to the end.
export const listenToKeys = (rows, toEnd) => {
  const KEYS = { j: () => step(rows, 1), k: () => step(rows, -1), g: toEnd }
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select, dialog')) return
    KEYS[event.key]?.()
  })
}

const step = (rows, by) => {
  const all = [...rows.querySelectorAll('.row')].filter((row) => row.checkVisibility?.() ?? true)
  const at = all.indexOf(document.activeElement?.closest?.('.row'))
  const from = at < 0 ? all.length - (by > 0 ? 1 : 0) : at
  const row = all[Math.max(0, Math.min(all.length - 1, from + by))]
  if (!row) return
  row.tabIndex = -1
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
}
