// HTTP for all doors: request bodies within their limits, responses and errors in JSON.
import { Hono, type Context as HonoContext, type MiddlewareHandler } from 'hono'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { utf8Bytes } from '../../core/text/text.ts'
import type { Key } from '../../stores/keys.ts'
import type { SignIn } from '../../stores/sign-ins.ts'

/** What the runtime knows of a request (src/server.ts). Other runtimes may know nothing. */
export interface Runtime {
  address?: string | undefined
  /** Lifts the limit on quiet connections for this request: for waits and streams. */
  untimed?: () => void
  /** Raises that limit to two minutes: for long bodies, whose sender or reader may be slow. */
  patient?: () => void
}

/** What the guards found out about a request (credentials.ts). */
export interface Known {
  signIn?: SignIn | undefined
  key?: Key | undefined
  /** Refuses the request: it came without the ACCESS_TOKEN that it needs, and only an invitation can let it pass. */
  refuseTokenless?: (() => never) | undefined
}
export type Env = { Bindings: Runtime; Variables: Known }
export type Http = HonoContext<Env>

/** Is this a path for agents and programs? They get errors as JSON, whatever they accept. */
export const isApi = (path: string): boolean => /^\/(api|mcp)(\/|$)/.test(path)
export const isMcp = (path: string): boolean => /^(\/api)?\/mcp(\/|$)/.test(path)

/** Headers of every response with a body: no sniffing, no framing, same origin. Pages replace some of them (pages/respond.tsx). */
export const GUARDED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...GUARDED }

/** A response in JSON. A string counts as JSON that is written already. */
export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: { ...JSON_TYPE, ...headers } })

export const text = (body: string, type: string) => new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } })

/** An error as a response, with the status and headers of its code. `body`: where a specification asks for another shape. */
export const errorAnswer = (error: ErrorBody, headers: Record<string, string> = {}, body: object = { error }) => {
  const { retry_after } = error.details
  const all: Record<string, string> = { ...headers }
  if (typeof retry_after === 'number') all['retry-after'] = String(retry_after)
  if (error.code === 'unauthorized') all['www-authenticate'] = 'Bearer'
  return json(body, STATUS[error.code], all)
}

/** The answer of a path to every other method than these. */
export const methodNotAllowed = (allowed: string[]) => {
  const allow = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed
  return errorAnswer(
    { code: 'method_not_allowed', message: `Use ${allowed.join(' or ')} here.`, details: { allow } },
    { allow: allow.join(', ') },
  )
}

/** Routes that are read with GET alone. `guard` comes before each of them. */
export const readOnly = (
  answers: Record<string, (c: Http) => Response | Promise<Response>>,
  guard: MiddlewareHandler<Env> = (_, next) => next(),
) => {
  const app = new Hono<Env>()
  for (const [path, answer] of Object.entries(answers)) app.get(path, guard, answer).all(path, () => methodNotAllowed(['GET']))
  return app
}

/** A body made while it is sent: each part when the one before it has been taken. */
export const bodyFrom = (parts: AsyncIterator<string>) => {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await parts.return?.()),
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The body as text. Refuses more than `limit` bytes, counted while they come if the request has no length, and what is not UTF-8. */
export const bodyText = async (request: Request, limit: number): Promise<string> => {
  const announced = request.headers.get('content-length')
  if (announced === null) return decoded(await counted(request, limit))
  const length = Number(announced)
  if (length > limit) tooLarge(limit)
  const text = await request.text()
  if (text.length > limit) tooLarge(limit)
  // text() replaces bytes that are not UTF-8 by U+FFFD, three bytes long. The lengths then differ, except where the first three bytes of a
  // four-byte character were replaced. A byte order mark, three bytes too, is left out.
  return text.includes('\uFFFD') && ![length, length - 3].includes(utf8Bytes(text)) ? notUtf8() : text
}

const decoded = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    return notUtf8()
  }
}

const notUtf8 = () => refuse('invalid_request', 'The body is not UTF-8. Write it in that encoding and send it again.')
const tooLarge = (limit: number): never =>
  refuse('payload_too_large', `The body may have at most ${limit} bytes here.`, { limit_bytes: limit })

const counted = async (request: Request, limit: number): Promise<Uint8Array> => {
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > limit) tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The message of an error of JSON.parse, without its prefix. */
export const whyNot = (error: unknown): string => (error as Error).message.replace(/^JSON Parse error: /, '')

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    return refuse(
      'invalid_request',
      `The body is not JSON (${whyNot(error)}). JSON has no comments and no comma before a closing bracket. Quote it for your shell, or send it from a file: curl --data-binary @body.json. Only a message may be plain text (one that begins with { must be sent in content), and the document with Content-Type: text/markdown.`,
    )
  }
}
