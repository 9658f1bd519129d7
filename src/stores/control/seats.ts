// Which team a key speaks as, in which session: the seats that it was given when it, or the agent that it belongs to, opened a session.
import { and, eq } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { seats } from '../../../db/control-schema.ts'
import { isUuid } from '../../core/ids.ts'
import type { Key } from '../keys.ts'
import { findMembers, type Member } from '../members.ts'

export const mayHaveSeats = ({ scope }: Key): boolean => scope === 'full' || scope === 'agent'

/** Whose a key's seats are. An agent has another key for each task: its seats are its session's. */
export const seatHolderOf = ({ id, scope, sessionId }: Key): string => (scope === 'agent' ? sessionId! : id)

export const addSeat = async ({ db }: Queries, seat: typeof seats.$inferInsert): Promise<void> =>
  void (await db.insert(seats).values(seat).onConflictDoNothing())

/** The team as which `holder` speaks in this session, gone or present. */
export const seatedMember = async (queries: Queries, holder: string, sessionId: string): Promise<Member | undefined> => {
  if (!isUuid(sessionId)) return undefined
  const [seat] = await queries.db
    .select({ teamId: seats.teamId })
    .from(seats)
    .where(and(eq(seats.holder, holder), eq(seats.sessionId, sessionId)))
  return seat && (await findMembers(queries, [{ sessionId, teamId: seat.teamId }]))[0]
}
