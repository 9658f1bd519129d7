// What every door does with HTTP: bodies within their limit, answers and errors in JSON, and who is calling from where.
import type { Context as HonoContext } from 'hono'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { utf8Bytes } from '../../core/text.ts'

/** What the runtime tells about a request (src/server.ts); other runtimes may tell nothing. */
export interface Runtime {
  address?: string | undefined
  /** Lifts the runtime's limit on quiet connections for this request: for waits and streams. */
  untimed?: () => void
  /** Sets it to two minutes: for long bodies, whose sender or reader may be slow, but not gone for good. */
  patient?: () => void
}
export type Env = { Bindings: Runtime }
export type Http = HonoContext<Env>
/** What there is of a request before a route has it. */
export interface Asked {
  req: { path: string; method: string; header(name: string): string | undefined }
  env: Runtime | undefined
}

/** What agents and programs call: they get JSON, whatever they say they accept. */
export const isApi = (path: string): boolean => /^\/(api|mcp)(\/|$)/.test(path)
export const isMcp = (path: string): boolean => /^(\/api)?\/mcp(\/|$)/.test(path)

/** Headers of every answer with a body: no sniffing, no framing, same origin. Constants, so that an agent's answer costs nothing extra;
 *  pages say more (pages/answer.tsx). */
export const GUARDED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...GUARDED }

const PLAIN = { status: 200, headers: new Headers(JSON_TYPE) } // a quarter of what it takes to make an answer (bench/mcp)

/** An answer in JSON; a text is JSON already. */
export const json = (body: unknown, status = 200, headers?: Record<string, string>) =>
  new Response(
    typeof body === 'string' ? body : JSON.stringify(body),
    status === 200 && !headers ? PLAIN : { status, headers: { ...JSON_TYPE, ...headers } },
  )

/** An error with its status, and the headers that belong to its code. `body`: where a specification wants another shape. */
export const errorAnswer = (error: ErrorBody, headers: Record<string, string> = {}, body: object = { error }) => {
  const { retry_after } = error.details
  const more: Record<string, string> = { ...headers }
  if (typeof retry_after === 'number') more['retry-after'] = String(retry_after)
  if (error.code === 'unauthorized') more['www-authenticate'] = 'Bearer'
  return json(body, STATUS[error.code], more)
}

/** A body whose parts are made while it is sent: the next one when the last one was taken. */
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

/** The body as text, if it keeps within `limit` bytes and is UTF-8. A body without a length is counted as it comes. */
export const bodyText = async (request: Request, limit: number): Promise<string> => {
  const announced = request.headers.get('content-length')
  if (announced === null) return decoded(await counted(request, limit))
  const length = Number(announced)
  if (length > limit) tooLarge(limit)
  const text = await request.text() // its bytes, decoded here, take a post a twentieth longer (bench/post)
  if (text.length > limit) tooLarge(limit)
  // What is no UTF-8 was replaced, and is longer now; only a character of four bytes that lacks its last is as long as its replacement.
  return text.includes('\uFFFD') && utf8Bytes(text) !== length ? notUtf8() : text
}

const decoded = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    return notUtf8()
  }
}

const notUtf8 = () => refuse('invalid_request', 'The body is not UTF-8.')
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

/** What JSON.parse says is wrong, without its own prefix. */
export const whyNot = (error: unknown): string => (error as Error).message.replace(/^JSON Parse error: /, '')

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    return refuse(
      'invalid_request',
      `The body is not JSON (${whyNot(error)}). JSON has no comments and no comma before a closing bracket. Quote it for your shell, or send it from a file: curl --data-binary @body.json. Only a message may be plain text; one that begins with { must be sent in content.`,
    )
  }
}
