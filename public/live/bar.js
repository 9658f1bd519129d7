// The bar that says that the page is not up to date.
import { $ } from './elements.js'

const SHOW_MS = 400

export const connectionBar = () => {
  const bar = $('reconnecting')
  const [text, retry] = bar.children
  retry.addEventListener('click', () => dispatchEvent(new Event('reconnect')))
  let pending
  const showLost = () => {
    text.textContent = 'Reconnecting…'
    retry.hidden = false
    pending ??= setTimeout(() => (bar.hidden = false), SHOW_MS)
  }
  const hide = () => {
    clearTimeout(pending)
    pending = undefined
    bar.hidden = true
  }
  const showRefused = (status) => {
    text.textContent = status === 404 ? 'This session was purged.' : 'You no longer have access to this page. Reload it to sign in.'
    retry.hidden = true
    bar.hidden = false
  }
  return { showLost, hide, showRefused }
}
