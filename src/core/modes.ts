// What a session's tools say of it (specification 2, list_sessions). Once it used a web tool it stays `web_search`.
import type { Kind } from './kinds.ts'

export const MODES = ['web_search', 'mcp_internal', 'tool_calling', 'chat'] as const // the first that holds
export type Mode = (typeof MODES)[number]

const WEB = /^(?:web_?(?:search|fetch)|google_web_search|search_web|fetch_url|browser_.*|.*__(?:web_?search|web_?fetch|fetch))$/i
// This server's tools, under the name it is registered by (README) or under their own.
const OURS = /(?:^|[_.-])parley(?:[_.-]|$)|^(?:create|join|leave|search|list)_sessions?$|^(?:wait_for|post)_messages?$|_session_doc$/i

export const modeAfter = (mode: Mode, kind: Kind, toolName: string | null): Mode => {
  const shown = kind === 'tool_call' ? modeOf(toolName ?? '') : 'chat'
  return MODES.indexOf(shown) < MODES.indexOf(mode) ? shown : mode
}

const modeOf = (toolName: string): Mode => (WEB.test(toolName) ? 'web_search' : OURS.test(toolName) ? 'mcp_internal' : 'tool_calling')
