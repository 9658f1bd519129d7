// What an event is to readers of history (specification 2): the log's own types, with a chat told by who speaks.
export const KINDS = [
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

export type Kind = (typeof KINDS)[number]

/** All but `unknown`, which can be opened and is never searched. */
export const SEARCHABLE = KINDS.slice(0, -1)
export const SEARCHED_BY_DEFAULT: Kind[] = ['user_input', 'assistant_response', 'tool_response']

/** Whose texts are written as Markdown. */
export const MARKDOWN = new Set<Kind>(['user_input', 'assistant_response', 'reasoning', 'compaction'])

export const kindNumber = (kind: Kind) => KINDS.indexOf(kind)

/** A team's chat answers, a person's asks. */
export const kindOf = (type: string, author: string): Kind => {
  if (type === 'chat') return author === 'person' ? 'user_input' : 'assistant_response'
  return (KINDS as readonly string[]).includes(type) ? (type as Kind) : 'unknown'
}
