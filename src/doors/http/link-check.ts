// Does the link that agents are given lead to a Parley? Sends it one MCP initialize, as an agent would.
import { whyUnreachable } from '../../core/unreachable.ts'

const WITHIN_S = 3
const ANSWER_LIMIT = 64 * 1024

export interface LinkCheck {
  ok: boolean
  text: string
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'parley-check', version: '1' } },
})

/** Calls the link from this server. The result says only whether a Parley answers, nothing else of the response. Sends no credential and
 *  follows no redirect. */
export const reach = async (url: string): Promise<LinkCheck> => {
  const began = performance.now()
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(WITHIN_S * 1_000),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: INITIALIZE,
    })
    const text = await beginningOf(response)
    return verdictOn(response, text, Math.round(performance.now() - began))
  } catch (error) {
    return { ok: false, text: `Not reachable from this server: ${whyUnreachable(error, WITHIN_S)}.` }
  }
}

const verdictOn = ({ status, headers }: Response, text: string, ms: number): LinkCheck => {
  if (status === 200 && /"serverInfo":\s*\{[^{}]*"name":\s*"parley"/.test(text))
    return { ok: true, text: `Reachable: Parley answered in ${ms} ms.` }
  if (status === 401 && headers.get('www-authenticate')?.startsWith('Bearer'))
    return { ok: true, text: `Reachable: it answered in ${ms} ms and asks for its access token, as it should.` }
  if (status === 200) return { ok: false, text: 'Something answers there, but it is not Parley.' }
  if (status >= 300 && status < 400)
    return { ok: false, text: `It answers with a redirect (${status}), which agents do not follow. Use the URL it leads to.` }
  if (status === 403)
    return { ok: false, text: 'It answers with 403. If it is this server under another name, add that name to ALLOWED_HOSTS.' }
  return { ok: false, text: `It answers with ${status}. Does the link end in /mcp, and does the proxy pass it on?` }
}

const beginningOf = async (response: Response): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > ANSWER_LIMIT) break
  }
  return text
}
