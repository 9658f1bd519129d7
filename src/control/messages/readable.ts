// What a person would see of a log: texts, and of a tool call one line. Never the JSON of its input or its output.
import type { Queries } from '../../../db/database.ts'
import { shortened } from '../../core/event-text.ts'
import type { EventRow } from '../../stores/events.ts'
import { rowsAfter, type RowFilter } from '../../stores/control/messages.ts'
import type { ReadableMessage } from './shape.ts'

const LINE_CHARACTERS = 200

/** The argument of a call that tells a person most. */
const TELLING = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'title', 'prompt', 'name']

/** A tool call in one line: `Bash: npm test`. */
export const callLine = (toolName: string | null | undefined, given: unknown): string => {
  const named = typeof given === 'object' && given !== null && !Array.isArray(given) ? (given as Record<string, unknown>) : {}
  const told = TELLING.map((name) => named[name]).find((value) => typeof value === 'string' || isWords(value))
  const line = Array.isArray(told) ? told.join(' ') : told === undefined ? '' : String(told)
  const tool = toolName ?? 'tool'
  return [...shortened(line === '' ? tool : `${tool}: ${line}`).text].slice(0, LINE_CHARACTERS).join('')
}

const isWords = (value: unknown): value is string[] => Array.isArray(value) && value.every((word) => typeof word === 'string')

const textOf = ({ type, content, tool_name }: EventRow): string => {
  if (type === 'tool_call') return callLine(tool_name, content.arguments)
  return typeof content.text === 'string' ? content.text : String(content.event ?? '')
}

const fromOf = ({ author, author_name, type }: EventRow): string => author_name ?? (type === 'system' ? 'system' : author)

export const readable = (row: EventRow): ReadableMessage => ({
  message_id: row.id,
  sequence: row.sequence,
  type: row.type,
  at: row.at,
  from: fromOf(row),
  text: textOf(row),
})

export interface Readable {
  messages: ReadableMessage[]
  hasMore: boolean
}

/** What follows a sequence, within so many characters; the first message always, cut to them. */
export const messagesAfter = async (queries: Queries, sessionId: string, filter: RowFilter & { maxChars: number }): Promise<Readable> => {
  const { rows, hasMore } = await rowsAfter(queries, sessionId, filter)
  return within(rows.map(readable), filter.maxChars, hasMore)
}

export const within = (messages: ReadableMessage[], maxChars: number, hasMore: boolean): Readable => {
  const kept: ReadableMessage[] = []
  let left = maxChars
  for (const message of messages) {
    if (kept.length > 0 && message.text.length > left) return { messages: kept, hasMore: true }
    kept.push(message.text.length > left ? { ...message, text: cutTo(message.text, left) } : message)
    left -= message.text.length
  }
  return { messages: kept, hasMore }
}

const cutTo = (text: string, characters: number) => `${text.slice(0, characters).toWellFormed()}\n[… cut: get_message has it whole]`
