// Loads older rows while the page is idle, up to a limit; beyond it, and in gaps, rows are loaded when one scrolls to them.
import { $ } from './elements.js'
import { isRefused } from './load.js'
import { atEnd, firstShown, sequenceOf } from './rows.js'

const MOST_ROWS = 2_000
const REMOVED_AT_ONCE = 100
const RETRY_MS = 5_000
const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 200))

/** Loads rows as they are needed; returns a function that removes the oldest rows beyond the limit. */
export const keepRows = ({ path, scroller, rows, load }) => {
  const older = $('older')
  const most = Math.max(MOST_ROWS, rows.childElementCount) // more only if the page was opened with all of them
  const isFull = () => rows.childElementCount >= most
  let loading = false
  const goOn = () => {
    loading = false
    if (isFull()) observeScrolling()
    else observe()
  }
  // A failed load is retried after a pause: an observer that begins anew reports at once. A refused one is retried with the page's next
  // connection: until then the bar says so (live/follow.js).
  const retry = ({ cause }) => (isRefused(cause) ? addEventListener('connected', goOn, { once: true }) : setTimeout(goOn, RETRY_MS))
  const loadRows = (query) => {
    if (loading) return
    loading = true
    return load(`${path}/rows?${query}`).then(goOn, retry)
  }
  const loadOlder = () => older.dataset.before && loadRows(`before=${older.dataset.before}`)
  const loadGap = ({ dataset: { after, until } }) => loadRows(`after=${after}&until=${until}`)
  const onSight = (changes) => {
    for (const { target, isIntersecting } of changes) {
      if (!isIntersecting) continue
      if (isFull() && atEnd(scroller)) observeScrolling()
      else void (target === older ? loadOlder() : loadGap(target))
    }
  }
  const sight = new IntersectionObserver(onSight, { root: scroller, rootMargin: '800px 0px' })
  const observe = () => {
    sight.disconnect()
    sight.observe(older)
    if ($('gap')) sight.observe($('gap'))
  }
  // A filter may leave so little of the feed that the marks stay in sight whatever is loaded: beyond the limit each load takes a scroll.
  const observeScrolling = () => scroller.addEventListener('scroll', observe, { once: true })
  const fill = () =>
    whenIdle(async () => {
      const { before } = older.dataset
      if (!before || document.hidden || isFull() || $('gap')) return
      await loadOlder()
      if (older.dataset.before !== before) fill()
    })
  const removeOldest = () => {
    const least = rows.childElementCount - most
    if (loading || least < REMOVED_AT_ONCE || !atEnd(scroller) || $('gap')) return
    for (let i = 0, sequence; i < least || !sequence; i++) {
      sequence = sequenceOf(rows.firstElementChild) // rows of edits go with the event that they stand before
      rows.firstElementChild.remove()
    }
    older.dataset.before = firstShown(rows)
  }
  observe()
  fill()
  document.addEventListener('visibilitychange', fill) // a hidden page has not begun, or has stopped
  return removeOldest
}
