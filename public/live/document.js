// The document: when the stream names a newer version, loads it, and flashes the blocks that are new.
import { $ } from './elements.js'

const RETRY_MS = 1_000
const BLOCKS = '#doc article > :not(ul, ol, table), #doc li, #doc tr'

export const followDocument = (live, path, load) => {
  let loading = false
  let shown = Number(live.dataset.doc)
  // A page that began with something else in its place has no document, but a conclusion: of that the head names the version.
  const newest = () => Number(($('written') ?? $('session-head')).dataset.version)
  const update = async () => {
    const version = newest()
    if (loading || !(version > shown)) return
    loading = true
    const before = new Set(blocks().map(({ textContent }) => textContent))
    const loaded = await load(`${path}/document?version=${version}`).then(
      () => true,
      () => false,
    )
    if (loaded) shown = version
    for (const block of blocks()) block.classList.toggle('flash', !before.has(block.textContent))
    loading = false
    if (newest() > shown) setTimeout(update, RETRY_MS)
  }
  live.addEventListener('htmx:after:swap', update)
}

const blocks = () => [...document.querySelectorAll(BLOCKS)]
