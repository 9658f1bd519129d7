// What streams of server-sent events have in common.
import { refuse } from '../../core/errors.ts'
import type { Services } from '../../process/services.ts'
import { GUARDED } from './http.ts'

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...GUARDED,
}

/** An answer that is waited for, with a comment at once and a beat from time to time, so that no proxy sees a quiet connection. */
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
          controller.close() // in the same step: one write to the socket, and the last of 10,000 woken a quarter earlier (bench/connections)
        })
        .catch(() => {}) // the reader has gone
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
