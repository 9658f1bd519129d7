// The document: the stream says which version there is, and this brings it.
import { $ } from './elements.js'

const AGAIN_MS = 1_000

export const followDocument = (live, path, bring) => {
  let reading = false
  const behind = () => Number($('written').dataset.version) > Number($('doc').dataset.version)
  const match = async () => {
    if (reading || !behind()) return
    reading = true
    await bring(`${path}/document?version=${$('written').dataset.version}`).catch(() => {})
    reading = false
    if (behind()) setTimeout(match, AGAIN_MS)
  }
  live.addEventListener('htmx:sse:after:message', match)
}
