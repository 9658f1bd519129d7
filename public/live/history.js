// Older rows come by themselves up to a limit; what is beyond it, or missing in between, when one scrolls to it.
import { $ } from './elements.js'
import { atEnd, firstShown, sequenceOf } from './rows.js'

const KEPT = 2_000
const FORGOTTEN_AT_ONCE = 100
const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 200))

/** Brings what is missing; gives what forgets the oldest rows. */
export const keepRows = ({ path, scroller, rows, bring }) => {
  const older = $('older')
  const most = Math.max(KEPT, rows.childElementCount) // all of them were asked for
  let bringing = false
  const bringRows = async (query) => {
    if (bringing) return
    bringing = true
    await bring(`${path}/rows?${query}`).catch(() => {})
    bringing = false
    observe()
  }
  const bringOlder = () => older.dataset.before && bringRows(`before=${older.dataset.before}`)
  const bringGap = ({ dataset: { after, until } }) => bringRows(`after=${after}&until=${until}`)
  const seen = (changes) => {
    for (const { target, isIntersecting } of changes) if (isIntersecting) void (target === older ? bringOlder() : bringGap(target))
  }
  const sight = new IntersectionObserver(seen, { root: scroller, rootMargin: '800px 0px' })
  const observe = () => {
    sight.disconnect()
    sight.observe(older)
    if ($('gap')) sight.observe($('gap'))
  }
  const fill = () =>
    whenIdle(async () => {
      const { before } = older.dataset
      if (!before || document.hidden || rows.childElementCount >= most) return
      await bringOlder()
      if (older.dataset.before !== before) fill()
    })
  const forgetOldest = () => {
    const least = rows.childElementCount - most
    if (least < FORGOTTEN_AT_ONCE || !atEnd(scroller) || $('gap')) return
    for (let i = 0, sequence; i < least || !sequence; i++) {
      sequence = sequenceOf(rows.firstElementChild) // what was written before an event goes with it
      rows.firstElementChild.remove()
    }
    older.dataset.before = firstShown(rows)
  }
  observe()
  if (!$('gap')) fill()
  return forgetOldest
}
