// How far the index has come in each session, as the database knows it.
import type { Database, Queries } from '../../db/database.ts'
import { plainArray } from '../../db/arrays.ts'
import { LAST_EVENT_AT } from '../stores/last-event-at.ts'
import { truncate, untilEmptied } from './emptying.ts'
import { INDEX_LOCK, type SessionProgress } from './event-index.ts'

/** A session whose log is ahead of the index. */
export interface SessionBehind {
  id: string
  newest: number
  /** How long its first event that is not indexed has waited. Null if unknown: an imported event has its transcript's time, and what is
   *  being rebuilt was indexed before. */
  age_ms: number | null
}

/** Of these sessions, the ones whose log is ahead of the index, newest first: after a crash, or of a database that had no index. */
export const sessionsBehind = async ({ query }: Queries, ids: string[]): Promise<SessionBehind[]> => {
  await query(
    `insert into session_index (session_id, started_at, updated_at)
     select id, created_at, ${LAST_EVENT_AT} from sessions s
     where id = any($1::uuid[]) and not exists (select from session_index where session_id = s.id) on conflict do nothing`,
    [plainArray(ids)],
  )
  return query<SessionBehind>(
    `select s.id, s.last_sequence as newest, (
       select extract(epoch from clock_timestamp() - e.at)::float8 * 1000 from events e
       where e.session_id = s.id and e.sequence = i.indexed_sequence + 1 and e.source_line is null
         and (select rebuilding from search_corpus where id = 1) is null
     ) as age_ms
     from session_index i join sessions s on s.id = i.session_id
     where i.session_id = any($1::uuid[]) and i.indexed_sequence < s.last_sequence order by i.updated_at desc`,
    [plainArray(ids)],
  )
}

/** Which of these sessions are still behind. */
export const stillBehind = async ({ query }: Queries, sessionIds: string[]): Promise<SessionProgress[]> =>
  query<SessionProgress>(
    `select i.session_id as session, i.indexed_sequence as indexed, s.last_sequence as newest
     from session_index i join sessions s on s.id = i.session_id
     where i.session_id = any($1::uuid[]) and i.indexed_sequence < s.last_sequence`,
    [plainArray(sessionIds)],
  )

/** Throws the whole index away: it is made anew from the log, the titles and the documents. Returns how many events there are to index. */
export const emptyIndex = (database: Database): Promise<number> =>
  untilEmptied(database, async (tx) => {
    const { query } = tx
    await query('select pg_advisory_xact_lock($1)', [INDEX_LOCK])
    await query(`update session_index set indexed_sequence = 0, mode = 'chat', messages = 0`)
    const [row] = await query<{ events: number }>(
      `update search_corpus set events = 0, length = 0, rebuilding = (select sum(last_sequence)::int8 from sessions) returning coalesce(rebuilding, 0) as events`,
    )
    await truncate(tx, 'event_search, search_terms, session_search') // last: from here to the end no search can read them
    return row!.events
  })

/** The index has all events again. */
export const noteRebuilt = ({ query }: Queries) => query('update search_corpus set rebuilding = null where rebuilding is not null')
