// What a session's tools say about it (specification 2, list_sessions). Once it used a web tool it stays `web_search`.
import type { Kind } from './event-types.ts'

export const MODES = ['web_search', 'mcp_internal', 'tool_calling', 'chat'] as const // the first that holds
export type Mode = (typeof MODES)[number]

const WEB = /^(?:web_?(?:search|fetch)|google_web_search|search_web|fetch_url|browser_.*|.*__(?:web_?search|web_?fetch|fetch))$/i
// This server's tools: under the name it is registered by (README), or under their own.
const REGISTERED = /(?:^|[_.-])parley(?:[_.-]|$)/i
export const OWN_TOOLS: ReadonlySet<string> = new Set([
  'create_session',
  'join_session',
  'leave_session',
  'list_participants',
  'get_session',
  'wait_for_messages',
  'wait_for_any',
  'peek',
  'catch_up',
  'post_message',
  'get_history',
  'read_session_doc',
  'update_session_doc',
  'append_to_session_doc',
  'update_session_metadata',
  'conclude_session',
  'ack_messages',
  'reopen_session',
  'transfer_convener',
  'search_sessions',
  'open',
  'list_sessions',
])

const COMMON = new Set(['open', 'peek']) // others call theirs so too: by themselves they say nothing

/** What a session is after this event, which was of that mode before it. */
export const modeAfter = (mode: Mode, kind: Kind, toolName: string | null): Mode => {
  const shown = kind === 'tool_call' ? modeOf(toolName ?? '') : 'chat'
  return MODES.indexOf(shown) < MODES.indexOf(mode) ? shown : mode
}

const modeOf = (toolName: string): Mode => {
  if (WEB.test(toolName)) return 'web_search'
  const own = OWN_TOOLS.has(toolName.toLowerCase()) && !COMMON.has(toolName.toLowerCase())
  return own || REGISTERED.test(toolName) ? 'mcp_internal' : 'tool_calling'
}
