// Home while it is open: its list and its figures again every 15 seconds, for as long as somebody can see them.
{
  const [EVERY_MS, ANSWERED_MS] = [15_000, 10_000]
  const sessions = () => document.querySelector('#sessions[data-live]')
  let next
  let broughtAt = performance.now()

  const bring = async () => {
    const address = new URL(location.href)
    address.searchParams.set('part', 'live')
    const response = await fetch(address, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(ANSWERED_MS) })
    if (response.redirected) return false // closed to this reader now: what is shown stays, and no more requests are made
    if (response.ok) await htmx.swap({ text: await response.text(), sourceElement: sessions(), swap: 'none' })
    return true
  }
  const wait = () => {
    clearTimeout(next)
    if (!document.hidden) next = setTimeout(again, broughtAt + EVERY_MS - performance.now())
  }
  const again = async () => {
    broughtAt = performance.now()
    const goesOn = await bring().catch(() => true) // the network may come back
    if (goesOn) wait()
    else document.removeEventListener('visibilitychange', wait)
  }

  if (sessions()) {
    document.addEventListener('visibilitychange', wait)
    wait()
  }
}
