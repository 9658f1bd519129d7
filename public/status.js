// The status page while it is open: htmx asks for it again every few seconds. Where no answer comes the page says that it is not up to date.
import { connectionBar } from './live/bar.js'

{
  const bar = connectionBar()
  document.addEventListener('htmx:after:request', ({ detail: { ctx } }) => (ctx.response.status < 400 ? bar.hide() : bar.showLost()))
  document.addEventListener('htmx:error', bar.showLost)
  addEventListener('reconnect', () => document.getElementById('status').dispatchEvent(new Event('every')))
}
