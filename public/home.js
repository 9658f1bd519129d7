// The home page while it is open: refreshes list and figures every 15 seconds while the page is visible.
import { connectionBar } from './live/bar.js'
import { loadText, place } from './live/load.js'

{
  const [EVERY_MS, TIMEOUT_MS] = [15_000, 10_000]
  const sessions = () => document.querySelector('#sessions[data-live]')
  const bar = connectionBar()
  let next
  let refreshedAt = performance.now()

  const refresh = async () => {
    const address = new URL(location.href)
    address.searchParams.set('part', 'live')
    await place(await loadText(address, { signal: AbortSignal.timeout(TIMEOUT_MS) }), sessions())
  }
  const wait = () => {
    clearTimeout(next)
    if (!document.hidden) next = setTimeout(again, refreshedAt + EVERY_MS - performance.now())
  }
  const again = async () => {
    refreshedAt = performance.now()
    try {
      await refresh()
      bar.hide()
    } catch ({ cause }) {
      if (cause === 401) return end() // closed to this reader now: the page stays as it is, and asks no more
      bar.showLost() // the network may come back
    }
    wait()
  }
  const end = () => {
    bar.showRefused()
    document.removeEventListener('visibilitychange', wait)
  }

  if (sessions()) {
    document.addEventListener('visibilitychange', wait)
    addEventListener('reconnect', again)
    wait()
  }
}
