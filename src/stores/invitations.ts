// Invitations of agents to a session. Of a code only a hash of its secret is stored.
import { desc, eq } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { invitations } from '../../db/people-schema.ts'
import { sameText, sha256, type Token } from '../core/ids.ts'

export type Invitation = typeof invitations.$inferSelect

interface NewInvitation {
  sessionId: string
  by: string
  joins: number
  days: number
}

/** Saves an invitation; returns when it expires. */
export const insertInvitation = async (
  { query }: Queries,
  { handle, secret }: Token,
  { sessionId, by, joins, days }: NewInvitation,
): Promise<string> => {
  const [row] = await query<{ expires_at: string }>(
    `insert into invitations (id, session_id, code_hash, made_by, joins, made_at, expires_at)
     values ($1, $2, $3, $4, $5, clock_timestamp(), clock_timestamp() + make_interval(days => $6::int)) returning expires_at`,
    [handle, sessionId, sha256(secret), by, joins, days],
  )
  return row!.expires_at
}

/** The invitation that a code proves, in whatever state it is. */
export const invitationBy = async ({ db }: Queries, { handle, secret }: Token): Promise<Invitation | undefined> => {
  const [row] = await db.select().from(invitations).where(eq(invitations.id, handle))
  return row && sameText(row.codeHash, sha256(secret)) ? row : undefined
}

const GOOD = 'revoked_at is null and expires_at > clock_timestamp() and joined < joins'

/** Whether a team could join by it now: it is neither revoked, nor over, nor used up. */
export const isGoodInvitation = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query(`select 1 from invitations where id = $1 and ${GOOD}`, [id])).length > 0

/** Counts a join. False when none is left, or the invitation is over: of two at once for the last place one gets it. */
export const countJoin = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query(`update invitations set joined = joined + 1 where id = $1 and ${GOOD} returning id`, [id])).length > 0

/** A session's invitations, newest first. */
export const invitationsOf = async ({ db }: Queries, sessionId: string): Promise<Invitation[]> =>
  db.select().from(invitations).where(eq(invitations.sessionId, sessionId)).orderBy(desc(invitations.madeAt), desc(invitations.id))

/** Revokes it; returns when that was, also if it was revoked before; undefined for one that this session does not have. */
export const setRevoked = async ({ query }: Queries, sessionId: string, id: string): Promise<string | undefined> => {
  const [row] = await query<{ revoked_at: string }>(
    'update invitations set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1 and session_id = $2 returning revoked_at',
    [id, sessionId],
  )
  return row?.revoked_at
}
