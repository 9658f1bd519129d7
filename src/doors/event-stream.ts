// What every stream of server-sent events has in common.
import { refuse } from '../core/errors.ts'
import type { Services } from '../services.ts'
import { GUARDED } from './http.ts'

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...GUARDED,
}

export const refuseTooManyStreams = ({ streams, config }: Services): void => {
  if (streams.open >= config.MAX_STREAMS)
    refuse('unavailable', 'This server has reached its limit of open streams (MAX_STREAMS). Try again in a few seconds.', {
      retry_after: 3,
    })
}
