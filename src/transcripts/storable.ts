// Makes values of a foreign file fit for the log: credentials of ours are redacted, what the database cannot hold is replaced, and what is
// too long or too deep is cut.
import { cutAt } from '../core/text/cut-at.ts'
import { redacted } from '../core/text/text.ts'

const LONGEST = 1024 * 1024 // characters of one text; the longest that tools show an agent are a tenth of it
const DEEPEST = 64 // levels; the database parses JSON by recursion

/** A copy of a JSON value that can be stored and shown. */
export const storable = <Value>(value: Value): Value => clean(value, 0) as Value

const clean = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return storableText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key), clean(inner, depth + 1)]))
}

/** A text that can be stored and shown. */
export const storableText = (text: string): string => {
  const kept = cutAt(text, LONGEST)
  const cut = text.length > LONGEST ? `${kept}\n${cutMark(text.length - kept.length)}` : text
  return redacted(cut.replaceAll('\0', '\uFFFD').toWellFormed())
}

/** Marks where a text or a list of events was cut. */
export const cutMark = (left: number, of: 'characters' | 'events' = 'characters') =>
  `[… cut at import: ${left.toLocaleString('en')} more ${of}]`
