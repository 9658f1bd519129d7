// Markdown in place of JSON: the body of a write and the answer to a read, for operations that declare it. Errors stay JSON.
import { accepts } from 'hono/accepts'
import { refuse } from '../../core/errors.ts'
import type { Outcome, ServedOp } from '../../operations/context.ts'
import { bodyText, GUARDED, type Http } from '../http/http.ts'

const MARKDOWN = 'text/markdown'

/** Does the request's body count as an argument by itself? */
export const hasMarkdownBody = (c: Http, { markdownBody }: ServedOp): boolean =>
  markdownBody !== undefined && c.req.header('content-type')?.split(';')[0]!.trim().toLowerCase() === MARKDOWN

/** The argument that a body of markdown is, as it came; a byte order mark is no part of the text. Refuses what is empty or not UTF-8, more
 *  than `limit` bytes, and the same argument in the URL. */
export const markdownInput = async (c: Http, { markdownBody, input }: ServedOp, limit: number): Promise<object> => {
  const name = markdownBody!
  if (c.req.query(name) !== undefined) refuse('invalid_request', `${name} is the body here: leave it out of the URL.`, { field: name })
  if (!/^(utf-?8|us-ascii)$/i.test(charsetOf(c) ?? 'utf-8'))
    refuse('invalid_request', 'The body must be UTF-8: convert it, or leave charset out of the Content-Type.', { field: 'content-type' })
  const text = await bodyText(c.req.raw, limit)
  // A JSON body may be meant to empty a document. This one more likely comes from a file that curl did not find.
  if (text === '') {
    const asJson = input.shape[name].safeParse('').success ? ` If ${name} is to be empty, send it as JSON.` : ''
    refuse('invalid_request', `${name}: the body is empty, as curl sends it for a file that it cannot read.${asJson}`, { field: name })
  }
  return { [name]: text }
}

const charsetOf = (c: Http) => /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(c.req.header('content-type') ?? '')?.[1]

/** A good answer as markdown, if the operation has it as such and the request prefers that. */
export const markdownAnswer = (c: Http, { markdown }: ServedOp, outcome: Outcome): Response | undefined => {
  if (!markdown || !outcome.ok) return undefined
  const type = accepts(c, { header: 'Accept', supports: ['application/json', MARKDOWN], default: 'application/json' })
  if (type !== MARKDOWN) return undefined
  const headers: Record<string, string> = { 'content-type': `${MARKDOWN}; charset=utf-8`, 'cache-control': 'no-store', ...GUARDED }
  for (const [name, { value }] of Object.entries(markdown.headers)) {
    const said = value(outcome.data)
    if (said !== undefined) headers[name] = String(said)
  }
  return new Response(markdown.text(outcome.data), { headers })
}
