// Deletes sessions for good. A session that others came from leaves its row behind, without a word of what was said in it, so that the
// trees and series of those stay whole.
import { eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { plainArray } from '../../db/arrays.ts'
import { sessions } from '../../db/schema.ts'
import { limitedWith, stopUnlimited } from './control/costs.ts'
import { MESSAGE } from './events.ts'
import { NO_SUBJECT } from './idempotency.ts'
import { importAnew } from './imports.ts'
import { LAST_EVENT_AT } from './last-event-at.ts'
import { insertSession, lockSession, type Session } from './sessions.ts'

export interface Purgeable {
  id: string
  title: string
  source: string
  last: string // the time of its last event or edit of its document, or of its beginning
  events: number
  /** In force. */
  decisions: number
  open_action_items: number
  /** Sessions that came from it: its row stays for them. */
  kept_for: number
}

// An edit of the document is no event.
const LAST = `greatest(${LAST_EVENT_AT},
  (select written_at from session_doc_history where session_id = s.id order by version desc limit 1))`

const COLUMNS = `s.id, s.title, s.source, ${LAST} as last, s.last_sequence as events,
  (select count(*)::int from decisions where session_id = s.id and withdrawn_at is null) as decisions,
  (select count(*)::int from items where session_id = s.id and kind = 'action' and status in ('open', 'claimed')) as open_action_items, (
  select count(*)::int from sessions o where o.id <> s.id and (o.parent_session_id = s.id or o.forked_from_session_id = s.id
    or o.resumed_from_session_id = s.id or o.series_id = s.id)) as kept_for`

const THEN = 'now() - make_interval(days => $2)'
const OLDER = `${LAST_EVENT_AT} < ${THEN}
  and not exists (select from session_doc_history where session_id = s.id and written_at >= ${THEN})`

export const purgeableById = ({ query }: Queries, ids: readonly string[]): Promise<Purgeable[]> =>
  query(`select ${COLUMNS} from sessions s where s.id = any($1::uuid[]) and s.purged_at is null order by last`, [plainArray(ids)])

/** Sessions in which nothing has happened for so many days: rooms, imported traces, or both. There may be very many. */
export const purgeableByAge = ({ query }: Queries, days: number, kinds: readonly ('rooms' | 'traces')[]): Promise<Purgeable[]> =>
  query(
    `select ${COLUMNS} from sessions s where s.purged_at is null and case s.source when 'room' then $1::bool else $3::bool end
       and ${OLDER} order by last`,
    [kinds.includes('rooms'), days, kinds.includes('traces')],
  )

/** Has still nothing happened in it for so many days? Without a number of days, always true. The caller holds the session's lock. */
export const isStillOld = async ({ query }: Queries, id: string, days: number | undefined): Promise<boolean> => {
  if (days === undefined) return true
  return (await query(`select from sessions s where s.id = $1 and ${OLDER}`, [id, days])).length > 0
}

/** Deletes the kept answers of the calls that opened these sessions or joined them. Such answers have no session's scope: this reads all that
 *  have none, so it is called once for many sessions. */
export const deleteOpenAnswers = ({ query }: Queries, ids: readonly string[]): Promise<unknown> =>
  query(`delete from idempotency where scope = $1 and answer->>'session_id' = any($2::text[])`, [NO_SUBJECT, plainArray(ids)])

// Answers repeat what they are about: a task's prompt, a proposal, a record.
const SCOPES = `select $1::text
  union all select 'task/' || id from tasks where session_id = $1::uuid
  union all select 'proposal/' || id from proposals where session_id = $1::uuid
  union all select 'record/' || record_id from proposals where session_id = $1::uuid and record_id is not null`

/** The row that a purged session has kept is used again, for a transcript that is imported once more. */
export const refillSession = async ({ db }: Queries, id: string, values: { title: string; source: string }): Promise<Session> => {
  const [row] = await db
    .update(sessions)
    .set({ ...values, updatedAt: sql`created_at`, closedAt: sql`created_at`, archivedAt: null, purgedAt: null }) // nobody has named it yet
    .where(eq(sessions.id, id))
    .returning()
  return row!
}

/** The end of a session's log. */
export interface LogEnd {
  /** Its events are those behind this sequence. */
  after: number
  /** Their turns. */
  turns: number[]
  /** How many of them are indexed messages. */
  messages: number
  /** How many of them are not indexed. */
  unindexed: number
}

/** How much is deleted at a time. */
export interface Piece {
  rows: number
  bytes: number
}

const UNLIMITED: Piece = { rows: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** The newest events of a session, at most so many and of so many bytes, but the last one always; undefined when it has none. */
export const logEndOf = async ({ query }: Queries, id: string, { rows, bytes } = UNLIMITED): Promise<LogEnd | undefined> => {
  const [end] = await query<LogEnd | { after: null }>(
    `with newest as (
       select sequence, turn, type, sum(size) over (order by sequence desc) - size as before
       from (select sequence, turn, type, size from events where session_id = $1 order by sequence desc limit $2::int8) last
     ), indexed as (
       select coalesce((select indexed_sequence from session_index where session_id = $1), 0) as through
     )
     select min(sequence) - 1 as after, jsonb_agg(distinct turn) as turns, (count(*) filter (where sequence > through))::int as unindexed,
       (count(*) filter (where sequence <= through and ${MESSAGE}))::int as messages
     from newest, indexed where before < $3::int8`,
    [id, rows, bytes],
  )
  return end && end.after !== null ? end : undefined
}

/** Deletes the end of a session's log. The session takes nothing more then: it is on its way out. The caller holds its lock. */
export const cutLog = async (queries: Queries, id: string, { after }: LogEnd): Promise<void> => {
  const { query } = queries
  await query('delete from events where session_id = $1 and sequence > $2', [id, after])
  await query(
    `update sessions set archived_at = coalesce(archived_at, clock_timestamp()), last_sequence = $2::int8,
       last_conversation_sequence = least(last_conversation_sequence, $2::int8) where id = $1`,
    [id, after],
  )
  // In a session that is restored, the numbers that are free again go to other events, which these teams have not seen
  // and no person has released.
  await query(
    `update participants set last_seen_cursor = least(last_seen_cursor, $2::int8), delivered_cursor = least(delivered_cursor, $2::int8),
       addressed_cursor = least(addressed_cursor, $2::int8), woken_cursor = least(woken_cursor, $2::int8)
     where session_id = $1 and greatest(last_seen_cursor, delivered_cursor, addressed_cursor, woken_cursor) > $2::int8`,
    [id, after],
  )
  await query('update acks set cursor = $2 where session_id = $1 and cursor > $2', [id, after])
  await query('update loops set released_through = $2 where session_id = $1 and released_through > $2', [id, after])
  await importAnew(queries, id)
}

const CUT_VERSIONS = `
with oldest as (
  select version, sum(octet_length(content)) over (order by version) - octet_length(content) as before
  from (select version, content from session_doc_history where session_id = $1 order by version limit $2::int8) first
), piece as (
  select max(version) as through from oldest where before < $3::int8
)
delete from session_doc_history where session_id = $1 and version <= (select through from piece)
  and exists (select from session_doc_history where session_id = $1 and version > (select through from piece)) returning version`

/** Deletes the oldest versions of a session's document, at most so many and of so many bytes, but the first one always; the document stays.
 *  The session takes nothing more then. False when these are all that are left. The caller holds its lock. */
export const cutVersions = async ({ query }: Queries, id: string, { rows, bytes }: Piece): Promise<boolean> => {
  const gone = await query(CUT_VERSIONS, [id, rows, bytes])
  if (gone.length > 0) await query('update sessions set archived_at = coalesce(archived_at, clock_timestamp()) where id = $1', [id])
  return gone.length > 0
}

/** Who stops an agent whose limit goes with a session. */
export const BY_PURGE = 'a purge'

/** Deletes the session's rows, all but those of the search index of events and those of `deleteOpenAnswers`. What it cost counts no more, nor
 *  does its limit: agents that would go on by that are stopped. Returns their sessions; undefined when it is gone already. */
export const deleteSession = async (tx: Queries, id: string): Promise<string[] | undefined> => {
  const session = await lockSession(tx, id)
  if (!session || session.purgedAt !== null) return undefined
  const limited = await limitedWith(tx, id)
  const [found] = await purgeableById(tx, [id])
  await tx.query('delete from events where session_id = $1', [id])
  await tx.query(`delete from idempotency where scope in (${SCOPES})`, [id])
  await tx.query('delete from seats where holder = $1', [id])
  await tx.db.delete(sessions).where(eq(sessions.id, id)) // what hangs on it goes with it
  if (found!.kept_for > 0) await keepRow(tx, session)
  return stopUnlimited(tx, limited, BY_PURGE)
}

const keepRow = async (tx: Queries, session: Session) => {
  const { createdAt, seriesId, parentSessionId, forkedFromSessionId, forkedAtSequence, resumedFromSessionId, id } = session
  const kept = { createdAt, seriesId, parentSessionId, forkedFromSessionId, forkedAtSequence, resumedFromSessionId }
  await insertSession(tx, { id, title: '(purged)', description: '', status: 'closed', ...kept })
  const now = sql`clock_timestamp()`
  await tx.db.update(sessions).set({ closedAt: now, archivedAt: now, purgedAt: now }).where(eq(sessions.id, id))
}
