// Numbers that a request names, in its query or in Last-Event-ID.
import { refuse } from '../core/errors.ts'
import type { Http } from './http.ts'

/** A cursor or a version. Whatever else it is, is refused. */
export const wholeNumber = (field: string, text: string): number =>
  /^\d{1,15}$/.test(text) ? Number(text) : refuse('invalid_request', `${field} must be a whole number, 0 or more.`, { field })

/** What a page is asked for. Whatever is no number, is not asked for. */
export const numberIn = (c: Http, name: string): number | undefined => {
  const text = c.req.query(name) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
