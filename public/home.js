// The home page while it is open: refreshes list and figures every 15 seconds while the page is visible.
import { connectionBar } from './live/bar.js'

{
  const [EVERY_MS, TIMEOUT_MS] = [15_000, 10_000]
  const sessions = () => document.querySelector('#sessions[data-live]')
  const bar = connectionBar()
  let next
  let refreshedAt = performance.now()

  const refresh = async () => {
    const address = new URL(location.href)
    address.searchParams.set('part', 'live')
    const response = await fetch(address, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.redirected) return false // closed to this reader now: the page stays as it is, and asks no more
    if (!response.ok) throw new Error(`${address}: ${response.status}`)
    await htmx.swap({ text: await response.text(), sourceElement: sessions(), swap: 'none' })
    return true
  }
  const wait = () => {
    clearTimeout(next)
    if (!document.hidden) next = setTimeout(again, refreshedAt + EVERY_MS - performance.now())
  }
  const again = async () => {
    refreshedAt = performance.now()
    try {
      if (!(await refresh())) return end()
      bar.hide()
    } catch {
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
