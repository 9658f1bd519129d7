// Claude Code's stream as the transcript that it writes of the same work. Both have the same messages under the same ids; the stream spells
// their fields otherwise, and leaves out which of them are summaries.
import { claudeCode } from '../../../transcripts/claude-code.ts'
import { isObject, shortId, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { newMemory } from '../../../transcripts/memory.ts'
import { runtime, type TraceEvent } from '../../../transcripts/trace-event.ts'

/** The events of one record of the stream. `message`: the transcript's id of the message, where a fork may begin. */
export interface Read {
  key: string
  events: TraceEvent[]
  message: string | undefined
}

// The stream alone has these: the protocol's own, and pieces of messages that follow as a whole.
const PROTOCOL = /^(?:control_|result$|stream_event$|keep_alive$)/
const SAID = new Set(['user', 'assistant', 'system'])
const NOTICES = new Set('rate_limit_event tool_progress tool_use_summary auth_status prompt_suggestion conversation_reset'.split(' '))

/** Reads a stream from its beginning. */
export const newClaudeReader = () => {
  const memory = newMemory()
  let count = 0
  let compacted = false // the summary follows
  return (record: Json): Read => {
    const type = wordOf(record.type)
    const key = shortId(textOr(record.uuid) ?? `#${++count}`)
    // A subagent's messages are in a transcript of its own; what it was asked and what came of it is in this one.
    if (PROTOCOL.test(type) || textOr(record.parent_tool_use_id)) return { key, events: [], message: undefined }
    const events = NOTICES.has(type) ? [runtime(type, withoutIds(record))] : read(asWritten(record, compacted))
    compacted = record.subtype === 'compact_boundary' || (compacted && type !== 'user')
    return { key, events, message: SAID.has(type) && type !== 'system' ? textOr(record.uuid) : undefined }
  }

  function read(record: Json): TraceEvent[] {
    try {
      return claudeCode.read(record, memory)
    } catch {
      return [{ type: 'unknown', author: 'agent', content: { record } }]
    }
  }
}

const withoutIds = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !['type', 'uuid', 'session_id'].includes(name)))

const asWritten = (record: Json, compacted: boolean): Json => {
  const { session_id, tool_use_result, compact_metadata, isSynthetic, ...rest } = record
  if (record.subtype === 'init') return { type: 'system', subtype: 'init', ...pick(record, ABOUT) }
  return {
    ...rest,
    sessionId: session_id,
    isSidechain: false,
    ...(tool_use_result !== undefined && { toolUseResult: tool_use_result }),
    ...(isApiError(record) && { isApiErrorMessage: true }),
    ...(record.subtype === 'compact_boundary' && {
      content: 'Conversation compacted',
      level: 'info',
      compactMetadata: camel(compact_metadata),
    }),
    ...(isSynthetic === true && (compacted ? { isCompactSummary: true } : { isMeta: true })),
  }
}

// What a reader wants to know of how it was started; the rest are lists of commands and paths.
const ABOUT = ['model', 'permissionMode', 'claude_code_version', 'apiKeySource', 'mcp_servers', 'tools']
const pick = (record: Json, names: string[]) =>
  Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]))

// Claude Code's own text in place of the model's: 2.1.197 marks it by `error` alone.
const isApiError = ({ is_api_error_message, error, message }: Json) =>
  is_api_error_message === true || (textOr(error) !== undefined && isObject(message) && message.model === '<synthetic>')

const camel = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(camel)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()), camel(inner)]),
  )
}
