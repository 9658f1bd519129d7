// GET: what is there, what comes next (long-poll), and all that follows (server-sent events).
import { framesOf } from '../../support/sse.ts'
import { bodyOf, dataEvent, kindOf } from './content.ts'
import type { Answer, Feed } from './feed.ts'
import { tailOf, type Stream } from './stream.ts'
import { answered, cacheCursor, CLOSED, CURSOR, cursorOf, NEXT_OFFSET, offsetOf, UP_TO_DATE } from './wire.ts'

const HELD_S = 2 // of a long-poll: the suite waits out some of them

export const read = async (stream: Stream, url: URL, request: Request): Promise<Response> => {
  const [offset, ...others] = url.searchParams.getAll('offset')
  const live = url.searchParams.get('live')
  const now = offset === 'now'
  const after = now ? (await tailOf(stream.feed)).cursor : cursorOf(offset ?? '-1')
  if (after === undefined || others.length > 0 || (live && offset === undefined)) return answered(await stream.feed.session(), 400)
  const reader = { after, cursor: url.searchParams.get('cursor'), signal: request.signal }
  if (live === 'sse') return follow(stream, reader)
  if (live === 'long-poll') return poll(stream, reader)
  return now ? nothingYet(stream) : catchUp(stream, reader, request.headers.get('if-none-match'))
}

interface Reader {
  after: number
  cursor: string | null
  signal: AbortSignal
}

const nothingYet = async ({ feed, contentType }: Stream): Promise<Response> => {
  const { answer, headers } = await tailOf(feed)
  return answered(answer, 200, { 'content-type': contentType, ...headers, [UP_TO_DATE]: 'true' }, bodyOf(kindOf(contentType), []))
}

interface Page {
  answer: Answer
  texts: string[]
  next: number
  headers: Record<string, string>
}

/** The page after a cursor, or the refusal. System events stand in the feed too: a stream has only what was appended. */
const pageOf = async (feed: Feed, after: number, heldS: number, signal: AbortSignal): Promise<Page | Response> => {
  const answer = await feed.page(after, heldS, signal)
  if (answer.status !== 200) return answered(answer, answer.status)
  const { messages, next_cursor: next, session_closed, has_more } = answer.body
  const headers = {
    [NEXT_OFFSET]: offsetOf(next),
    ...(!has_more && { [UP_TO_DATE]: 'true' }),
    ...(session_closed && !has_more && { [CLOSED]: 'true' }),
  }
  return { answer, texts: messages.filter(isAppend).map(textOf), next, headers }
}

const isAppend = ({ type }: { type: string }) => type === 'chat'
const textOf = ({ content }: { content: { text: string } }) => content.text

const catchUp = async ({ feed, contentType }: Stream, { after, signal }: Reader, known: string | null): Promise<Response> => {
  const page = await pageOf(feed, after, 0, signal)
  if (page instanceof Response) return page
  const { answer, texts, next, headers } = page
  const etag = `"${after}-${next}${CLOSED in headers ? '-closed' : ''}"`
  if (known === etag) return answered(answer, 304, { etag, ...headers })
  return answered(answer, 200, { 'content-type': contentType, etag, ...headers }, bodyOf(kindOf(contentType), texts))
}

const poll = async ({ feed, contentType }: Stream, { after, cursor, signal }: Reader): Promise<Response> => {
  const page = await pageOf(feed, after, HELD_S, signal)
  if (page instanceof Response) return page
  const { answer, texts, headers } = page
  const more = { ...headers, [CURSOR]: cacheCursor(cursor) }
  if (texts.length === 0) return answered(answer, 204, more)
  return answered(answer, 200, { 'content-type': contentType, ...more }, bodyOf(kindOf(contentType), texts))
}

const follow = async ({ feed, contentType }: Stream, { after, cursor, signal }: Reader): Promise<Response> => {
  const kind = kindOf(contentType)
  const tail = await tailOf(feed)
  const source = await feed.stream(after, signal)
  if (source.status !== 200) return answered(source, source.status)
  const control = (at: number, more: object) => `event: control\ndata:${JSON.stringify({ streamNextOffset: offsetOf(at), ...more })}\n\n`
  const caughtUp = (at: number) => control(at, { streamCursor: cacheCursor(cursor), ...(at >= tail.cursor && { upToDate: true }) })
  const frames = framesOf(source)
  let at = after
  const next = async (): Promise<string | undefined> => {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      if (frame.event === 'closed') return control(at, { streamClosed: true })
      if (frame.event !== undefined) return undefined
      at = frame.data.sequence
      if (isAppend(frame.data)) return dataEvent(kind, textOf(frame.data)) + caughtUp(at)
    }
    return undefined
  }
  const first = after >= tail.cursor && !tail.closed ? caughtUp(after) : ''
  const encoding = kind === 'binary' && { 'stream-sse-data-encoding': 'base64' }
  return answered(source, 200, { 'content-type': 'text/event-stream', ...encoding }, streamOf(first, next, frames.cancel))
}

const streamOf = (first: string, next: () => Promise<string | undefined>, cancel: () => Promise<void>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      const frame = await next()
      if (frame === undefined) controller.close()
      else controller.enqueue(encoder.encode(frame))
    },
    cancel,
  })
}
