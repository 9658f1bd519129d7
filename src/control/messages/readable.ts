// What a person would see of a log: texts, and of a tool call one line. Never the JSON of its input or its output.
import type { Queries } from '../../../db/database.ts'
import { cutText, fitting, jsonLength } from '../../core/budget.ts'
import { callLine } from '../../core/events/tool-call.ts'
import type { EventRow } from '../../stores/events.ts'
import { rowsAfter, type RowFilter } from '../../stores/control/messages.ts'
import type { ReadableMessage } from './shape.ts'
import { asText } from '../../core/text/as-text.ts'

/** What is shown of an event. */
export const shownText = ({ type, content, tool_name }: Pick<EventRow, 'type' | 'content' | 'tool_name'>): string => {
  if (type === 'tool_call') return callLine(tool_name, content.arguments)
  if (type === 'system') return systemLine(content)
  return typeof content.text === 'string' ? content.text : asText(content.event).replaceAll('_', ' ')
}

const systemLine = ({ event, allow, by, team, title, status, text, message }: EventRow['content']): string =>
  [
    [happened(event, allow), ...[by ?? team, title, status].filter((word) => typeof word === 'string')].join(', '),
    ...[text, message].filter((said) => typeof said === 'string' && said !== ''),
  ].join('\n')

const happened = (event: unknown, allow: unknown): string =>
  event === 'permission_decided' ? `permission ${allow === true ? 'allowed' : 'denied'}` : asText(event).replaceAll('_', ' ')

const fromOf = ({ author, author_name, type }: EventRow): string => author_name ?? (type === 'system' ? 'system' : author)

export const readable = (row: EventRow): ReadableMessage => ({
  message_id: row.id,
  sequence: row.sequence,
  type: row.type,
  at: row.at,
  from: fromOf(row),
  text: shownText(row),
})

export interface Readable {
  messages: ReadableMessage[]
  hasMore: boolean
}

/** What follows a sequence, within so many characters; the first message always, cut to them. */
export const messagesAfter = async (
  queries: Queries,
  sessionId: string,
  { maxChars, ...filter }: RowFilter & { maxChars: number },
): Promise<Readable> => {
  const { rows, hasMore } = await rowsAfter(queries, sessionId, filter, maxChars)
  return within(rows.map(readable), maxChars, hasMore)
}

/** The first of these messages that have at most so many characters as JSON; the first one always, cut to them. */
export const within = (messages: ReadableMessage[], maxChars: number, hasMore: boolean): Readable => {
  const fits = fitting(messages, maxChars)
  const kept = fits.length > 0 ? fits : messages.slice(0, 1).map((message) => cutTo(message, maxChars))
  return { messages: kept, hasMore: hasMore || kept.length < messages.length }
}

const CUT = '\n[… cut: get_message has it whole]'

const cutTo = (message: ReadableMessage, characters: number): ReadableMessage => {
  const around = jsonLength([{ ...message, text: CUT }])
  return { ...message, text: cutText(message.text, characters - around) + CUT }
}
