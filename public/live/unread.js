// New messages: a line above the first since the last visit, and a count of those that were not seen yet.
import { announcer } from './announcer.js'
import { $ } from './elements.js'
import { atEnd, firstShown, newestKnown, sequenceOf } from './rows.js'
import { rememberSeen } from './seen.js'

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
  const announce = announcer(newMessages)
  let newest = newestKnown(rows)
  let unseen = 0
  // Where one pane shows, the feed may lie behind another one: its end is not seen then.
  const seesEnd = () => atEnd(scroller) && !document.hidden && scroller.checkVisibility({ visibilityProperty: true })
  const show = () => {
    if (seesEnd()) {
      unseen = 0
      if (!$('gap')) rememberSeen(live.dataset.session, newest)
    }
    jump.hidden = atEnd(scroller)
    jump.lastElementChild.textContent = unseen === 0 ? 'Jump to latest' : newMessages(unseen)
    document.title = unseen === 0 ? pageTitle() : `(${unseen}) ${pageTitle()}`
    document.querySelector('#tabs [data-side=feed]').toggleAttribute('data-news', unseen > 0)
  }
  const count = (changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((row) => sequenceOf(row) > newest)
    newest = Math.max(newest, ...added.map(sequenceOf))
    const messages = added.filter((row) => row.classList.contains('row-message')).length
    if (messages > 0) {
      if (!seesEnd()) unseen += messages
      announce(messages)
      onMessages()
    }
    show()
  }
  new MutationObserver(count).observe(rows, { childList: true })
  live.addEventListener('htmx:after:swap', show)
  scroller.addEventListener('scroll', show, { passive: true })
  document.addEventListener('visibilitychange', show)
  for (const name of ['hashchange', 'resize']) addEventListener(name, show) // another pane shows, or both
  show()
}
