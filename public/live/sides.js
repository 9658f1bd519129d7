// What stands beside the feed: the document, the board or the records. Where there is room for both, a link to one of them puts it in place,
// so that the feed stays where it is, with what is being typed; the address says which it is. What is in place is kept up to date.
import { $ } from './elements.js'

const WIDE = matchMedia('(width >= 64rem)')
const TIMES_EVERY_MS = 60_000 // what stands there says for how long something has been so

export const followSides = ({ path, load }) => {
  const pages = { document: path, board: `${path}/board`, records: `${path}/records` }
  const nameOf = (pathname) => Object.keys(pages).find((name) => pages[name] === pathname)
  const shown = () => $('panel')?.dataset.panel ?? 'document'
  const tabs = $('tabs')
  let loading = false

  const fetched = (search, mark) => {
    const query = new URLSearchParams(search)
    query.set('part', 'panel')
    if (mark) query.set('mark', mark)
    return `${pages[shown()]}?${query}`
  }
  // The panel that is in place, as it is now. While one is on its way another may come due.
  const refresh = async (mark) => {
    if (loading || shown() === 'document') return
    loading = true
    await load(fetched(location.search, mark)).catch(() => {}) // the next change, or minute, brings it
    loading = false
  }

  /** Puts another part into place; false where its page must be opened. */
  const put = async (name, search = '') => {
    if (name === 'document') {
      if (!$('document')) return false
      $('panel')?.remove()
      $('document').hidden = false
      $('tabs').replaceWith(tabs)
      return true
    }
    const empty = document.createElement('section')
    empty.id = 'panel'
    empty.dataset.panel = name
    const before = $('panel')
    if (before) before.replaceWith(empty)
    else $('side').append(empty)
    if ($('tabs') === tabs) tabs.replaceWith(tabs.cloneNode(true))
    const done = await load(fetched(search)).then(
      () => true,
      () => false,
    )
    if (done && $('document')) $('document').hidden = true
    return done
  }

  const go = async (link, name) => {
    const { pathname, search, hash } = link
    if (!(await put(name, search))) return location.assign(link.href)
    history.pushState(null, '', pathname + search)
    if (hash) location.hash = hash // scrolls there, and marks it
    else document.querySelector('#panel [role=region], #document [role=region]').scrollTo(0, 0)
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]')
    if (!link || !WIDE.matches || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return
    const name = link.origin === location.origin && nameOf(link.pathname)
    const isThere = link.pathname === location.pathname && link.search === location.search && link.hash !== ''
    if (!name || isThere || link.target || link.download || (name === 'document' && !link.dataset.side)) return
    event.preventDefault()
    void go(link, name)
  })
  addEventListener('popstate', async () => {
    const name = nameOf(location.pathname)
    if (name && name !== shown() && !(await put(name, location.search))) location.reload()
  })

  const mark = $('side-mark')
  const follow = () => {
    const { board, records, boardCount, recordsCount } = $('side-mark').dataset
    for (const [name, count] of Object.entries({ board: boardCount, records: recordsCount }))
      for (const place of document.querySelectorAll(`[data-count=${name}]`)) place.textContent = count
    const now = { board, records }[shown()]
    if (now && now !== $('panel').dataset.mark) void refresh(now).then(() => now !== $('side-mark').dataset[shown()] && follow())
  }
  new MutationObserver(follow).observe(mark, { attributes: true })
  setInterval(() => document.hidden || refresh(), TIMES_EVERY_MS)
}
