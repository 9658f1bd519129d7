// The sessions of a time range, page by page.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { SESSION_KINDS } from '../core/session-kind.ts'
import { shortened } from '../core/events/event-text.ts'
import { slugOf } from '../core/text/slug.ts'
import { IN_YEARS, inYears } from '../core/years.ts'
import { pageOf, parseCursor } from '../operations/list-cursor.ts'
import type { SessionRow } from '../stores/history.ts'
import { sessionsWithin } from '../stores/session-list.ts'
import { indexWarnings } from './search.ts'
import { factsOf, sessionFacts } from './session-facts.ts'
import { rowLimit, nullable, tool } from './tool.ts'

const MODE = `mode must be one of ${SESSION_KINDS.join(', ')} or null`
const SORT = 'sort must be desc or asc'

const datetime = (name: string) =>
  z.iso
    .datetime({ offset: true, error: `${name} must be an RFC 3339 datetime with Z or an offset` })
    .refine(inYears, `${name} ${IN_YEARS}`)
    .transform((text) => new Date(text).toISOString())

const listed = z.object({
  rank: z.int(),
  id: z.string(),
  session: sessionFacts.extend({
    turn_count: z.int(),
    event_count: z.int(),
    mode: z.enum(SESSION_KINDS),
    session_slug: z.string().nullable(),
    session_summary: z.string().nullable(),
  }),
  open: z.object({ session_id: z.string() }),
})

/** The sessions that overlap [start, end): 20 a page, at most 100, due within 300 ms, or 1 to 1.2 s when there are more than 5,000. A cursor is
 *  refused (400) with another filter or sort than its own. */
export const listSessions = tool({
  name: 'list_sessions',
  summary: 'List the sessions that overlap a time range, newest first. For what was said in them use search_sessions; to read one, open.',
  searchHint: 'browse sessions by time and kind',
  input: z.strictObject({
    start_datetime: datetime('start_datetime').describe('Inclusive. RFC 3339 with Z or an offset.'),
    end_datetime: datetime('end_datetime').describe('Exclusive. RFC 3339 with Z or an offset.'),
    limit: rowLimit('limit', 100, 20),
    cursor: nullable(z.string({ error: 'cursor must be a string or null' }), null, { type: 'string' }).describe(
      'The next_cursor of the previous page, with the same filter and sort. A session that goes on meanwhile moves to the newest: with asc it comes again, with desc it may be missed.',
    ),
    mode: nullable(z.enum(SESSION_KINDS, { error: MODE }), null, { type: 'string', enum: [...SESSION_KINDS, null] }).describe(
      'Only sessions of this mode.',
    ),
    sort: nullable(z.enum(['desc', 'asc'], { error: SORT }), 'desc', { type: 'string', enum: ['desc', 'asc', null] }).describe(
      'By the time of the last event: desc (newest first, the default) or asc.',
    ),
  }),
  data: z.object({
    result_count: z.int(),
    limit: z.int(),
    truncated: z.boolean(),
    sessions: z.array(listed),
    next_cursor: z.string().nullable(),
  }),
  refuses: [],
  target: 300,
  deadlineMs: 3_000, // for a long list: that it is one is known only after it has been read
  async run(context, request) {
    const { start_datetime: start, end_datetime: end, limit, cursor, mode, sort: order } = request
    if (end <= start) refuse('invalid_request', 'end_datetime must be after start_datetime', { field: 'end_datetime' })
    const filters = { start, end, mode, order }
    const after = cursor === null ? undefined : readCursor(cursor, filters)
    const { rows, many, corpus } = await sessionsWithin(context.queries, { ...filters, after, limit: limit + 1 })
    const { shown, next_cursor, has_more: truncated } = pageOf(rows, limit, ({ updated_at: at, id }) => ({ at, id }), filters)
    const sessions = shown.map(itemOf)
    return {
      request,
      data: { result_count: sessions.length, limit, truncated, sessions, next_cursor },
      warnings: indexWarnings(context, corpus),
      target: !many ? 300 : mode === null ? 1_000 : 1_200,
    }
  },
})

const itemOf = (row: SessionRow & { mode: string }, i: number) => {
  const facts = factsOf(row)
  return {
    rank: i + 1,
    id: facts.id,
    session: {
      ...facts,
      turn_count: row.turn,
      event_count: row.last_sequence,
      mode: row.mode as (typeof SESSION_KINDS)[number],
      session_slug: slugOf(row.title, /[^\p{L}\p{N}]+/gu) || null,
      session_summary: row.description.trim() === '' ? null : shortened(row.description).text,
    },
    open: { session_id: facts.id },
  }
}

const readCursor = (cursor: string, filters: Record<string, unknown>) => {
  const found = parseCursor(cursor, filters)
  if (found === 'no cursor') return refuse('invalid_request', 'cursor is not one that list_sessions gave', { field: 'cursor' })
  if (found === 'other filters') return refuse('invalid_request', 'cursor belongs to another filter or sort', { field: 'cursor' })
  return found
}
