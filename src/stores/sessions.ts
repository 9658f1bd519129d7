// The sessions' own rows: made, locked, changed, found by id or for the lists of pages.
import { and, desc, eq, ilike, ne, not, or, sql } from 'drizzle-orm'
import { prepared, type Queries } from '../../db/database.ts'
import { loops, participants, sessionDocs, sessions } from '../../db/schema.ts'
import { sessionIndex } from '../../db/search-schema.ts'
import { isAmong, plainArray } from '../../db/arrays.ts'
import { isLive, lastActivity, type Since } from './home-queries.ts'

export type Session = typeof sessions.$inferSelect

/** The team that creates a session convenes it. */
export const insertSession = async ({ db }: Queries, values: typeof sessions.$inferInsert): Promise<Session> => {
  const [row] = await db
    .insert(sessions)
    .values({ convenerTeamId: values.createdByTeamId ?? null, ...values })
    .returning()
  const { id, createdAt, lastEventAt } = row!
  await db.insert(sessionIndex).values({ sessionId: id, startedAt: createdAt, updatedAt: lastEventAt ?? createdAt })
  return row!
}

const ID = sql.placeholder('id')
const BY_ID = prepared((db) => db.select().from(sessions).where(eq(sessions.id, ID)).prepare('session'))

export const sessionById = async (queries: Queries, id: string): Promise<Session | undefined> => {
  const [row] = await BY_ID(queries).execute({ id })
  return row
}

export interface Overview {
  session: Session
  docVersion: number
  convener: { teamId: string; teamName: string; leftAt: string | null } | null
  loopSince: string | null
}

const { teamId, teamName, leftAt } = participants
const OVERVIEWS = prepared((db) =>
  db
    .select({
      session: sessions,
      docVersion: sql<number>`coalesce(${sessionDocs.version}, 0)`,
      convener: { teamId, teamName, leftAt },
      loopSince: loops.suspectedAt,
    })
    .from(sessions)
    .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
    .leftJoin(participants, and(eq(participants.sessionId, sessions.id), eq(participants.teamId, sessions.convenerTeamId)))
    .leftJoin(loops, eq(loops.sessionId, sessions.id))
    .where(sql`${sessions.id} = any(${sql.placeholder('ids')}::uuid[])`)
    .prepare('overviews'),
)

/** Sessions with their doc's version, their convener and whether they look like a loop, in one read; undefined where there is none. */
export const overviewsOf = async (queries: Queries, ids: string[]): Promise<(Overview | undefined)[]> => {
  const rows: Overview[] = await OVERVIEWS(queries).execute({ ids: plainArray([...new Set(ids)]) })
  const byId = new Map(rows.map((row) => [row.session.id, row]))
  return ids.map((id) => byId.get(id))
}

/** What these sessions are called. */
export const titlesOf = async ({ db }: Queries, ids: string[]): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await db.select({ id: sessions.id, title: sessions.title }).from(sessions).where(isAmong(sessions.id, ids))
  return new Map(rows.map(({ id, title }) => [id, title]))
}

/** Holds the session for the rest of the transaction: every write of a session begins with this, and so they come one by one. */
export const lockSession = async ({ db }: Queries, id: string): Promise<Session | undefined> => {
  const [row] = await db.select().from(sessions).where(eq(sessions.id, id)).for('no key update')
  return row
}

export const setMetadata = async ({ db }: Queries, id: string, values: { title: string; description: string }): Promise<string> => {
  const [row] = await db
    .update(sessions)
    .set({ ...values, updatedAt: sql`clock_timestamp()` })
    .where(eq(sessions.id, id))
    .returning({ updatedAt: sessions.updatedAt })
  return row!.updatedAt
}

/** The room that an imported session belongs to. */
export const setParent = async ({ db }: Queries, id: string, parentSessionId: string): Promise<void> =>
  void (await db.update(sessions).set({ parentSessionId }).where(eq(sessions.id, id)))

export const setConvener = async ({ db }: Queries, id: string, teamId: string): Promise<void> =>
  void (await db.update(sessions).set({ convenerTeamId: teamId }).where(eq(sessions.id, id)))

export const setClosed = async ({ db }: Queries, id: string, closed: boolean): Promise<void> => {
  const values = closed ? { status: 'closed' as const, closedAt: sql`clock_timestamp()` } : { status: 'active' as const, closedAt: null }
  await db.update(sessions).set(values).where(eq(sessions.id, id))
}

/** Moves the counters on after events were written under the session's lock. */
export const advanceSession = async (
  { db }: Queries,
  id: string,
  values: Partial<typeof sessions.$inferInsert> & Pick<Session, 'lastSequence' | 'turn' | 'turnEvents' | 'lastEventAt'>,
): Promise<void> => void (await db.update(sessions).set(values).where(eq(sessions.id, id)))

/** The newest sequences of the sessions that are waited for: what the sweep compares with. */
export const newestSequences = ({ query }: Queries, ids: string[]): Promise<{ id: string; last_sequence: number }[]> =>
  query('select id, last_sequence from sessions where id = any($1::uuid[])', [plainArray(ids)])

export interface Listed {
  /** None but these. */
  among?: string[]
  /** Stands in the title or description. */
  search?: string
  /** Those that were found otherwise. */
  found?: string[]
  status?: 'active' | 'closed'
  imported?: boolean
  /** Open, and live by that measure or not. */
  live?: { is: boolean; since: Since }
  limit: number
}

/** Newest activity first, for the home page. */
export const listSessions = (queries: Queries, { among, search, found = [], status, imported, live, limit }: Listed) => {
  const like = search && `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const isIt = live && isLive(queries, live.since)
  return queries.db
    .select()
    .from(sessions)
    .where(
      and(
        among && isAmong(sessions.id, among),
        status && eq(sessions.status, status),
        imported === undefined ? undefined : (imported ? ne : eq)(sessions.source, 'room'),
        live && eq(sessions.status, 'active'),
        isIt && (live.is ? isIt : not(isIt)),
        like ? or(ilike(sessions.title, like), ilike(sessions.description, like), isAmong(sessions.id, found)) : undefined,
      ),
    )
    .orderBy(desc(lastActivity), desc(sessions.id))
    .limit(limit)
}
