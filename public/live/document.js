// The document: when the stream names a newer version, loads it, and flashes the blocks that are new.
import { $ } from './elements.js'

const RETRY_MS = 1_000
const BLOCKS = '#doc article > :not(ul, ol, table), #doc li, #doc tr'

export const followDocument = (live, path, load) => {
  let loading = false
  // Where the page shows something else in its place, there is no document to keep up to date.
  const behind = () => $('doc') && Number($('written').dataset.version) > Number($('doc').dataset.version)
  const update = async () => {
    if (loading || !behind()) return
    loading = true
    const before = new Set(blocks().map(({ textContent }) => textContent))
    await load(`${path}/document?version=${$('written').dataset.version}`).catch(() => {})
    for (const block of blocks()) block.classList.toggle('flash', !before.has(block.textContent))
    loading = false
    if (behind()) setTimeout(update, RETRY_MS)
  }
  live.addEventListener('htmx:sse:after:message', update)
}

const blocks = () => [...document.querySelectorAll(BLOCKS)]
