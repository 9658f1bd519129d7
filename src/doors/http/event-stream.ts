// Server-sent events: headers, one answer as a stream, and the limit of open streams.
import { refuse } from '../../core/errors.ts'
import type { Services } from '../../process/services.ts'
import { GUARDED } from './http.ts'

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...GUARDED,
}

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

export const refuseTooManyStreams = ({ streams, config }: Services): void => {
  if (streams.open >= config.MAX_STREAMS)
    refuse('unavailable', 'This server has reached its limit of open streams (MAX_STREAMS). Try again in a few seconds.', {
      retry_after: 3,
    })
}
