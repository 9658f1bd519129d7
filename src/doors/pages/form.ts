import { bodyText, type Http } from '../http.ts'

const LARGEST_FORM = 16 * 1024

/** The fields of a form that was sent. */
export const formOf = async (c: Http): Promise<URLSearchParams> => new URLSearchParams(await bodyText(c.req.raw, LARGEST_FORM))
