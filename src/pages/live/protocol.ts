// How an open page is told what is new: server-sent events, the same for a session's page and for the inbox.
import { retryField } from '../../doors/http/event-stream.ts'
import type { Services } from '../../process/services.ts'

export type Bytes = Uint8Array<ArrayBuffer>
export type Controller = ReadableStreamDefaultController<Bytes>

const encoder = new TextEncoder()

// A text may hold \r, which ends a line for browsers too: each line gets a `data:` of its own.
const dataOf = (text: string) => `data: ${text.split(/\r\n|\r|\n/).join('\ndata: ')}\n\n`

/** A frame of markup. Its `id` is `<cursor>.<document's version>`: the position up to which the page has rows once it has this. */
export const frame = (id: string, html: string): Bytes => encoder.encode(`id: ${id}\n${dataOf(html)}`)

export const namedEvent = (name: string, data: string): Bytes => encoder.encode(`event: ${name}\n${dataOf(data)}`)

/** What each stream begins with. */
export const hello = (): Bytes => encoder.encode(`${retryField()}: following\n\n`)
/** A named event, not a comment: scripts see no comments, and the page must know that the line still holds. */
export const PING = encoder.encode('event: ping\ndata:\n\n')
/** The longest silence of a stream. */
export const PING_MS = 15_000
/** Sent last, when the session is closed: nothing more will come unless it is reopened. */
export const CLOSED = encoder.encode('event: closed\ndata:\n\n')

const LAG_BYTES = 1024 * 1024

/** Of a stream to a page no bytes are queued ahead of demand, so all that are queued are lag. */
export const nothingAhead = () => new ByteLengthQueuingStrategy({ highWaterMark: 0 })

/** Hands bytes over. False for a page that lets more than 1 MiB pile up: it is cut, and comes back. */
export const handOver = (page: Controller, bytes: Bytes, { metrics }: Pick<Services, 'metrics'>): boolean => {
  page.enqueue(bytes)
  if (-page.desiredSize! <= LAG_BYTES) return true
  page.error() // drops what is queued; without a reason, which the runtime would print
  metrics.viewersCut.inc()
  return false
}
