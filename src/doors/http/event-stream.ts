// Server-sent events: headers, one answer as a stream, and the limit of open streams.
import { refuse } from '../../core/errors.ts'
import type { Services } from '../../process/services.ts'
import { GUARDED, type Http } from './http.ts'
import { addressOf } from './origin.ts'

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...GUARDED,
}

const SOONEST_MS = 500
const LATEST_MS = 1_500

/** The line that says after how long a reader that lost its stream comes back. Each is told another time: all who lost theirs together do not
 *  come in one moment. */
export const retryField = (): string => `retry: ${Math.round(SOONEST_MS + Math.random() * (LATEST_MS - SOONEST_MS))}\n`

/** A stream of one answer that is not there yet: a comment at once, `beat()` every `everyMs` so that no proxy closes a quiet connection,
 *  then the answer. `cancelled` is called when the reader hangs up. */
export const whileAwaited = (answer: Promise<string>, beat: () => string, everyMs: number, cancelled?: () => void): Response => {
  const encoder = new TextEncoder()
  let timer: ReturnType<typeof setInterval>
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text))
      send(': waiting\n\n')
      timer = setInterval(() => send(beat()), everyMs)
      void answer
        .then((text) => {
          send(text)
          controller.close() // in the same tick, so that both are one write: the last of 10,000 waits is woken a quarter earlier (bench/connections)
        })
        .catch(() => {}) // the reader has hung up
        .finally(() => clearInterval(timer))
    },
    cancel() {
      clearInterval(timer)
      cancelled?.()
    },
  })
  return new Response(body, { headers: SSE_HEADERS })
}

/** Counts a stream as open until the returned function is called: once or more often. 503 past MAX_STREAMS, 429 past
 *  MAX_STREAMS_PER_ADDRESS. */
export const openStream = (c: Http, services: Services): (() => void) => {
  const { streams, streamsOfAddress, config } = services
  if (streams.open >= config.MAX_STREAMS)
    refuse('unavailable', 'This server has reached its limit of open streams (MAX_STREAMS). Try again in a few seconds.', {
      retry_after: 3,
    })
  const giveBack = streamsOfAddress.take(() => addressOf(c, services)) ?? refuseAddress(streamsOfAddress.most)
  streams.open++
  let open = true
  return () => {
    if (!open) return
    open = false
    streams.open--
    giveBack()
  }
}

const refuseAddress = (most: number) =>
  refuse(
    'rate_limited',
    `Your address has ${most} streams open already; this server lets one have no more (MAX_STREAMS_PER_ADDRESS). Close one, or try again in a few seconds.`,
    { retry_after: 3 },
  )
