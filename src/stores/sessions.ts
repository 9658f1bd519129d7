// The sessions' own rows: insert, lock, change, find by id, list for pages.
import { and, desc, eq, isNull, not, or, sql } from 'drizzle-orm'
import { prepared, type Queries } from '../../db/database.ts'
import { participants, sessionDocs, sessions } from '../../db/schema.ts'
import { loops, wakes } from '../../db/session-schema.ts'
import { sessionIndex } from '../../db/search-schema.ts'
import { isAmong, plainArray } from '../../db/arrays.ts'
import { lastEventAt } from './last-event-at.ts'
import { patternOf } from './like.ts'
import { usedUpSince } from './wakes.ts'

export type Session = typeof sessions.$inferSelect
export type NewSessionRow = typeof sessions.$inferInsert

/** Inserts a session. The team that creates it is its convener. */
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

export interface SessionOverview {
  session: Session
  docVersion: number
  convener: { teamId: string; teamName: string; leftAt: string | null } | null
  loopSince: string | null
  /** The hour began whose wakes are used up. */
  wakesSince: string | null
}

const { teamId, teamName, leftAt } = participants
const OVERVIEWS = prepared((db) =>
  db
    .select({
      session: sessions,
      docVersion: sql<number>`coalesce(${sessionDocs.version}, 0)`,
      convener: { teamId, teamName, leftAt },
      loopSince: loops.suspectedAt,
      wakesSince: usedUpSince(sql.placeholder('perHour')),
    })
    .from(sessions)
    .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
    .leftJoin(participants, and(eq(participants.sessionId, sessions.id), eq(participants.teamId, sessions.convenerTeamId)))
    .leftJoin(loops, eq(loops.sessionId, sessions.id))
    .leftJoin(wakes, eq(wakes.sessionId, sessions.id))
    .where(sql`${sessions.id} = any(${sql.placeholder('ids')}::uuid[])`)
    .prepare('overviews'),
)

/** Sessions with their document's version, their convener and whether they need a person, in one statement; undefined for an unknown id.
 *  `perHour`: the wakes that a session has. */
export const overviewsOf = async (queries: Queries, ids: string[], perHour: number): Promise<(SessionOverview | undefined)[]> => {
  const rows: SessionOverview[] = await OVERVIEWS(queries).execute({ ids: plainArray([...new Set(ids)]), perHour })
  const byId = new Map(rows.map((row) => [row.session.id, row]))
  return ids.map((id) => byId.get(id))
}

/** The titles of these sessions, by id. */
export const titlesOf = async ({ db }: Queries, ids: string[]): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await db.select({ id: sessions.id, title: sessions.title }).from(sessions).where(isAmong(sessions.id, ids))
  return new Map(rows.map(({ id, title }) => [id, title]))
}

/** Neither concluded nor archived. */
export const takesWrites = ({ status, archivedAt }: Pick<Session, 'status' | 'archivedAt'>): boolean =>
  status === 'active' && archivedAt === null

/** Archives a session, or brings it back. The caller writes the event: what decides about posts changes only with one. */
export const setArchived = async ({ db }: Queries, id: string, archived: boolean): Promise<void> =>
  void (await db
    .update(sessions)
    .set({ archivedAt: archived ? sql`clock_timestamp()` : null })
    .where(eq(sessions.id, id)))

/** Locks the session's row until the transaction ends. Every write to a session begins with this, so that they come one by one. */
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

/** Makes an imported session a child of the session that it belongs to. False when it is another one's child. */
export const setParent = async ({ db }: Queries, id: string, parentSessionId: string): Promise<boolean> => {
  const free = or(isNull(sessions.parentSessionId), eq(sessions.parentSessionId, parentSessionId))
  const set = await db
    .update(sessions)
    .set({ parentSessionId })
    .where(and(eq(sessions.id, id), free))
    .returning({ id: sessions.id })
  return set.length > 0
}

export const setConvener = async ({ db }: Queries, id: string, teamId: string): Promise<void> =>
  void (await db.update(sessions).set({ convenerTeamId: teamId }).where(eq(sessions.id, id)))

export const setClosed = async ({ db }: Queries, id: string, closed: boolean): Promise<void> => {
  const values = closed ? { status: 'closed' as const, closedAt: sql`clock_timestamp()` } : { status: 'active' as const, closedAt: null }
  await db.update(sessions).set(values).where(eq(sessions.id, id))
}

/** Advances the counters after events were written under the session's lock. */
export const advanceSession = async (
  { db }: Queries,
  id: string,
  values: Partial<typeof sessions.$inferInsert> & Pick<Session, 'lastSequence' | 'turn' | 'turnEvents' | 'lastEventAt'>,
): Promise<void> => void (await db.update(sessions).set(values).where(eq(sessions.id, id)))

/** The newest sequences of these sessions, for the sweep over those that somebody waits for. */
export const newestSequences = ({ query }: Queries, ids: string[]): Promise<{ id: string; last_sequence: number }[]> =>
  query('select id, last_sequence from sessions where id = any($1::uuid[]) and purged_at is null', [plainArray(ids)])

export interface SessionFilter {
  /** Only these sessions. */
  among?: string[]
  /** A text within the title or description. */
  search?: string
  /** With `search`: also these sessions. */
  found?: string[]
  /** None of these. */
  without?: string[]
  /** A room that is closed is concluded; of what is archived nothing is open. */
  kind?: keyof typeof KINDS | undefined
  limit: number
}

// In the words of the indexes that hold such sessions alone (db/schema.ts): with a parameter in them none would be used.
const KINDS = {
  open: sql`${sessions.status} = 'active' and ${sessions.archivedAt} is null`,
  closed: sql`${sessions.status} = 'closed'`,
  concluded: sql`${sessions.status} = 'closed' and ${sessions.source} = 'room'`,
  imported: sql`${sessions.source} <> 'room'`,
}

const WORDS = `(title || ' ' || description)` // as the index `sessions_words` has them
const SHORTEST = 3 // characters that this index can look up
const FEW = 1_000

/** The ids of the sessions with this text in their words; undefined where they are so many that the newest are found sooner one by one. */
const sessionsNamed = async ({ query }: Queries, like: string): Promise<string[] | undefined> => {
  if (like.length < SHORTEST + 2) return undefined
  const rows = await query<{ id: string }>(`select id from sessions where ${WORDS} ilike $1 limit ${FEW + 1}`, [like])
  return rows.length > FEW ? undefined : rows.map(({ id }) => id)
}

/** The sessions that pass the filter and were not purged, those with the newest activity first: for the home page, and for MCP's list of
 *  resources. Ordered by the hour first, which is no other order: an index has it, and is read as far as sessions are shown. */
export const listSessions = async (queries: Queries, { among, without, search, found = [], kind, limit }: SessionFilter) => {
  const like = search && patternOf(search)
  const named = like && (await sessionsNamed(queries, like))
  const wanted =
    like && (named ? isAmong(sessions.id, [...named, ...found]) : or(sql`${sql.raw(WORDS)} ilike ${like}`, isAmong(sessions.id, found)))
  return queries.db
    .select()
    .from(sessions)
    .where(
      and(
        isNull(sessions.purgedAt),
        among && isAmong(sessions.id, among),
        without && not(isAmong(sessions.id, without)),
        kind && KINDS[kind],
        wanted || undefined,
      ),
    )
    .orderBy(desc(sessions.activeHour), desc(lastEventAt), desc(sessions.id))
    .limit(limit)
}
