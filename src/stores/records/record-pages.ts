// Decisions and action items together, as people look for them: a page of both by time, each with the proposal that it was.
import { eq, getTableColumns } from 'drizzle-orm'
import { isAmong, pgArray, plainArray } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { binderTo } from '../../../db/params.ts'
import { decisions, items, proposals } from '../../../db/records-schema.ts'
import { sessions } from '../../../db/schema.ts'
import type { ActionItem } from './action-items.ts'
import type { Decision } from './decisions.ts'
import { OF_SESSION, type ListedProposal } from './proposal-list.ts'
import { indexedOf, patternsOf } from './words.ts'
import type { ListPosition } from '../list-position.ts'

export const RECORD_STATUSES = ['in_force', 'withdrawn', 'open', 'done', 'dropped'] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

export interface RecordFilter {
  type?: 'decision' | 'action' | undefined
  status?: RecordStatus | undefined
  /** All of these words are in title or description. */
  search?: string | undefined
  /** Whose: who owns an action item, who took a decision. */
  personId?: string | undefined
  sessionId?: string | undefined
  seriesId?: string | undefined
  /** Ids of records that are left out. */
  without?: string[]
  /** Where the page before ended. */
  after?: ListPosition | undefined
  limit: number
}

export type ListedRecord = ListedProposal & ({ decision: Decision; item?: undefined } | { item: ActionItem; decision?: undefined })

const DECISION_IS: Partial<Record<RecordStatus, string>> = { in_force: 'withdrawn_at is null', withdrawn: 'withdrawn_at is not null' }
const ITEM_IS: Partial<Record<RecordStatus, string>> = {
  open: `status in ('open', 'claimed')`,
  done: `status = 'done'`,
  dropped: `status = 'dropped'`,
}

/** The newest first. Two statements, one more where there is something. */
export const recordPage = async (queries: Queries, filter: RecordFilter): Promise<ListedRecord[]> => {
  const found = await recordIds(queries, filter)
  return found.length === 0 ? [] : recordsByIds(queries, found)
}

// Each half is cut to the page by its own index before the two are put together.
const recordIds = async ({ query }: Queries, filter: RecordFilter): Promise<string[]> => {
  const { type, status, search, personId, sessionId, seriesId, without = [], after, limit } = filter
  const params: unknown[] = [limit]
  const bind = binderTo(params)
  const given = (value: unknown, cast: string) => `${bind(value)}::${cast}`
  const [person, session, series] = [personId, sessionId, seriesId].map((id) => id && given(id, 'uuid'))
  const left = without.length > 0 && given(plainArray(without), 'uuid[]')
  const [at, id] = after ? [given(after.at, 'timestamptz'), given(after.id, 'uuid')] : []
  const patterns = search === undefined ? [] : patternsOf(search)
  const words = [
    ...indexedOf(patterns).map((pattern) => `(title || ' ' || description) ilike ${given(pattern, 'text')}`),
    ...(patterns.length > 0 ? [`(title || ' ' || description) ilike all (${given(pgArray(patterns), 'text[]')})`] : []),
  ]
  const half = (table: string, time: string, whose: string, also: (string | undefined)[]) => {
    const conditions = [
      ...also,
      person && `${whose} = ${person}`,
      session && `session_id = ${session}`,
      series && `session_id in (select id from sessions where series_id = ${series})`,
      left && `id <> all (${left})`,
      at && `(${time}, id) < (${at}, ${id})`,
      ...words,
    ].filter(Boolean)
    return `(select id, ${time} as at from ${table} where ${conditions.join(' and ') || 'true'} order by ${time} desc, id desc limit $1)`
  }
  const halves = [
    ...(type !== 'action' && (!status || DECISION_IS[status])
      ? [half('decisions', 'at', 'decided_by_id', [status && DECISION_IS[status]])]
      : []),
    ...(type !== 'decision' && (!status || ITEM_IS[status])
      ? [half('items', 'created_at', 'owner_id', [`kind = 'action'`, status && ITEM_IS[status]])]
      : []),
  ]
  if (halves.length === 0) return []
  const rows = await query<{ id: string }>(
    `select id from (${halves.join(' union all ')}) records order by at desc, id desc limit $1`,
    params,
  )
  return rows.map(({ id: found }) => found)
}

const recordsByIds = async ({ db }: Queries, ids: string[]): Promise<ListedRecord[]> => {
  const proposal = getTableColumns(proposals)
  const [taken, made] = await Promise.all([
    db
      .select({ decision: getTableColumns(decisions), proposal, ...OF_SESSION })
      .from(decisions)
      .innerJoin(proposals, eq(proposals.id, decisions.proposalId))
      .innerJoin(sessions, eq(sessions.id, decisions.sessionId))
      .where(isAmong(decisions.id, ids)),
    db
      .select({ item: getTableColumns(items), proposal, ...OF_SESSION })
      .from(items)
      .innerJoin(proposals, eq(proposals.id, items.proposalId))
      .innerJoin(sessions, eq(sessions.id, items.sessionId))
      .where(isAmong(items.id, ids)),
  ])
  const byId = new Map<string, ListedRecord>([
    ...taken.map((row) => [row.decision.id, row] as const),
    ...made.map((row) => [row.item.id, row] as const),
  ])
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** How many decisions are in force and action items open in a session, and a text that differs when what a page shows of them does. */
export const recordsState = async ({ query }: Queries, sessionId: string): Promise<{ count: number; changed: string }> => {
  const [row] = await query<{ count: number; changed: string }>(
    `select ((select count(*) from decisions where session_id = $1 and withdrawn_at is null)
         + (select count(*) from items where session_id = $1 and kind = 'action' and status in ('open', 'claimed')))::int as count,
       concat_ws(' ', (select count(*) from decisions where session_id = $1), (select max(greatest(at, withdrawn_at)) from decisions where session_id = $1),
         (select max(updated_at) from items where session_id = $1 and kind = 'action')) as changed`,
    [sessionId],
  )
  return row!
}

/** One record of a session. */
export const recordOf = async (queries: Queries, sessionId: string, id: string): Promise<ListedRecord | undefined> => {
  const [found] = await recordsByIds(queries, [id])
  return found?.meeting.meeting_id === sessionId ? found : undefined
}
