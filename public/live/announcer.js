// Tells screen readers how much came, not each of it.
import { $ } from './elements.js'

const EVERY_MS = 2_000

/** `words`: what is said of so many. */
export const announcer = (words) => {
  let waiting = 0
  let timer
  const say = () => {
    $('news').textContent = words(waiting)
    waiting = 0
    timer = undefined
  }
  return (count) => {
    waiting += count
    timer ??= setTimeout(say, EVERY_MS)
  }
}
