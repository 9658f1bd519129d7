// The counts at the links to board and records. And sides.js, which puts those parts beside the feed: loaded once somebody points at such a
// link, or follows it, with the styles of what it brings.
import { $ } from './elements.js'

export const offerSides = (path) => {
  const mark = $('side-mark')
  const count = () => {
    for (const place of document.querySelectorAll('[data-count]')) place.textContent = mark.dataset[`${place.dataset.count}Count`]
  }
  new MutationObserver(count).observe(mark, { attributes: true })
  if ($('panel')) return // sides.js is there
  let loading
  const load = () =>
    (loading ??= new Promise((done) => {
      const [sheet, code] = [document.createElement('link'), document.createElement('script')]
      Object.assign(sheet, { rel: 'stylesheet', href: '/public/board.css' })
      Object.assign(code, { src: '/public/sides.js', onload: done, onerror: done })
      document.head.append(sheet, code)
    }))
  const offer = async (event) => {
    const link = event.target.closest?.(`a[data-side],a[href^="${path}/board"],a[href^="${path}/records"]`)
    if (!link || innerWidth < 1024) return
    const first = event.type === 'click' && !loading && !(event.metaKey || event.ctrlKey || event.shiftKey)
    if (first) event.preventDefault()
    await load()
    if (first) link.click()
  }
  for (const type of ['pointerover', 'click']) document.addEventListener(type, offer)
}
