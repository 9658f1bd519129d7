// What a request names in its query, and numbers in Last-Event-ID too.
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text.ts'
import type { Http } from './http.ts'

/** A cursor or a version. Whatever else it is, is refused. */
export const wholeNumber = (field: string, text: string): number =>
  /^\d{1,15}$/.test(text) ? Number(text) : refuse('invalid_request', `${field} must be a whole number, 0 or more.`, { field })

/** What a page is asked for. Whatever is no number, is not asked for. */
export const numberIn = (c: Http, name: string): number | undefined => {
  const text = c.req.query(name) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Refuses a query that names anything else: a word misspelled would be taken for one left out. */
export const refuseUnknown = (c: Http, known: string[]) => {
  const unknown = Object.keys(c.req.query()).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const field = redacted(unknown)
  refuse('invalid_request', `unknown argument ${JSON.stringify(field)}; the arguments are ${known.join(', ')}`, { field })
}
