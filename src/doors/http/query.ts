// Reads and checks the arguments in a URL's query, and the number in Last-Event-ID.
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import type { Http } from './http.ts'

/** A cursor or a version; refuses everything else. */
export const wholeNumber = (field: string, text: string): number =>
  /^\d{1,15}$/.test(text) ? Number(text) : refuse('invalid_request', `${field} must be a whole number, 0 or more.`, { field })

/** A number in a page's query; undefined when it is missing or no number. */
export const numberIn = (c: Http, name: string): number | undefined => {
  const text = c.req.query(name) ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

export const refuseTeamInQuery = (): never =>
  refuse('invalid_request', 'A team_id in the URL would end up in logs. Send it in the X-Team-ID header.', { field: 'team_id' })

/** Refuses a query with any other argument: a misspelled one would be ignored in silence. */
export const refuseUnknown = (c: Http, known: string[]) => {
  const unknown = Object.keys(c.req.query()).find((name) => !known.includes(name))
  if (unknown === undefined) return
  if (unknown === 'team_id') refuseTeamInQuery()
  const field = redacted(unknown)
  const there = known.length > 0 ? `the arguments are ${known.join(', ')}` : 'there are no arguments'
  refuse('invalid_request', `unknown argument ${JSON.stringify(field)}; ${there}`, { field })
}
