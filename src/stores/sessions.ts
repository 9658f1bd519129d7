import { and, desc, eq, ilike, or, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { acks, participants, sessionDocs, sessions } from '../../db/schema.ts'

export type Session = typeof sessions.$inferSelect

export const insertSession = async ({ db }: Queries, values: typeof sessions.$inferInsert): Promise<Session> => {
  const [row] = await db.insert(sessions).values(values).returning()
  return row!
}

export const sessionById = async ({ db }: Queries, id: string): Promise<Session | undefined> => {
  const [row] = await db.select().from(sessions).where(eq(sessions.id, id))
  return row
}

export interface Overview {
  session: Session
  docVersion: number
  convener: { teamId: string; teamName: string; leftAt: string | null } | null
}

/** A session with its doc's version and its convener, in one read. */
export const overviewOf = async ({ db }: Queries, id: string): Promise<Overview | undefined> => {
  const { teamId, teamName, leftAt } = participants
  const [row] = await db
    .select({ session: sessions, docVersion: sql<number>`coalesce(${sessionDocs.version}, 0)`, convener: { teamId, teamName, leftAt } })
    .from(sessions)
    .leftJoin(sessionDocs, eq(sessionDocs.sessionId, sessions.id))
    .leftJoin(participants, and(eq(participants.sessionId, sessions.id), eq(participants.teamId, sessions.createdByTeamId)))
    .where(eq(sessions.id, id))
  return row
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

export const setClosed = async ({ db }: Queries, id: string, closed: boolean): Promise<void> => {
  const values = closed ? { status: 'closed' as const, closedAt: sql`clock_timestamp()` } : { status: 'active' as const, closedAt: null }
  await db.update(sessions).set(values).where(eq(sessions.id, id))
}

/** The newest sequences of the sessions that are waited for: what the sweep compares with. */
export const newestSequences = ({ query }: Queries, ids: string[]): Promise<{ id: string; last_sequence: number }[]> =>
  query('select id, last_sequence from sessions where id = any($1::uuid[])', [`{${ids.join(',')}}`])

export const acknowledge = async ({ db }: Queries, sessionId: string, teamId: string, cursor: number) => {
  const [row] = await db
    .insert(acks)
    .values({ sessionId, teamId, cursor, at: sql`clock_timestamp()` })
    .onConflictDoUpdate({
      target: [acks.sessionId, acks.teamId],
      set: { cursor: sql`greatest(${acks.cursor}, excluded.cursor)`, at: sql`clock_timestamp()` },
    })
    .returning({ cursor: acks.cursor, at: acks.at })
  return row!
}

export const acksOf = ({ db }: Queries, sessionId: string): Promise<{ teamId: string; cursor: number }[]> =>
  db.select({ teamId: acks.teamId, cursor: acks.cursor }).from(acks).where(eq(acks.sessionId, sessionId))

/** Newest activity first, for the home page. `search` looks into titles and descriptions. */
export const listSessions = (
  { db }: Queries,
  { search, status, limit }: { search?: string; status?: 'active' | 'closed'; limit: number },
) => {
  const like = search && `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const activity = sql`coalesce(${sessions.lastEventAt}, ${sessions.createdAt})`
  return db
    .select()
    .from(sessions)
    .where(
      and(status && eq(sessions.status, status), like ? or(ilike(sessions.title, like), ilike(sessions.description, like)) : undefined),
    )
    .orderBy(desc(activity), desc(sessions.id))
    .limit(limit)
}
