import { withLf } from '../../core/text/line-breaks.ts'
import { bodyText, type Http } from '../../doors/http/http.ts'

const SMALL_FORM = 16 * 1024
export const LARGE_FORM = 256 * 1024 // 64 KiB of text take up to three times that in a form

/** The fields of a submitted form. */
export const formOf = async (c: Http, limit = SMALL_FORM): Promise<URLSearchParams> => new URLSearchParams(await bodyText(c.req.raw, limit))

export type Values = Record<string, string>

/** The fields by name. */
export const valuesOf = (form: URLSearchParams): Values => Object.fromEntries([...form].map(([name, value]) => [name, withLf(value)]))
