// An event's content as text, for search, summaries and snippets.
import { fromBeforeTo } from './event-kinds.ts'
import { asText } from '../text/as-text.ts'
import { firstFound } from '../text/word-places.ts'

/** Has `text` if the event has one. A tool call has `arguments`, a tool response may have `exit_code`, a system event has `event` and its own
 *  fields. */
export type Content = Record<string, unknown>

export const textOf = (type: string, content: Content, toolName: string | null): string => {
  if (typeof content.text === 'string') return content.text
  if (type === 'tool_call') return callWithArguments(toolName, content.arguments)
  if (type === 'system') return systemText(content)
  return Object.keys(content).length === 0 ? '' : JSON.stringify(content)
}

const callWithArguments = (name: string | null, given: unknown) => {
  const named = typeof given === 'object' && given !== null && !Array.isArray(given)
  const list = named
    ? Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    : given === undefined
      ? []
      : [JSON.stringify(given)]
  return `${name ?? 'tool'}(${list.join(', ')})`
}

const systemText = (content: Content) => {
  const { event, ...rest } = fromBeforeTo(content)
  const fields = Object.entries(rest).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [asText(event) || 'system', ...fields].join(', ')
}

/** All that an event can be found by: what textOf has, with every text within the content as it is. In JSON a line break is a backslash and a
 *  letter, which would belong to the word after it. */
export const searchableText = (type: string, content: Content, toolName: string | null): string => {
  if (typeof content.text === 'string') return content.text
  if (type === 'tool_call') return textsIn([toolName ?? 'tool', content.arguments])
  const { event, ...rest } = content
  return textsIn(type === 'system' ? [event, rest] : content)
}

const textsIn = (value: unknown): string =>
  typeof value === 'object' && value !== null ? partsOf(value).map(textsIn).join(' ') : asText(value)
const partsOf = (value: object): unknown[] => (Array.isArray(value) ? value : Object.entries(value).flat())

const SUMMARY = 240 // characters

export interface Short {
  text: string
  truncated: boolean
}

/** The beginning of a text on one line. `more`: the text given is only the beginning of a longer one. */
export const shortened = (text: string, more = false): Short => {
  const line = text
    .slice(0, 4 * SUMMARY)
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= SUMMARY && text.length <= 4 * SUMMARY) return { text: line, truncated: more }
  return { text: `${cut(line, SUMMARY)}…`, truncated: true }
}

/** A line of the text around one of the terms: the first in the list that the text has as a word. */
export const excerpt = (text: string, terms: string[], more = false): Short => excerptAt(text, firstFound(text, terms)?.place ?? 0, more)

/** A line of the text around this place. */
export const excerptAt = (text: string, place: number, more = false): Short => {
  if (place < SUMMARY / 2) return shortened(text, more)
  const start = wordAt(text, whole(text, place - SUMMARY / 3), place)
  const { text: line, truncated } = shortened(text.slice(start), more)
  return { text: `…${line}`, truncated: truncated || start > 0 }
}

// The next word that begins before `limit`, unless the text has none there.
const wordAt = (text: string, from: number, limit: number) => {
  const blank = text.slice(from, limit).search(/\s/)
  return blank < 0 ? from : from + blank + 1
}

// Both never split a surrogate pair.
const whole = (text: string, at: number) => (/[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at)
const cut = (text: string, at: number) => text.slice(0, whole(text, at))
