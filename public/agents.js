// A session with an agent while its page is open. What a task did is loaded when its line is unfolded, and again while it runs and stays
// unfolded; what can be chosen for a prompt, once, likewise; the tree of sessions when it has changed.
import { $ } from './live/elements.js'
import { loadInto } from './live/load.js'

{
  const EVERY_MS = 2_000
  const load = async (fold) => {
    await loadInto(fold.dataset.trace, fold)
    if ('once' in fold.dataset) delete fold.dataset.trace // what is typed in it stays
  }
  const again = (fold) => {
    const running = fold.querySelector('[data-running]') !== null
    if (running || fold.dataset.ran) load(fold).catch(() => {}) // the next time comes soon
    if (running) fold.dataset.ran = 'yes'
    else delete fold.dataset.ran
  }
  const unfolded = ({ target }) => target.matches?.('details[data-trace]') && target.open && load(target).catch(() => {})
  document.addEventListener('toggle', unfolded, { capture: true }) // the event does not bubble
  setInterval(() => {
    if (!document.hidden) document.querySelectorAll('details[data-trace][open]').forEach(again)
  }, EVERY_MS)
  const mark = $('family-mark')
  const changed = () => loadInto(`/sessions/${$('live').dataset.session}/family`, mark).catch(() => {}) // the next change brings it
  if (mark) new MutationObserver(changed).observe(mark, { attributeFilter: ['data-mark'] })
}
