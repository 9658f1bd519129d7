// What a task did: loaded when its line is unfolded, and again while it runs and stays unfolded.
{
  const EVERY_MS = 2_000
  const load = async (fold) => {
    const response = await fetch(fold.dataset.trace, { headers: { accept: 'text/html' } })
    if (response.ok) await htmx.swap({ text: await response.text(), sourceElement: fold, swap: 'none' })
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
}
