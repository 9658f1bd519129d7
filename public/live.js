// The session page while it is open. htmx reads the stream and puts what comes where it belongs; this keeps the stream going,
// brings what is missing of the feed, and tells the reader what is new.
{
  const $ = (id) => document.getElementById(id)
  const start = (live) => {
    const [scroller, rows, older, jump, bar, news] = ['scroller', 'rows', 'older', 'jump', 'reconnecting', 'news'].map($)
    const path = `/sessions/${live.dataset.session}`
    const sequenceOf = (row) => Number(/^m(\d+)$/.exec(row?.id)?.[1] ?? 0)
    const edge = (from, step) => {
      let row = rows[from]
      while (row && !sequenceOf(row)) row = row[step]
      return sequenceOf(row)
    }
    const firstShown = () => edge('firstElementChild', 'nextElementSibling')
    const lastShown = () => edge('lastElementChild', 'previousElementSibling')

    // The stream. A first attempt that fails is not repeated by the extension, so all attempts are made here, and none there.
    const [SOON_MS, LATEST_MS, SILENT_MS, CLOSED_MS, SHOW_BAR_MS] = [500, 15_000, 40_000, 30_000, 400]
    let line
    let had = `${live.dataset.cursor}.${live.dataset.doc}`
    let failures = 0
    let next
    let silence
    let showBar

    const connect = () => {
      release()
      if (document.hidden) return
      line = document.createElement('div')
      line.setAttribute('hx-sse:connect', `${path}/live`)
      line.setAttribute('hx-headers', JSON.stringify({ 'Last-Event-ID': had }))
      line.setAttribute('hx-swap', 'none')
      line.setAttribute('hx-config', 'sse.reconnect:false sse.pauseOnBackground:false')
      live.append(line)
      htmx.process(line)
      heard()
    }
    const release = () => {
      clearTimeout(next)
      clearTimeout(silence)
      const left = line
      line = undefined
      if (!left) return
      left.removeAttribute('hx-sse:connect')
      htmx.process(left, true) // ends the request
      left.remove()
    }
    const lost = () => {
      release()
      bar.textContent = 'Reconnecting…'
      showBar ??= setTimeout(() => (bar.hidden = false), SHOW_BAR_MS)
      const delay = Math.min(SOON_MS * 2 ** failures++, LATEST_MS)
      next = setTimeout(connect, delay * (0.7 + Math.random() * 0.6))
    }
    const held = () => {
      failures = 0
      clearTimeout(showBar)
      showBar = undefined
      bar.hidden = true
    }
    const heard = () => {
      clearTimeout(silence)
      silence = setTimeout(lost, SILENT_MS) // the server says something every 15 s: a line without a word is dead
    }
    const closed = () => {
      held()
      release()
      next = setTimeout(connect, CLOSED_MS) // it may be reopened
    }
    const refused = () => {
      release()
      bar.textContent = 'This page is closed to you now. Reload it to sign in.'
      bar.hidden = false
    }
    const ofLine = (act) => (event) => event.target === line && act(event)
    live.addEventListener(
      'htmx:sse:after:connection',
      ofLine(() => (held(), heard())),
    )
    live.addEventListener(
      'htmx:sse:before:message',
      ofLine(({ detail }) => {
        if (detail.message.id) had = detail.message.id
        heard()
      }),
    )
    live.addEventListener(
      'htmx:sse:after:message',
      ofLine(() => matchDocument()),
    )
    live.addEventListener('closed', ofLine(closed))
    live.addEventListener('htmx:sse:close', ofLine(lost))
    live.addEventListener('htmx:error', ofLine(lost))
    live.addEventListener(
      'htmx:after:request',
      ofLine(({ detail: { ctx } }) => {
        const { status } = ctx.response
        ctx.swap = 'none'
        ctx.text = ''
        if (status === 204) closed()
        else if (status === 401 || status === 403 || status === 404) refused()
        else lost()
      }),
    )
    document.addEventListener('visibilitychange', () => (document.hidden ? release() : connect()))
    addEventListener('online', connect)

    // Pieces of the page, put where they say. Only what was answered well: an error must not land in the feed.
    const bring = async (address) => {
      const response = await fetch(address, { headers: { accept: 'text/html' } })
      if (!response.ok) throw new Error(`${address}: ${response.status}`)
      await htmx.swap({ text: await response.text(), sourceElement: live, swap: 'none' })
    }

    // The document: the stream says which version there is.
    let reading = false
    const behind = () => Number($('written').dataset.version) > Number($('doc').dataset.version)
    const matchDocument = async () => {
      if (reading || !behind()) return
      reading = true
      await bring(`${path}/document?version=${$('written').dataset.version}`).catch(() => {})
      reading = false
      if (behind()) setTimeout(matchDocument, 1_000)
    }

    // Older rows by themselves up to so many; what is beyond, and what is missing in between, when one scrolls to it.
    const most = Math.max(2_000, rows.childElementCount) // all of them were asked for
    let bringing = false
    const bringRows = async (query) => {
      if (bringing) return
      bringing = true
      await bring(`${path}/rows?${query}`).catch(() => {})
      bringing = false
      observe()
    }
    const bringOlder = () => older.dataset.before && bringRows(`before=${older.dataset.before}`)
    const sight = new IntersectionObserver(
      (seen) => {
        for (const { target, isIntersecting } of seen) {
          if (!isIntersecting) continue
          if (target === older) void bringOlder()
          else void bringRows(`after=${target.dataset.after}&until=${target.dataset.until}`)
        }
      },
      { root: scroller, rootMargin: '800px 0px' },
    )
    const observe = () => {
      sight.disconnect()
      sight.observe(older)
      if ($('gap')) sight.observe($('gap'))
    }
    const whenIdle = window.requestIdleCallback ?? ((act) => setTimeout(act, 200))
    const fill = () =>
      whenIdle(async () => {
        const before = older.dataset.before
        if (!before || document.hidden || rows.childElementCount >= most) return
        await bringOlder()
        if (older.dataset.before !== before) fill()
      })
    const forgetOldest = () => {
      const least = rows.childElementCount - most
      if (least < 100 || !atEnd() || $('gap')) return
      for (let i = 0; i < least; i++) rows.firstElementChild.remove()
      older.dataset.before = firstShown()
    }

    // What is new.
    const atEnd = () => scroller.scrollTop > -80 // counted from the end: app.css, feed-scroll
    const title = () => `${document.querySelector('#session-head h1').textContent} · Parley`
    const store = `parley:seen:${live.dataset.session}`
    const seenBefore = Number(readStore(store))
    let newest = lastShown()
    let unseen = 0
    const show = () => {
      const end = atEnd()
      if (end && !document.hidden) {
        unseen = 0
        if (!$('gap')) writeStore(store, newest)
      }
      jump.hidden = end
      jump.lastElementChild.textContent = unseen === 0 ? 'Jump to latest' : `${unseen} new ${unseen === 1 ? 'message' : 'messages'}`
      document.title = unseen === 0 ? title() : `(${unseen}) ${title()}`
    }
    const markUnread = () => {
      if ($('unread') || seenBefore === 0) return
      const first = [...rows.querySelectorAll('.row-message')].find((row) => sequenceOf(row) > seenBefore)
      if (!first || seenBefore < firstShown()) return
      const mark = document.createElement('li')
      mark.id = 'unread'
      mark.className = 'unread'
      mark.textContent = 'New since your last visit'
      first.before(mark)
    }
    let toTell = 0
    let telling
    const tell = (count) => {
      toTell += count
      telling ??= setTimeout(() => {
        news.textContent = `${toTell} new ${toTell === 1 ? 'message' : 'messages'}`
        toTell = 0
        telling = undefined
      }, 2_000)
    }
    new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((row) => sequenceOf(row) > newest)
      newest = Math.max(newest, ...added.map(sequenceOf))
      const messages = added.filter((row) => row.classList.contains('row-message')).length
      if (messages > 0) {
        if (!atEnd() || document.hidden) unseen += messages
        tell(messages)
        forgetOldest()
      }
      show()
    }).observe(rows, { childList: true })
    live.addEventListener('htmx:sse:after:message', show)
    scroller.addEventListener('scroll', show, { passive: true })
    document.addEventListener('visibilitychange', show)
    const toEnd = () => ($('gap') ? location.assign(path) : scroller.scrollTo({ top: 0 }))
    jump.addEventListener('click', toEnd)

    // A link to a row that is not here leads to the page that has it.
    const seek = () => {
      const sequence = Number(/^#m(\d+)$/.exec(location.hash)?.[1] ?? 0)
      const asked = Number(new URLSearchParams(location.search).get('around') ?? 0)
      if (sequence === 0 || $(`m${sequence}`) || sequence === asked || sequence > newest) return
      location.assign(`${path}?around=${sequence}#m${sequence}`)
    }
    addEventListener('hashchange', seek)

    // Keys, and the one button that copies: it goes to the row that is pointed at.
    const step = (by) => {
      const all = [...rows.querySelectorAll('.row')].filter((row) => row.checkVisibility?.() ?? true)
      const at = all.indexOf(document.activeElement?.closest?.('.row'))
      const row = all[Math.max(0, Math.min(all.length - 1, (at < 0 ? all.length - (by > 0 ? 1 : 0) : at) + by))]
      if (!row) return
      row.tabIndex = -1
      row.focus({ preventScroll: true })
      row.scrollIntoView({ block: 'nearest' })
    }
    const KEYS = { j: () => step(1), k: () => step(-1), g: toEnd }
    addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, textarea, select, dialog')) return
      KEYS[event.key]?.()
    })
    const copy = $('copy-message')
    const offerCopy = ({ target }) => {
      const row = target.closest?.('.row-message')
      if (!row || copy.parentElement === row || copy.matches('.copied')) return // the tick stays with what was copied
      copy.hidden = false
      row.append(copy)
    }
    if (navigator.clipboard) for (const name of ['mouseover', 'focusin']) rows.addEventListener(name, offerCopy)
    copy.addEventListener('click', () => {
      const detail = copy.closest('.row').querySelector('.prose').innerText
      copy.dispatchEvent(new CustomEvent('copytext', { bubbles: true, detail })) // parley.js copies
    })

    // Concluded while somebody writes: the text stays in the form (components/composer.tsx), and goes nowhere. Before htmx hears of it.
    const hold = (event) => {
      if (event.target.id !== 'composer' || $('session-head').dataset.concluded === undefined) return
      event.preventDefault()
      event.stopPropagation()
    }
    document.addEventListener('submit', hold, { capture: true })

    seek()
    const sought = $(`m${scroller.dataset.sought}`)
    if (sought) {
      sought.scrollIntoView({ block: 'center' })
      if (!location.hash) sought.classList.add('sought')
    }
    markUnread()
    show()
    connect()
    observe()
    if (!$('gap')) fill()
  }

  // Storage may be closed to us: then nothing is remembered.
  const readStore = (key) => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }
  const writeStore = (key, value) => {
    try {
      localStorage.setItem(key, value)
    } catch {}
  }

  const live = $('live')
  if (live) setTimeout(() => start(live)) // after htmx, which begins in a task of its own
}
