// The bar that says when the page is not kept up to date.
import { $ } from './elements.js'

const SHOW_MS = 400

export const barOf = () => {
  const bar = $('reconnecting')
  let soon
  const lost = () => {
    bar.textContent = 'Reconnecting…'
    soon ??= setTimeout(() => (bar.hidden = false), SHOW_MS)
  }
  const held = () => {
    clearTimeout(soon)
    soon = undefined
    bar.hidden = true
  }
  const refused = () => {
    bar.textContent = 'You no longer have access to this page. Reload it to sign in.'
    bar.hidden = false
  }
  return { lost, held, refused }
}
