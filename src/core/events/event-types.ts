// What an event is to readers of history: the log's own types, except that a chat counts as a prompt or an answer, by who wrote it.
export const EVENT_TYPES = [
  'user_input',
  'assistant_response',
  'reasoning',
  'tool_call',
  'tool_response',
  'compaction',
  'system',
  'runtime',
  'unknown',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The types of the log. */
export const LOG_TYPES = ['chat', ...EVENT_TYPES] as const
export type LogType = (typeof LOG_TYPES)[number]

/** Who can have written an event of the log. A key is a program that has prompted an agent. */
export const AUTHORS = ['team', 'person', 'key', 'system', 'agent'] as const
export type Author = (typeof AUTHORS)[number]

/** All but `unknown`, which can be opened but not searched for. */
export const SEARCHABLE = EVENT_TYPES.slice(0, -1)
export const SEARCHED_BY_DEFAULT: EventType[] = ['user_input', 'assistant_response', 'tool_response']

/** The types whose texts are Markdown. */
export const MARKDOWN = new Set<EventType>(['user_input', 'assistant_response', 'reasoning', 'compaction'])

/** The number by which the search index knows a type. */
export const eventTypeNumber = (type: EventType) => EVENT_TYPES.indexOf(type)

/** The type of an event of the log: a person's chat is a prompt, everybody else's an answer. */
export const eventTypeOf = (type: string, author: string): EventType => {
  if (type === 'chat') return author === 'person' ? 'user_input' : 'assistant_response'
  return (EVENT_TYPES as readonly string[]).includes(type) ? (type as EventType) : 'unknown'
}
