import { jsonIn } from '../../core/text/json.ts'
import { withLf } from '../../core/text/line-breaks.ts'
import { bodyText, type Http } from '../../doors/http/http.ts'

const SMALL_FORM = 16 * 1024
export const LARGE_FORM = 256 * 1024 // 64 KiB of text take up to three times that in a form

/** The fields of a submitted form. */
export const formOf = async (c: Http, limit = SMALL_FORM): Promise<URLSearchParams> => new URLSearchParams(await bodyText(c.req.raw, limit))

export type Values = Record<string, string>

/** The fields by name. */
export const valuesOf = (form: URLSearchParams): Values => Object.fromEntries([...form].map(([name, value]) => [name, withLf(value)]))

/** What a form that changes something begins with; `was` comes back with it. `fields`: the values to compare with then,
 *  where those are others. */
export const beginning = (values: Values, fields = values): Values => ({ ...values, was: JSON.stringify(fields) })

/** The fields that were changed since the form began with `was`; all of them where none is known. */
export const changed = (fields: Values, was = ''): Values => {
  const before = Object(jsonIn(was)) as Values
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => before[name] !== value))
}
