// Lists sessions by time, from their rows in the search index.
import type { Queries } from '../../db/database.ts'
import { binderTo } from '../../db/params.ts'
import { sessionColumns, type SessionRow } from './history.ts'
import { pageSize } from './page-size.ts'
import type { ListPosition } from './list-position.ts'

export interface SessionListFilter {
  start: string
  end: string
  mode: string | null
  order: 'asc' | 'desc'
  after: ListPosition | undefined
  limit: number
}

/** A list of more sessions than this may take longer. */
export const NARROW = 5_000

/** A page of the sessions that overlap a time range and were not purged, whether there are more than NARROW in all, and how far the index is
 *  that the rows are of. */
export const sessionsWithin = async ({ query }: Queries, { start, end, mode, order, after, limit }: SessionListFilter) => {
  const matches = `updated_at >= $1::timestamptz and started_at < $2::timestamptz${mode === null ? '' : ' and mode = $3'}`
  const filter = [start, end, ...(mode === null ? [] : [mode])]
  const params: unknown[] = [...filter]
  const bind = binderTo(params)
  const comparison = order === 'asc' ? '>' : '<'
  // A subquery for each row of the page: a join would read all sessions.
  const there = 'and (select p.purged_at is null from sessions p where p.id = session_id)'
  const onwards = after ? `and (updated_at, session_id) ${comparison} (${bind(after.at)}::timestamptz, ${bind(after.id)}::uuid)` : ''
  const [rows, [count]] = await Promise.all([
    query<SessionRow & { mode: string }>(
      `select ${sessionColumns('l.updated_at')}, l.mode
       from (select * from session_index where ${matches} ${onwards} ${there} order by updated_at ${order}, session_id ${order} limit ${pageSize(limit)}) l
       join sessions s on s.id = l.session_id order by l.updated_at ${order}, l.session_id ${order}`,
      params,
    ),
    query<{ many: boolean; events: number; rebuilding: number | null }>(
      `select m.many, c.events, c.rebuilding from search_corpus c,
         (select count(*) > ${NARROW} as many from (select from session_index where ${matches} limit ${NARROW + 1}) n) m`,
      filter,
    ),
  ])
  const { many, ...corpus } = count!
  return { rows: rows.slice(0, limit), many, corpus }
}
