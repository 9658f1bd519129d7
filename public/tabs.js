// The tabs of a session, which work by themselves: for those who hear the page, which one is chosen; and the newest version.
const [feed, doc] = document.querySelectorAll('#tabs a')
if (doc) {
  const pane = document.getElementById('document')
  const mark = () => {
    const reading = pane.contains(document.getElementById(location.hash.slice(1)))
    feed.ariaCurrent = reading ? null : 'true'
    doc.ariaCurrent = reading ? 'true' : null
  }
  addEventListener('hashchange', mark)
  mark()
  const written = () => (doc.lastElementChild.textContent = `v${document.getElementById('written').dataset.version}`)
  new MutationObserver(written).observe(pane, { subtree: true, attributeFilter: ['data-version'] })
}
