// The trace page while it is open: a link to a part of a page loads that part alone, and keys go from turn to turn.
import { $, isTyping } from './live/elements.js'
import { loadText } from './live/load.js'

{
  const pane = $('turn')
  const title = () =>
    [pane.querySelector('h2')?.textContent.replace(/ of .*/, ''), document.querySelector('h1').textContent, 'Parley'].join(' · ')
  const inList = (path) => document.querySelector(`#turns a[data-part=turn][href="${CSS.escape(path)}"]`)

  const load = async (href, part) => {
    const address = new URL(href, location.href)
    address.searchParams.set('part', part)
    const template = document.createElement('template')
    template.innerHTML = await loadText(address)
    return template.content
  }

  const here = () => location.pathname + location.search
  let shown = here()
  let newest
  const showTurn = async (href) => {
    const mine = (newest = Symbol(href))
    const content = await load(href, 'turn')
    if (mine !== newest) return false // another turn was chosen meanwhile
    pane.replaceChildren(content)
    document.title = title()
    return true
  }
  const mark = (path) => {
    for (const link of document.querySelectorAll('#turns [aria-current]')) link.removeAttribute('aria-current')
    const link = inList(path) ?? document.querySelector('#turns a[data-part=turn]')
    link?.setAttribute('aria-current', 'page')
    link?.scrollIntoView({ block: 'nearest' })
  }
  const toTurn = async (link) => {
    if (!inList(link.pathname)) return location.assign(link.href)
    const within = pane.contains(link)
    if (!(await showTurn(link.href))) return
    history.pushState(null, '', link.href)
    shown = here()
    mark(link.pathname)
    document.querySelector('details.peer').open = false
    if (within) pane.querySelector(`a[rel=${link.rel}]`)?.focus({ preventScroll: true })
    if (pane.getBoundingClientRect().top < 0 || within) pane.scrollIntoView({ block: 'nearest' })
  }
  const replace = async (link, part) => link.closest('[data-piece]').replaceWith(await load(link.href, part))

  const follow = (event) => {
    const link = event.target.closest?.('a[data-part]')
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    const { part } = link.dataset
    const done = part === 'turn' ? toTurn(link) : replace(link, part)
    done.catch(() => location.assign(link.href)) // the page itself shows what is wrong
  }

  // Unfolds the event that the address names.
  const unfold = () => {
    const target = /^#e\d+$/.test(location.hash) && $(location.hash.slice(1))
    if (!target) return
    for (let fold = target.querySelector('details') ?? target; fold; fold = fold.parentElement?.closest('details')) fold.open = true
    target.scrollIntoView({ block: 'start' })
  }

  const comeBack = async () => {
    if (shown === here()) return // only the hash changed
    shown = here()
    try {
      if (await showTurn(location.href)) mark(location.pathname)
      unfold()
    } catch {
      location.reload()
    }
  }

  const KEYS = { n: 'next', ']': 'next', p: 'prev', '[': 'prev' }
  const step = (event) => {
    if (!isTyping(event) && event.key in KEYS) pane.querySelector(`a[rel=${KEYS[event.key]}]`)?.click()
  }

  if (pane) {
    document.addEventListener('click', follow)
    addEventListener('keydown', step)
    addEventListener('hashchange', unfold)
    addEventListener('popstate', comeBack)
    unfold()
    document.querySelector('#turns [aria-current]')?.scrollIntoView({ block: 'center' })
  }
}
