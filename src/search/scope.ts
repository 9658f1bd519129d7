// The part of the index that a search is limited to, and how many events it has: by that ranking.ts chooses its strategy.
import type { Queries } from '../../db/database.ts'
import { binderTo } from '../../db/params.ts'
import { plainArray } from '../../db/arrays.ts'
import { AGENT_NAMES } from '../core/agent-names.ts'

export interface Scope {
  session?: string | undefined
  turn?: number | undefined
  /** Times, as RFC 3339: from this one on, and before that one. */
  from?: string | undefined
  before?: string | undefined
  /** The author: a team or a person, by name. */
  by?: string | undefined
}

/** A scope with the sessions that its author wrote in. `sessions` is undefined without an author, or when they are too many to list. */
export interface ResolvedScope extends Scope {
  sessions?: string[] | undefined
}

type Bind = (value: unknown) => string

const MOST_SESSIONS = 1_000
const SAMPLE = 4_000 // events: a share of 5 % is estimated as 3 to 7

/** So many events of a scope are all scored. */
export const RANK_WITHIN = 20_000

export const resolveScope = async (queries: Queries, scope: Scope): Promise<ResolvedScope> => ({
  ...scope,
  sessions: scope.by === undefined || scope.session !== undefined ? undefined : await sessionsWith(queries, scope.by),
})

const OF_TRANSCRIPTS = new Set<string>(Object.values(AGENT_NAMES))

// All transcripts of a format have the same agent, whose sessions are too many, whatever teams have its name besides.
const sessionsWith = async ({ query }: Queries, name: string): Promise<string[] | undefined> => {
  if (OF_TRANSCRIPTS.has(name)) return undefined
  const rows = await query<{ id: string }>(
    `select session_id as id from participants where team_name = $1
     union select session_id from events
       where author_name = $1 and author <> 'agent' and (author <> 'team' or source_line is not null) limit ${MOST_SESSIONS + 1}`,
    [name],
  )
  return rows.length === 0 || rows.length > MOST_SESSIONS ? undefined : rows.map(({ id }) => id)
}

/** Does the scope filter by a column that the index of terms does not have: the time or the author? */
export const isNarrowed = ({ from, before, by }: Scope) => from !== undefined || before !== undefined || by !== undefined

/** The SQL conditions on the index's rows, for all of the scope but its author. */
export const liesWithin = ({ session, turn, sessions, from, before }: ResolvedScope, bind: Bind): string[] => [
  ...(session === undefined ? [] : [`session_id = ${bind(session)}::uuid`]),
  ...(turn === undefined ? [] : [`turn = ${bind(turn)}::int`]),
  ...(sessions === undefined ? [] : [`session_id = any(${bind(plainArray(sessions))}::uuid[])`]),
  ...(from === undefined ? [] : [`at >= ${bind(from)}::timestamptz`]),
  ...(before === undefined ? [] : [`at < ${bind(before)}::timestamptz`]),
]

/** The SQL condition for the author, who is only in the log and the roster. */
export const writtenBy = ({ by }: ResolvedScope, bind: Bind): string[] => {
  if (by === undefined) return []
  const name = bind(by)
  return [
    `exists (select from events e left join participants p on p.session_id = e.session_id and p.team_id = e.posted_by_team_id
       where e.session_id = found.session_id and e.sequence = found.sequence and (e.author_name = ${name} or p.team_name = ${name}))`,
  ]
}

/** How many of a session's events are indexed. */
export const eventsOfSession = async ({ query }: Queries, id: string): Promise<number> => {
  const [row] = await query<{ events: number }>('select indexed_sequence as events from session_index where session_id = $1', [id])
  return row?.events ?? 0
}

/** The share of all indexed events that the scope has; undefined when these are few enough to be all scored. */
export const shareWithin = async ({ query }: Queries, place: ResolvedScope, events: number): Promise<number | undefined> => {
  const params: unknown[] = []
  const within = liesWithin(place, binderTo(params)).join(' and ')
  if (within === '') return 1 // an author whose sessions are too many
  const [few] = await query<{ n: number }>(
    `select count(*)::int as n from (select from event_search where ${within} limit ${RANK_WITHIN + 1}) there`,
    params,
  )
  if (few!.n <= RANK_WITHIN) return undefined
  const [sample] = await query<{ all: number; there: number }>(
    `select count(*)::int as all, (count(*) filter (where ${within}))::int as there
     from event_search tablesample system (${Math.min(100, (100 * SAMPLE) / events)}) repeatable (1)`,
    params,
  )
  return Math.min(1, Math.max(RANK_WITHIN / events, sample!.there / Math.max(1, sample!.all)))
}
