// What stands beside the feed: the document, the board or the records. Where there is room for both, a link to one of them puts it in place,
// so that the feed stays where it is, with what is being typed; the address says which it is. What is in place is kept up to date. A page
// that begins with the document loads this once somebody points at such a link (live/aside.js).
import { mayLeaveFor } from './leave.js'
import { $ } from './live/elements.js'
import { loadText, place } from './live/load.js'

{
  const WIDE = matchMedia('(width >= 64rem)')
  const TIMES_EVERY_MS = 60_000 // what stands there says for how long something has been so
  const path = `/sessions/${$('live').dataset.session}`
  const pages = { document: path, board: `${path}/board`, records: `${path}/records` }
  const nameOf = (pathname) => Object.keys(pages).find((name) => pages[name] === pathname)
  const shown = () => $('panel')?.dataset.panel ?? 'document'
  const tabs = $('tabs')
  let loading = false
  let chosen // changes with each choice, so that an answer to an earlier one is dropped
  let filter = location.search // of the board or the records in place

  /** Puts the panel in place as it is now, unless another is chosen meanwhile. */
  const load = async (search, mark) => {
    const mine = chosen
    const query = new URLSearchParams(search)
    query.set('part', 'panel')
    if (mark) query.set('mark', mark)
    const text = await loadText(`${pages[shown()]}?${query}`)
    if (mine === chosen) await place(text, $('live'))
  }
  // While one is on its way another may come due.
  const refresh = async (mark) => {
    if (loading || shown() === 'document') return
    loading = true
    await load(location.search, mark).catch(() => {}) // the next change, or minute, brings it
    loading = false
  }

  /** Puts another part into place. Resolves to false where its page must be opened, and to undefined where another was chosen meanwhile. */
  const put = async (name, search = '') => {
    const mine = (chosen = Symbol(name))
    if (name === 'document') {
      if (!$('document')) return false
      $('panel')?.remove()
      $('document').hidden = false
      $('tabs').replaceWith(tabs)
      return true
    }
    filter = search
    const empty = document.createElement('section')
    empty.id = 'panel'
    empty.dataset.panel = name
    if ($('panel')) $('panel').replaceWith(empty)
    else $('side').append(empty)
    if ($('tabs') === tabs) tabs.replaceWith(tabs.cloneNode(true))
    const done = await load(search).then(
      () => true,
      () => false,
    )
    if (mine !== chosen) return undefined
    if (done && $('document')) $('document').hidden = true
    return done
  }

  // A followed link within the part that was replaced is gone or hidden now: the focus goes to the visible link of the same name.
  const keepFocus = (name) => {
    const { activeElement: at } = document
    const isSeen = (link) => link.checkVisibility()
    if (at === document.body || !isSeen(at)) [...document.querySelectorAll(`[data-side=${name}]`)].find(isSeen)?.focus()
  }

  const go = async ({ pathname, search, hash, href }, name) => {
    if (name === 'document' && !$('document') && !mayLeaveFor('The document is')) return
    const done = await put(name, search)
    if (done === undefined) return
    if (!done) return location.assign(href)
    history.pushState(null, '', pathname + search)
    keepFocus(name)
    if (hash) location.hash = hash // scrolls there, and marks it
    else document.querySelector('#panel [role=region]')?.scrollTo(0, 0)
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]')
    if (!link || !WIDE.matches || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return
    const name = link.origin === location.origin && nameOf(link.pathname)
    const isThere = link.pathname === location.pathname && link.search === location.search && link.hash !== ''
    const answers = new URLSearchParams(link.search).has('answer') // the composer of another page
    if (!name || isThere || answers || link.target || link.download || (name === 'document' && !link.dataset.side)) return
    event.preventDefault()
    void go(link, name)
  })
  addEventListener('popstate', async () => {
    const name = nameOf(location.pathname)
    const isShown = name === shown() && (name === 'document' || location.search === filter)
    if (name && !isShown && (await put(name, location.search)) === false) location.reload()
  })

  // Where there is room for one pane, what a link names in the feed is seen on the session's own page.
  addEventListener('hashchange', () => {
    if (!WIDE.matches && $('panel') && $('feed').contains($(location.hash.slice(1)))) location.replace(path + location.hash)
  })

  const mark = $('side-mark')
  const follow = () => {
    const now = mark.dataset[shown()]
    if (now && now !== $('panel').dataset.mark) void refresh(now).then(() => now !== mark.dataset[shown()] && follow())
  }
  new MutationObserver(follow).observe(mark, { attributes: true })
  setInterval(() => document.hidden || refresh(), TIMES_EVERY_MS)
}
