// The document: the stream says which version there is, and this brings it, and shows what is new in it.
import { $ } from './elements.js'

const AGAIN_MS = 1_000
const BLOCKS = '#doc article > :not(ul, ol, table), #doc li, #doc tr'

export const followDocument = (live, path, bring) => {
  let reading = false
  const behind = () => Number($('written').dataset.version) > Number($('doc').dataset.version)
  const match = async () => {
    if (reading || !behind()) return
    reading = true
    const before = new Set(blocks().map(({ textContent }) => textContent))
    await bring(`${path}/document?version=${$('written').dataset.version}`).catch(() => {})
    for (const block of blocks()) block.classList.toggle('flash', !before.has(block.textContent))
    reading = false
    if (behind()) setTimeout(match, AGAIN_MS)
  }
  live.addEventListener('htmx:sse:after:message', match)
}

const blocks = () => [...document.querySelectorAll(BLOCKS)]
