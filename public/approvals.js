// The inbox, and the page of one proposal, while they are open: what is decided elsewhere changes in place, what comes goes to the end of its
// part, and keys lead from card to card. Nothing that is read or typed moves.
import { keepIn, leaveField } from './kept.js'
import { announcer } from './live/announcer.js'
import { $, isTyping } from './live/elements.js'
import { follow } from './live/follow.js'
import { loadText, place } from './live/load.js'
import { showKeys } from './shown-keys.js'

{
  const [RETRY_MS, AT_ONCE] = [10_000, 50]
  const inbox = $('inbox')
  const meeting = inbox?.dataset.meeting
  const announce = announcer((count) => `${count} more ${count === 1 ? 'waits' : 'wait'} for you`)
  const cards = () => [...document.querySelectorAll('main [data-card]')]
  const questions = () => document.querySelectorAll('[data-asked]').length
  const isOpen = (card) => card.dataset.card === 'open'

  // The cards that wait, from the stream's last message: their ids, each with its session and what the server calls it.
  let waiting
  let catchingUp = false
  let again
  const asked = new Set() // ids of the cards that were loaded since then

  const differing = () => {
    const { only } = inbox.dataset
    const stale = cards().filter((card) => isOpen(card) !== waiting.has(card.id) && card.dataset.busy === undefined)
    const missing = only ? [] : [...waiting].filter(([id, { session }]) => !$(id) && (!meeting || meeting === session))
    return [...stale.map(({ id }) => id), ...missing.map(([id]) => id)]
  }
  const nameOf = (id) => {
    const form = $(id)?.querySelector('[name=request_id]')
    if (form) return ['request', `${form.form.getAttribute('action').split('/')[2]}:${form.value}`]
    const { session, request } = waiting.get(id) ?? {}
    return request === undefined ? ['proposal', id.slice(1)] : ['request', `${session}:${request}`]
  }
  const catchUp = async () => {
    if (!waiting || document.hidden) return // a stream begins with what waits
    asked.clear() // what is loaded just now may be older
    if (catchingUp) return
    catchingUp = true
    clearTimeout(again)
    try {
      for (let ids = differing(); ids.length > 0; ids = differing().filter((id) => !asked.has(id))) await loadCards(ids.slice(0, AT_ONCE))
    } catch {
      again = setTimeout(catchUp, RETRY_MS) // the stream says nothing before something else changes
    }
    recount()
    catchingUp = false
  }
  const loadCards = async (ids) => {
    for (const id of ids) asked.add(id)
    const text = await loadText(`/approvals/cards?${new URLSearchParams(ids.map(nameOf))}`)
    placeCards(new DOMParser().parseFromString(text, 'text/html'))
  }

  /** Puts cards into the page, and keeps what is in view where it is. */
  const placeCards = (come) => {
    const seen = cards().find((card) => card.getBoundingClientRect().bottom > 0)
    const top = seen?.getBoundingClientRect().top
    for (const card of come.querySelectorAll('[data-card]')) {
      const mine = $(card.id)
      if (mine) replace(mine, card)
      else if (isOpen(card)) add(card)
    }
    if (seen?.isConnected) scrollBy({ top: seen.getBoundingClientRect().top - top, behavior: 'instant' })
  }
  const replace = (mine, card) => {
    // A card that waits still, beyond those that the stream names, stays with what is typed into it.
    if (mine.dataset.busy !== undefined || (isOpen(mine) && isOpen(card))) return
    const typed = [...mine.querySelectorAll('textarea, input:not([type=hidden])')].filter(
      ({ value, defaultValue }) => value !== defaultValue,
    )
    const focused = mine.contains(document.activeElement)
    const typing = focused && document.activeElement.matches('textarea, input, select')
    mine.replaceWith(card)
    const texts = typed.map(({ value }) => value)
    const kept = !isOpen(card) && typed.length > 0 ? keepIn(card, texts) : undefined
    htmx.process(card)
    if (typing) leaveField(card, kept)
    else if (focused) card.focus({ preventScroll: true })
  }
  const add = (card) => {
    const group = card.closest('section[data-session]')
    const last = $('groups').lastElementChild
    const goesOn = last?.dataset.session === group?.dataset.session
    const part = group && !goesOn ? group : card.closest('li') // a group comes with all its cards
    const list = !group ? $('requests') : goesOn ? last.querySelector('ul') : $('groups')
    list.append(part)
    htmx.process(part)
    announce(part.querySelectorAll('[data-card=open]').length)
  }

  // Of what can be approved together, only what waits still; fewer than three are approved one by one.
  const recount = () => {
    for (const form of document.querySelectorAll('[id^=together-] form')) {
      for (const field of form.querySelectorAll('[name=proposal]'))
        if ($(`p${field.value}`)?.dataset.card === 'done') field.closest('li').remove()
      const left = form.querySelectorAll('li').length
      form.closest('[id]').hidden = left < 3
      for (const count of form.closest('[id]').querySelectorAll('[data-count]')) count.textContent = left
    }
  }

  const onParts = async ({ data }) => {
    const before = questions()
    await place(data, inbox)
    if (questions() > before) announce(questions() - before)
  }
  const onWaiting = ({ data }) => {
    const { proposals, requests } = JSON.parse(data)
    waiting = new Map([
      ...proposals.map(([id, session]) => [`p${id}`, { session }]),
      ...requests.map(([anchor, session, request]) => [anchor, { session, request }]),
    ])
    void catchUp()
  }
  if (inbox) {
    document.addEventListener('htmx:finally:request', ({ target, detail: { ctx } }) => {
      // The words that came with a permission are sent, while its card stands until it is loaded again.
      if (ctx.response?.status < 400 && target.matches?.('[data-card=open] form')) target.reset()
      catchUp()
    })
    follow({
      addressAfter: () => `/approvals/live${meeting ? `?meeting=${meeting}` : ''}`, // it begins with all that the page needs
      events: { html: onParts, waiting: onWaiting },
      isOver: (status) => status === 401 || status === 403,
    })
  }

  const current = () => document.activeElement?.closest?.('[data-card]')
  const step = (by) => {
    const all = cards()
    const at = all.indexOf(current())
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]
    next?.focus({ preventScroll: true })
    next?.scrollIntoView({ block: 'nearest' })
  }
  // A button is pressed; a fold opens, with the focus in its first field.
  const act = (shortcut) => {
    const target = current()?.querySelector(`[data-shortcut=${shortcut}]`)
    if (!target || target.offsetWidth === 0) return
    target.click()
    target.closest('details')?.querySelector('textarea, input:not([type=hidden]), select')?.focus()
  }
  const close = () => {
    const card = current()
    const fold = card?.querySelector('details[open]')
    if (!fold) return
    fold.open = false // what was typed stays in its fields
    card.focus({ preventScroll: true })
  }
  const KEYS = { j: () => step(1), k: () => step(-1), a: () => act('a'), e: () => act('e'), x: () => act('x') }
  const HELP = {
    'j k': 'Next card, previous card',
    a: 'Approve, or allow once',
    e: 'Edit',
    x: 'Reject, or deny',
    Esc: 'Close a form; what was typed stays',
    i: 'What waits for you',
    '/': 'Search',
    '?': 'These keys',
  }
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return close()
    if (isTyping(event)) return
    if (event.key === '?') return showKeys(HELP)
    if (!Object.hasOwn(KEYS, event.key)) return
    event.preventDefault() // otherwise the letter would be typed into the field that gets the focus
    if (event.repeat && !'jk'.includes(event.key)) return // held down, it would decide the card that has the focus next as well
    KEYS[event.key]()
  })
}
