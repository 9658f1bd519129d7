// What is new: a line under which it begins, and how much of it has come that nobody has seen yet.
import { $ } from './elements.js'
import { atEnd, firstShown, lastShown, sequenceOf } from './rows.js'
import { rememberSeen } from './seen.js'

const TOLD_EVERY_MS = 2_000
const newMessages = (count) => `${count} new ${count === 1 ? 'message' : 'messages'}`
const pageTitle = () => `${document.querySelector('#session-head h1').textContent} · Parley`

export const markUnread = (rows, seen) => {
  if ($('unread') || seen === 0) return
  const first = [...rows.querySelectorAll('.row-message')].find((row) => sequenceOf(row) > seen)
  if (!first || seen < firstShown(rows)) return
  const mark = document.createElement('li')
  mark.id = 'unread'
  mark.className = 'unread'
  mark.textContent = 'New since your last visit'
  first.before(mark)
}

export const countUnread = ({ live, scroller, rows, onMessages }) => {
  const jump = $('jump')
  const tell = teller()
  let newest = lastShown(rows)
  let unseen = 0
  const show = () => {
    const end = atEnd(scroller)
    if (end && !document.hidden) {
      unseen = 0
      if (!$('gap')) rememberSeen(live.dataset.session, newest)
    }
    jump.hidden = end
    jump.lastElementChild.textContent = unseen === 0 ? 'Jump to latest' : newMessages(unseen)
    document.title = unseen === 0 ? pageTitle() : `(${unseen}) ${pageTitle()}`
  }
  const count = (changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((row) => sequenceOf(row) > newest)
    newest = Math.max(newest, ...added.map(sequenceOf))
    const messages = added.filter((row) => row.classList.contains('row-message')).length
    if (messages > 0) {
      if (!atEnd(scroller) || document.hidden) unseen += messages
      tell(messages)
      onMessages()
    }
    show()
  }
  new MutationObserver(count).observe(rows, { childList: true })
  live.addEventListener('htmx:sse:after:message', show)
  scroller.addEventListener('scroll', show, { passive: true })
  document.addEventListener('visibilitychange', show)
  show()
}

// For those who hear the page: how many came, and not each of them.
const teller = () => {
  let toTell = 0
  let telling
  const say = () => {
    $('news').textContent = newMessages(toTell)
    toTell = 0
    telling = undefined
  }
  return (count) => {
    toTell += count
    telling ??= setTimeout(say, TOLD_EVERY_MS)
  }
}
