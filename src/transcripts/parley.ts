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
  // Exports of one session begin with different events: one without its trace names the event with which the log does.
  identity: ({ records }) => {
    const first = records.find(isEvent)
    return first && (uuidOr(first.first_event_id) ?? String(first.id))
  },
  // An export without its trace did not name it once.
  formerIdentity: ({ records }) => uuidOr(records.find((record) => isEvent(record) && isConversation(record))?.id),
  read: (record, memory) => (isObject(record) && isEvent(record) ? [ofEvent(record, memory)] : [unknown(record)]),
}

// Its text is one, whatever stands there.
const withText = ({ text, ...rest }: Json): Json => ({ ...(text !== undefined && { text: asText(text) }), ...rest })

const uuidOr = (value: unknown) => (typeof value === 'string' && isUuid(value) ? value : undefined)

const TYPES = new Set<unknown>(LOG_TYPES)
const KNOWN_AUTHORS = new Set<unknown>(AUTHORS)

const isEvent = ({ id, sequence, type, at }: Json) =>
  uuidOr(id) !== undefined && typeof sequence === 'number' && TYPES.has(type) && typeof at === 'string'

const isMessage = (type: unknown) => type === 'chat' || type === 'user_input'
const isConversation = ({ type }: Json) => type === 'system' || isMessage(type)

const ofEvent = ({ id, sequence: _, first_event_id: __, type, at, ...said }: Json, memory: Memory): TraceEvent => {
  const common = { key: `/${String(id)}`, type: type as TraceEvent['type'], at }
  return type === 'system' ? { ...common, ...ofSystem(said, memory) } : { ...common, ...ofSaid(type, said, memory) }
}

type Said = Omit<TraceEvent, 'key' | 'type' | 'at'>

// All that it says stands beside id and time, under whatever names.
const ofSystem = (content: Json, memory: Memory): Said => {
  suggestTitle(memory, objectOr(objectOr(content.changes).title).to, TITLE.person)
  return {
    author: 'system',
    content,
    to: handlesIn(content.to),
    ends: content.event === 'session_concluded' ? 'before' : undefined,
  }
}

const ofSaid = (type: unknown, said: Json, memory: Memory): Said => {
  const { author, team, posted_by_team_id, content, reply_to, to, to_people, prompted_by, expects_reply, task_id, tool_name, model } = said
  if (isMessage(type)) suggestTitle(memory, objectOr(content).text, TITLE.prompt)
  const people = to_people === undefined ? undefined : listOr(to_people).map(wordOf)
  return {
    author: KNOWN_AUTHORS.has(author) ? (author as Author) : 'agent',
    authorName: textOr(team),
    teamId: uuidOr(posted_by_team_id),
    replyTo: textOr(reply_to) && `/${String(reply_to)}`,
    to: handlesIn(to) ?? (people && []),
    expectsReply: expects_reply === true || undefined,
    task: textOr(task_id),
    content: {
      ...(isObject(content) ? withText(content) : { text: wordOf(content ?? '') }),
      ...(people && { to_people: people }),
      ...(isMessage(type) && isObject(prompted_by) && { prompted_by }),
    },
    toolName: textOr(tool_name),
    model: textOr(model),
  }
}

const handlesIn = (to: unknown) => (to === undefined ? undefined : listOr(to).map(wordOf).filter(isUuid))
