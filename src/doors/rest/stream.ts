// GET /api/sessions/:session_id/stream: the log as server-sent events. `id:` is the sequence, so Last-Event-ID resumes without a gap.
import { Refusal, refuse } from '../../core/errors.ts'
import { idWithin, isUuid } from '../../core/ids.ts'
import { LogReader } from '../../log/log-reader.ts'
import { refuseBeyondEnd, unpurgedSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { closedBy, type Event } from '../../stores/events.ts'
import { openStream, retryField, SSE_HEADERS } from '../http/event-stream.ts'
import { howToRead, mayReadSession } from '../http/guards.ts'
import { readOnly, type Http } from '../http/http.ts'
import { refuseUnknown, wholeNumber } from '../http/query.ts'
import { whileReadable } from '../http/revocable-stream.ts'

const PING_MS = 15_000

/** Sends each event once and in order. Ends with `closed` once a closed session has been sent whole, with `bye` when the server stops, and
 *  when what the reader came with ends. */
export const streamRoute = (services: Services) => readOnly({ '/sessions/:session_id/stream': streamSession(services) })

const streamSession = (services: Services) => async (c: Http) => {
  const id = idWithin(c.req.param('session_id')!)
  if (!(await mayReadSession(c, services, id))) refuse('unauthorized', `${howToRead(services, true)}, to follow this session.`)
  const trace = flagOf(c, 'include_trace')
  const resumed = c.req.header('last-event-id')
  refuseUnknown(c, ARGUMENTS)
  const cursor = resumed === undefined ? wholeNumber('after', c.req.query('after') ?? '0') : wholeNumber('Last-Event-ID', resumed)
  const reader = new LogReader(services, isUuid(id) ? id : '', cursor, trace, { newest: Infinity })
  try {
    const session = await unpurgedSession(services.database, id)
    if (cursor > session.lastSequence) refuseBeyondEnd(resumed === undefined ? 'after' : 'Last-Event-ID', session.lastSequence)
    const closed = session.status === 'closed'
    if (closed && resumed !== undefined && cursor >= (trace ? session.lastSequence : session.lastConversationSequence)) {
      reader.close()
      return new Response(null, { status: 204 })
    }
    const left = openStream(c, services)
    c.env?.untimed?.()
    const body =
      c.req.method === 'HEAD' ? (left(), reader.close(), null) : frames(services, reader, { closed, newest: session.lastSequence, left })
    return whileReadable(c, services, id, new Response(body, { headers: SSE_HEADERS }))
  } catch (error) {
    reader.close()
    throw error
  }
}

const flagOf = (c: Http, name: string): boolean => {
  const text = c.req.query(name) ?? 'false'
  return text === 'true' || text === 'false'
    ? text === 'true'
    : refuse('invalid_request', `${name} must be true or false.`, { field: name })
}

const ARGUMENTS = ['after', 'include_trace']

const CLOSED = 'event: closed\ndata: {}\n\n'

// Pulled, not pushed: for a slow reader nothing is buffered, the events are read from the log when it takes them.
const frames = (services: Services, reader: LogReader, session: { closed: boolean; newest: number; left: () => void }) => {
  const encoder = new TextEncoder()
  const gone = new AbortController()
  let { closed } = session
  let behind = reader.cursor < session.newest
  const end = () => {
    if (gone.signal.aborted) return
    gone.abort()
    session.left()
    reader.close()
  }
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(`${retryField()}: following\n\n`)),
    async pull(controller) {
      try {
        if (closed && !behind) return finish(controller, CLOSED)
        const { events, hasMore } = await reader.next(closed ? 0 : PING_MS, gone.signal)
        closed = closedBy(events) ?? closed
        behind = hasMore
        if (gone.signal.aborted) return
        if (services.stopping.aborted && events.length === 0) return finish(controller, `event: bye\n${retryField()}data: {}\n\n`)
        controller.enqueue(encoder.encode(events.length > 0 ? events.map(frame).join('') : ': still here\n\n'))
      } catch (error) {
        if (error instanceof Refusal) return finish(controller, CLOSED) // the session was purged
        end()
        controller.error(error)
      }
    },
    cancel: end,
  })

  function finish(controller: ReadableStreamDefaultController<Uint8Array>, last: string) {
    end()
    controller.enqueue(encoder.encode(last))
    controller.close()
  }
}

// JSON has no line breaks, so no text can end its frame and forge another.
const frame = (event: Event) => `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`
