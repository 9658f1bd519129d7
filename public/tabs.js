// The tabs of a session, which are links: marks the current one for screen readers, and keeps the document's version up to date.
const [feed, doc] = document.querySelectorAll('#tabs a')
if (doc && document.getElementById('document')) {
  const pane = document.getElementById('document')
  const mark = () => {
    const named = document.getElementById(nameIn(location.hash))
    if (!doc.isConnected) return // other tabs are in place (sides.js)
    const gone = !named && location.hash.startsWith('#doc-')
    if (gone && doc.offsetWidth > 0) return location.replace('#document') // a heading that is not in the document, or no longer
    const reading = pane.contains(named)
    feed.ariaCurrent = reading ? null : 'true'
    doc.ariaCurrent = reading ? 'true' : null
    if (reading) doc.removeAttribute('data-news')
  }
  addEventListener('hashchange', mark)
  mark()
  const written = () => {
    const version = `v${document.getElementById('written').dataset.version}`
    if (doc.querySelector('span').textContent !== version) doc.dataset.news = ''
    doc.querySelector('span').textContent = version
    mark()
  }
  new MutationObserver(written).observe(pane, { subtree: true, attributeFilter: ['data-version'] })
}

// Instead of :target, which does not match yet while the page loads.
function nameIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ''
  }
}
