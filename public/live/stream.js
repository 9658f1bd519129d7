// Keeps the session's stream open. htmx's extension does not repeat a first attempt that failed, so all reconnecting is done here, and the
// extension does none.
import { connectionBar } from './bar.js'
import { closeConnection, openConnection } from './connection.js'
import { isRefused } from './load.js'

const [FIRST_RETRY_MS, LAST_RETRY_MS, SILENT_MS, CLOSED_MS] = [500, 15_000, 40_000, 30_000]

export const followStream = (live, path) => {
  const bar = connectionBar()
  let connection
  let lastEventId = `${live.dataset.cursor}.${live.dataset.doc}`
  let failures = 0
  let retryTimer
  let silenceTimer

  const connect = () => {
    release()
    if (document.hidden) return
    connection = openConnection(live, path, lastEventId)
    resetSilence()
  }
  const release = () => {
    clearTimeout(retryTimer)
    clearTimeout(silenceTimer)
    const left = connection
    connection = undefined
    if (left) closeConnection(left)
  }
  const onLost = () => {
    release()
    bar.showLost()
    const delay = Math.min(FIRST_RETRY_MS * 2 ** failures++, LAST_RETRY_MS)
    retryTimer = setTimeout(connect, delay * (0.7 + Math.random() * 0.6))
  }
  const onConnected = () => {
    failures = 0
    bar.hide()
  }
  const resetSilence = () => {
    clearTimeout(silenceTimer)
    silenceTimer = setTimeout(onLost, SILENT_MS) // the server sends something every 15 s: a silent connection is dead
  }
  const onClosed = () => {
    onConnected()
    release()
    retryTimer = setTimeout(connect, CLOSED_MS) // the session may be reopened
  }
  const onResponse = ({ detail: { ctx } }) => {
    const { status } = ctx.response
    ctx.swap = 'none'
    ctx.text = ''
    if (status === 204) return onClosed()
    // The log ends before what the page shows: a backup was restored, or a purge goes on, piece by piece.
    if (status === 400) return (release(), (retryTimer = setTimeout(() => location.reload(), LAST_RETRY_MS * Math.random())))
    if (!isRefused(status)) return onLost()
    release()
    bar.showRefused(status)
  }

  const HANDLERS = {
    'htmx:sse:after:connection': () => (onConnected(), resetSilence()),
    'htmx:sse:before:message': ({ detail }) => {
      lastEventId = detail.message.id || lastEventId
      resetSilence()
    },
    closed: onClosed,
    'htmx:sse:close': onLost,
    'htmx:error': onLost,
    'htmx:after:request': onResponse,
  }
  for (const [name, handle] of Object.entries(HANDLERS))
    live.addEventListener(name, (event) => event.target === connection && handle(event))
  document.addEventListener('visibilitychange', () => (document.hidden ? release() : connect()))
  for (const name of ['online', 'reconnect']) addEventListener(name, connect)
  connect()
}
