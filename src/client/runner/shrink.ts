// Makes an event's content smaller, where it is too large to keep or to send: texts are cut, with a mark that says so.
import type { Content } from '../../core/events/event-text.ts'
import { cutAt } from '../../core/text/cut-at.ts'

const LENGTHS = [256 * 1024, 64 * 1024, 16 * 1024, 4 * 1024, 1024, 256]
const SMALL = 256

/** The content in at most `most` bytes of JSON, if cutting its texts makes it so small; its fields stay. */
export const shrunk = (content: Content, most: number): Content => {
  for (const length of LENGTHS) {
    const smaller = withTextsUpTo(content, length) as Content
    if (bytesOf(smaller) <= most) return smaller
  }
  return Object.fromEntries(Object.entries(content).map(([key, value]) => [key, bytesOf(value) > SMALL ? mark(bytesOf(value)) : value]))
}

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

const withTextsUpTo = (value: unknown, length: number): unknown => {
  if (typeof value === 'string') return value.length <= length ? value : `${cutAt(value, length)}\n${mark(value.length - length)}`
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => withTextsUpTo(item, length))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTextsUpTo(inner, length)]))
}

const mark = (left: number) => `[… cut by the runner: ${left.toLocaleString('en')} more]`
