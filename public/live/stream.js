// Keeps the session's stream going. A first attempt that fails is not repeated by the extension, so all attempts are made here, and none
// there.
import { barOf } from './bar.js'
import { endLine, openLine } from './line.js'

const [SOON_MS, LATEST_MS, SILENT_MS, CLOSED_MS] = [500, 15_000, 40_000, 30_000]

export const followStream = (live, path) => {
  const bar = barOf()
  let line
  let had = `${live.dataset.cursor}.${live.dataset.doc}`
  let failures = 0
  let next
  let silence

  const connect = () => {
    release()
    if (document.hidden) return
    line = openLine(live, path, had)
    heard()
  }
  const release = () => {
    clearTimeout(next)
    clearTimeout(silence)
    const left = line
    line = undefined
    if (left) endLine(left)
  }
  const lost = () => {
    release()
    bar.lost()
    const delay = Math.min(SOON_MS * 2 ** failures++, LATEST_MS)
    next = setTimeout(connect, delay * (0.7 + Math.random() * 0.6))
  }
  const held = () => {
    failures = 0
    bar.held()
  }
  const heard = () => {
    clearTimeout(silence)
    silence = setTimeout(lost, SILENT_MS) // the server says something every 15 s: a line without a word is dead
  }
  const closed = () => {
    held()
    release()
    next = setTimeout(connect, CLOSED_MS) // it may be reopened
  }
  const answered = ({ detail: { ctx } }) => {
    const { status } = ctx.response
    ctx.swap = 'none'
    ctx.text = ''
    if (status === 204) return closed()
    if (status !== 401 && status !== 403 && status !== 404) return lost()
    release()
    bar.refused()
  }

  const ON_LINE = {
    'htmx:sse:after:connection': () => (held(), heard()),
    'htmx:sse:before:message': ({ detail }) => {
      had = detail.message.id || had
      heard()
    },
    closed,
    'htmx:sse:close': lost,
    'htmx:error': lost,
    'htmx:after:request': answered,
  }
  for (const [name, act] of Object.entries(ON_LINE)) live.addEventListener(name, (event) => event.target === line && act(event))
  document.addEventListener('visibilitychange', () => (document.hidden ? release() : connect()))
  for (const name of ['online', 'reconnect']) addEventListener(name, connect)
  connect()
}
