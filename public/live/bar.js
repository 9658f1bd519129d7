// The bar that says when the page is not kept up to date.
import { $ } from './elements.js'

const SHOW_MS = 400

export const barOf = () => {
  const bar = $('reconnecting')
  const [text, retry] = bar.children
  retry.addEventListener('click', () => dispatchEvent(new Event('reconnect')))
  let soon
  const lost = () => {
    text.textContent = 'Reconnecting…'
    retry.hidden = false
    soon ??= setTimeout(() => (bar.hidden = false), SHOW_MS)
  }
  const held = () => {
    clearTimeout(soon)
    soon = undefined
    bar.hidden = true
  }
  const refused = () => {
    text.textContent = 'You no longer have access to this page. Reload it to sign in.'
    retry.hidden = true
    bar.hidden = false
  }
  return { lost, held, refused }
}
