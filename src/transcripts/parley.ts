// Parley's own export, /sessions/:id/feed.jsonl: an event a line, as the API shows it.
import { AUTHORS, LOG_TYPES, type Author } from '../core/events/event-types.ts'
import { isUuid } from '../core/ids.ts'
import type { Format } from './format.ts'
import { isObject, listOr, objectOr, textOr, wordOf, type Json } from './json.ts'
import { TITLE, suggestTitle, type Memory } from './memory.ts'
import { unknown, type TraceEvent } from './trace-event.ts'
import { asText } from '../core/text/as-text.ts'

export const parley: Format = {
  source: 'parley',
  ownIds: true,
  agent: 'Parley',
  claims: (record) => isEvent(record),
  identity: ({ records }) => textOr(records.find(isEvent)?.id),
  read: (record, memory) => (isObject(record) && isEvent(record) ? [ofEvent(record, memory)] : [unknown(record)]),
}

// Its text is one, whatever stands there.
const withText = ({ text, ...rest }: Json): Json => ({ ...(text !== undefined && { text: asText(text) }), ...rest })

const TYPES = new Set<unknown>(LOG_TYPES)
const KNOWN_AUTHORS = new Set<unknown>(AUTHORS)

const isEvent = ({ id, sequence, type, at }: Json) =>
  typeof id === 'string' && isUuid(id) && typeof sequence === 'number' && TYPES.has(type) && typeof at === 'string'

const ofEvent = (event: Json, memory: Memory): TraceEvent => {
  const {
    id,
    sequence: _,
    type,
    at,
    author,
    team,
    posted_by_team_id,
    content,
    reply_to,
    to,
    to_people,
    expects_reply,
    task_id: __,
    tool_name,
    model,
    ...fields
  } = event
  const people = to_people === undefined ? undefined : listOr(to_people).map(wordOf)
  const common = { key: `/${String(id)}`, type: type as TraceEvent['type'], at }
  if (type === 'system') {
    const { changes } = objectOr(fields)
    suggestTitle(memory, objectOr(objectOr(changes).title).to, TITLE.person)
    const own = { ...(team !== undefined && { team }), ...fields, ...(to !== undefined && { to }) }
    return {
      ...common,
      author: 'system',
      content: own,
      to: to === undefined ? undefined : listOr(to).map(wordOf).filter(isUuid),
      ends: fields.event === 'session_concluded' ? 'before' : undefined,
    }
  }
  if (type === 'chat' || type === 'user_input') suggestTitle(memory, objectOr(content).text, TITLE.prompt)
  return {
    ...common,
    author: KNOWN_AUTHORS.has(author) ? (author as Author) : 'agent',
    authorName: textOr(team),
    teamId: typeof posted_by_team_id === 'string' && isUuid(posted_by_team_id) ? posted_by_team_id : undefined,
    replyTo: textOr(reply_to) && `/${String(reply_to)}`,
    to: to === undefined && people === undefined ? undefined : listOr(to).map(wordOf).filter(isUuid),
    expectsReply: expects_reply === true || undefined,
    content: { ...(isObject(content) ? withText(content) : { text: wordOf(content ?? '') }), ...(people && { to_people: people }) },
    toolName: textOr(tool_name),
    model: textOr(model),
  }
}
