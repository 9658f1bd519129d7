// The kind of a session, by the tools that its agents called. A session that once used a web tool stays `web_search`.
import type { EventType } from './events/event-types.ts'

export const SESSION_KINDS = ['web_search', 'mcp_internal', 'tool_calling', 'chat'] as const // the first that holds
export type SessionKind = (typeof SESSION_KINDS)[number]

const WEB = /^(?:web_?(?:search|fetch)|google_web_search|search_web|fetch_url|browser_.*|.*__(?:web_?search|web_?fetch|fetch))$/i
const REGISTERED = /(?:^|[_.-])parley(?:[_.-]|$)/i // a tool of this server, under the name that the README registers it by
const COMMON = new Set(['open', 'peek']) // other servers have tools of these names: without a prefix they prove nothing

/** The kind of a session after an event, by its kind before it. `ownTools`: the names of this server's tools, in lower case. */
export const sessionKindAfter = (
  kind: SessionKind,
  type: EventType,
  toolName: string | null,
  ownTools: ReadonlySet<string>,
): SessionKind => {
  const shown = type === 'tool_call' ? kindOfTool(toolName ?? '', ownTools) : 'chat'
  return SESSION_KINDS.indexOf(shown) < SESSION_KINDS.indexOf(kind) ? shown : kind
}

const kindOfTool = (toolName: string, ownTools: ReadonlySet<string>): SessionKind => {
  if (WEB.test(toolName)) return 'web_search'
  const name = toolName.toLowerCase()
  const own = ownTools.has(name) && !COMMON.has(name)
  return own || REGISTERED.test(toolName) ? 'mcp_internal' : 'tool_calling'
}
