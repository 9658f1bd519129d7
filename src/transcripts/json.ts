// Values of a foreign record, read without trust: whatever a field holds, its reader gets a value of the type it asks for.
import { sha256 } from '../core/ids.ts'
import { cutAt } from '../core/text/cut-at.ts'
import { isObject } from '../core/text/json.ts'

export type Json = Record<string, unknown>

export { isObject }
export const objectOr = (value: unknown): Json => (isObject(value) ? value : {})
export const listOr = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const textOr = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A name, no longer than the log keeps it. */
export const nameOr = (value: unknown) => {
  const text = textOr(value)
  return text && cutAt(text, LONGEST_TOOL_NAME)
}
/** Of a tool or a model. */
export const LONGEST_TOOL_NAME = 200

/** A value as a word. `String` copies a nested list's text at each level: 1 MB in 3,000 levels took 0.3 s each time. */
export const wordOf = (value: unknown) => String(Array.isArray(value) ? value.flat(Infinity) : value)

/** The id, or its hash if it is longer than 200 characters: ids are repeated with each event of a record and stored with the reader's state. */
export const shortId = (id: string) => (id.length <= LONGEST_ID ? id : sha256(id))
const LONGEST_ID = 200
