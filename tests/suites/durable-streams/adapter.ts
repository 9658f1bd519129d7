// The Durable Streams protocol on the feeds of sessions: a stream is a session, an append a message, an offset a cursor of the feed, a closed
// stream a concluded session. It keeps no message and no order. What it holds, because Parley has no place for it: which session a path means
// (DELETE forgets it, since Parley deletes nothing), the content type, the last Stream-Seq, and the numbers of producers.
import type { Served } from '../../support/parley.ts'
import { append } from './appending.ts'
import { kindOf, mediaType, messageText } from './content.ts'
import { noSuchSession, openFeed } from './feed.ts'
import { read } from './reading.ts'
import { tailOf, type Stream } from './stream.ts'
import { answered, CLOSED } from './wire.ts'

// A session does not expire, and a feed does not begin with a part of another.
const NOT_THERE = ['stream-ttl', 'stream-expires-at', 'stream-forked-from', 'stream-fork-offset', 'stream-fork-sub-offset']

/** Answers requests for streams from sessions of this Parley. 501 for what no session has. */
export const durableStreams = (parley: Served) => {
  const streams = new Map<string, Promise<Stream>>()

  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    if (request.method === 'PUT') return create(url, request)
    const stream = await streams.get(url.pathname)
    if (!stream) return answered(await noSuchSession(parley), 404)
    if (request.method === 'POST') return append(stream, request)
    if (request.method === 'GET') return read(stream, url, request)
    if (request.method === 'HEAD') return described(stream, 200)
    if (request.method === 'DELETE') return forget(url, stream)
    return new Response(null, { status: 405 })
  }

  async function create(url: URL, request: Request): Promise<Response> {
    if (NOT_THERE.some((name) => request.headers.has(name))) return new Response(null, { status: 501 })
    const contentType = request.headers.get('content-type') ?? 'application/octet-stream'
    const closed = request.headers.get(CLOSED) === 'true'
    const bytes = await request.bytes()
    const existing = await streams.get(url.pathname)
    if (existing) return described(existing, (await isSame(existing, contentType, closed)) ? 200 : 409)
    const opening = openFeed(parley, url.pathname).then((feed) => ({ feed, contentType, producers: new Map(), turn: Promise.resolve() }))
    streams.set(url.pathname, opening)
    const { feed } = await opening
    const text = bytes.length === 0 ? '' : messageText(kindOf(contentType), bytes)
    if (text !== '') await feed.post(text)
    if (closed) await feed.conclude()
    return described(await opening, 201, { location: url.href })
  }

  async function forget(url: URL, { feed }: Stream): Promise<Response> {
    streams.delete(url.pathname)
    return answered(await feed.conclude(), 204)
  }
}

const isSame = async ({ feed, contentType }: Stream, wanted: string, closed: boolean) =>
  mediaType(wanted) === mediaType(contentType) && closed === (await tailOf(feed)).closed

const described = async ({ feed, contentType }: Stream, status: number, more: Record<string, string> = {}): Promise<Response> => {
  const { answer, headers } = await tailOf(feed)
  return answered(answer, status, { 'content-type': contentType, ...headers, ...more })
}
