// Where a proposal says that it comes from, checked against the session's log.
import { refuse } from '../../core/errors.ts'
import { textOf } from '../../core/events/event-text.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import type { Queries } from '../../../db/database.ts'
import type { Source } from '../../../db/records-schema.ts'
import { eventById, type Event } from '../../stores/events.ts'
import type { OriginFields } from './fields.ts'

/** The quote and the event it is said to stand in; null where neither is named. 400 for an event of another session. */
export const sourceOf = async (
  queries: Queries,
  sessionId: string,
  { source_quote, source_event_id }: OriginFields,
): Promise<Source | null> => {
  const quote = source_quote?.trim() || null
  if (source_event_id === undefined) return quote === null ? null : { quote, event_id: null, sequence: null, found: false }
  const event = isUuid(source_event_id) ? await eventById(queries, sessionId, source_event_id) : undefined
  if (!event)
    return refuse(
      'invalid_request',
      'source_event_id: the session has no such event. An event is named by its id, not by its sequence; leave it out if you do not know it.',
      { field: 'source_event_id', event_id: redacted(source_event_id) },
    )
  return { quote, event_id: event.id, sequence: event.sequence, found: quote !== null && stands(quote, event) }
}

const stands = (quote: string, { type, content, ...fields }: Event): boolean =>
  blanksAside(textOf(type, (content as Record<string, unknown> | undefined) ?? fields, null)).includes(blanksAside(quote))

const blanksAside = (text: string) => text.replace(/\s+/g, ' ').trim()
