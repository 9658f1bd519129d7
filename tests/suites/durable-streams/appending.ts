// POST: a message, the end of the session, or both.
import { kindOf, mediaType, messageText } from './content.ts'
import type { Answer } from './feed.ts'
import { judge, keyOf, producerOf, taken, type Producer } from './producers.ts'
import { tailOf, type Stream } from './stream.ts'
import { answered, CLOSED, NEXT_OFFSET, offsetOf, SEQ } from './wire.ts'

interface Append {
  text: string // '' for a request that only closes
  closes: boolean
  producer: Producer | undefined
  seq: string | null
}

/** Appends that need an order among themselves wait for each other; Parley has all others at once. */
export const append = async (stream: Stream, request: Request): Promise<Response> => {
  const wanted = wantedBy(stream, request.headers, await request.bytes())
  if (typeof wanted === 'number') return answered(await stream.feed.session(), wanted)
  if (!wanted.producer && wanted.seq === null) return write(stream, wanted)
  const done = stream.turn.then(() => writeInOrder(stream, wanted))
  stream.turn = done.catch(() => {})
  return done
}

/** What is to be written, or the status for a request that is wrong in itself. */
const wantedBy = ({ contentType }: Stream, headers: Headers, bytes: Uint8Array): Append | number => {
  const closes = headers.get(CLOSED) === 'true'
  const producer = producerOf(headers)
  if (producer === 'malformed' || (bytes.length === 0 && !closes)) return 400
  const seq = headers.get(SEQ)
  if (bytes.length === 0) return { text: '', closes, producer, seq }
  const given = headers.get('content-type')
  if (given === null) return 400
  if (mediaType(given) !== mediaType(contentType)) return 409
  const text = textOr(contentType, bytes)
  return text ? { text, closes, producer, seq } : 400
}

const textOr = (contentType: string, bytes: Uint8Array): string | undefined => {
  try {
    return messageText(kindOf(contentType), bytes)
  } catch {
    return undefined
  }
}

const writeInOrder = async (stream: Stream, wanted: Append): Promise<Response> => {
  const { producer, seq } = wanted
  const { refusal, retry } = producer ? judge(stream.producers, producer) : { refusal: undefined, retry: false }
  if (refusal) return answered(await stream.feed.session(), refusal.status, refusal.headers)
  if (!retry && seq !== null && stream.seq !== undefined && seq <= stream.seq) return answered(await stream.feed.session(), 409)
  const response = await write(stream, wanted)
  if (response.ok && !retry && seq !== null) stream.seq = seq
  return response
}

/** A retry is sent too: that it is not applied again is Parley's doing. */
const write = async (stream: Stream, { text, closes, producer }: Append): Promise<Response> => {
  const { feed } = stream
  const posted = text === '' ? undefined : await feed.post(text, producer && keyOf(producer))
  if (posted?.body.error?.code === 'session_closed') return answered(posted, 409, (await tailOf(feed)).headers)
  const applied = posted !== undefined && posted.status === 200 && !posted.replayed
  if (posted && !applied && !wasApplied(posted)) return answered(posted, posted.status)
  const concluded = closes ? await feed.conclude() : undefined
  if (concluded && concluded.status !== 200) return answered(concluded, concluded.status)
  const at = concluded || !posted || posted.status !== 200 ? (await tailOf(feed)).headers : { [NEXT_OFFSET]: offsetOf(posted.body.cursor) }
  return answered((concluded ?? posted)!, applied && producer ? 200 : 204, { ...at, ...(producer && taken(stream.producers, producer)) })
}

/** Answered before, or refused because another text had the same key: either way it is in the feed once. */
const wasApplied = ({ replayed, body }: Answer) => replayed || body.error?.code === 'idempotency_mismatch'
