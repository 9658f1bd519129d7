// Follows a stream of the server while the page is visible: a connection that is lost is followed by another, which goes on where the page is.
import { connectionBar } from './bar.js'
import { statusOf } from './load.js'

const [FIRST_RETRY_MS, LAST_RETRY_MS, SILENT_MS, CLOSED_MS] = [500, 15_000, 40_000, 30_000]

/** `newest`: the id of the newest event that the page has. `addressAfter`: where the stream goes on after that. `events`: what to do with each, by
 *  its name; one is done before the next. `isOver`: whether nothing more will come after this status. */
export const follow = ({ newest, addressAfter, events, isOver }) => {
  const bar = connectionBar()
  let source
  let done = Promise.resolve()
  let failures = 0
  let next
  let silence

  const connect = () => {
    leave()
    if (document.hidden) return
    source = new EventSource(addressAfter(newest))
    for (const name in HANDLERS) source.addEventListener(name, HANDLERS[name])
    for (const name in events) source.addEventListener(name, onEvent)
    awaitMore()
  }
  const leave = () => {
    clearTimeout(next)
    clearTimeout(silence)
    source?.close()
  }
  const awaitMore = () => {
    clearTimeout(silence)
    silence = setTimeout(() => lose(tryAgain), SILENT_MS) // the server sends something every 15 s: a silent connection is dead
  }
  const onEvent = (event) => {
    awaitMore()
    newest = event.lastEventId || newest
    done = done.then(() => events[event.type](event)).catch(reportError)
  }
  const HANDLERS = {
    open: () => {
      awaitMore()
      failures = 0
      bar.hide()
      dispatchEvent(new Event('connected'))
    },
    ping: awaitMore,
    closed: () => {
      leave()
      next = setTimeout(askStatus, CLOSED_MS) // the session may be reopened
    },
    error: () => lose(source.readyState === EventSource.CLOSED ? askStatus : tryAgain), // refused, or lost
  }

  const lose = (goOn) => {
    leave()
    bar.showLost()
    goOn()
  }
  const tryAgain = () => {
    const delay = Math.min(FIRST_RETRY_MS * 2 ** failures++, LAST_RETRY_MS)
    next = setTimeout(connect, delay * (0.7 + Math.random() * 0.6))
  }
  // An EventSource does not say with which status it was refused.
  const askStatus = async () => {
    const asked = source
    const options = { method: 'HEAD', signal: AbortSignal.timeout(SILENT_MS) }
    const status = statusOf(await fetch(addressAfter(newest), options).catch(() => ({})))
    if (source !== asked || document.hidden) return
    if (isOver(status)) return bar.showRefused(status)
    // The log ends before what the page shows: a backup was restored, or a purge goes on, piece by piece.
    if (status === 400) next = setTimeout(() => location.reload(), LAST_RETRY_MS * Math.random())
    else if (status === 204) next = setTimeout(askStatus, CLOSED_MS)
    else tryAgain()
  }

  document.addEventListener('visibilitychange', connect)
  for (const name of ['online', 'reconnect']) addEventListener(name, connect)
  connect()
}
