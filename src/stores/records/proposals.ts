// Proposals: what agents suggest and people decide. A row is changed under its session's lock alone.
import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { proposals, type Named, type ProposalData } from '../../../db/records-schema.ts'
import { sha256 } from '../../core/ids.ts'
import { nameKey } from '../../core/text/text.ts'
import { isOverdue, RESOLVED_AT, STATUS } from './overdue.ts'

export type Proposal = typeof proposals.$inferSelect

export const proposalById = async ({ db }: Queries, id: string): Promise<Proposal | undefined> => {
  const [row] = await db.select().from(proposals).where(eq(proposals.id, id))
  return row
}

/** The proposal that became this decision or action item. */
export const proposalOfRecord = async ({ db }: Queries, recordId: string): Promise<Proposal | undefined> => {
  const of = sql`(select proposal_id from decisions where id = ${recordId} union all select proposal_id from items where id = ${recordId})`
  const [row] = await db
    .select()
    .from(proposals)
    .where(sql`${proposals.id} = ${of}`)
  return row
}

/** As readers see it: overdue is expired, also while that is not written down yet. */
export const proposalNow = async ({ db }: Queries, id: string): Promise<Proposal | undefined> => {
  const seen = { ...getTableColumns(proposals), status: STATUS, resolvedAt: RESOLVED_AT }
  const [row] = await db.select(seen).from(proposals).where(eq(proposals.id, id))
  return row
}

const LONGEST_KEY = 400 // an entry of an index takes 2,704 bytes, and a title of 200 characters can have a key 18 times as long

/** What titles are compared by: the same whatever their case and blanks. */
const titleKeyOf = (title: string): string => {
  const key = nameKey(title)
  return key.length > LONGEST_KEY ? sha256(key) : key
}

type NewProposal = Pick<Proposal, 'id' | 'sessionId' | 'type' | 'data' | 'proposedBy' | 'teamId' | 'replaces' | 'source'>

const untilExpiry = (seconds: number) => sql`statement_timestamp() + make_interval(secs => ${seconds}::int)`

export const insertProposal = async ({ db }: Queries, values: NewProposal, expiresAfterS: number): Promise<Proposal> => {
  const [row] = await db
    .insert(proposals)
    .values({
      ...values,
      titleKey: titleKeyOf(values.data.title),
      createdAt: sql`statement_timestamp()`,
      expiresAt: untilExpiry(expiresAfterS),
    })
    .returning()
  return row!
}

/** How many of a session's proposals are pending, and which of them has this type and title. */
export const pendingIn = async (
  { query }: Queries,
  sessionId: string,
  type: Proposal['type'],
  title: string,
): Promise<{ count: number; same: string | null }> => {
  const [row] = await query<{ count: number; same: string | null }>(
    `select count(*)::int as count, (array_agg(id) filter (where type = $2 and title_key = $3))[1] as same
     from proposals where session_id = $1 and status = 'pending'`,
    [sessionId, type, titleKeyOf(title)],
  )
  return row!
}

/** What becomes of a proposal that is decided or cancelled. */
export interface Resolution {
  status: 'approved' | 'rejected' | 'cancelled'
  by: Named
  feedback?: string | undefined
  recordId?: string | undefined
  /** What was decided, where that is not what was proposed. */
  data?: ProposalData | undefined
  edited?: string[] | undefined
}

/** Resolves a proposal that is still pending by the database's clock; undefined for any other. */
export const resolveProposal = async ({ db }: Queries, before: Proposal, made: Resolution): Promise<Proposal | undefined> => {
  const [row] = await db
    .update(proposals)
    .set({
      status: made.status,
      resolvedAt: sql`clock_timestamp()`,
      resolvedBy: made.by,
      feedback: made.feedback ?? null,
      recordId: made.recordId ?? null,
      ...(made.data && { data: made.data, proposed: before.data, edited: made.edited ?? [] }),
    })
    .where(and(eq(proposals.id, before.id), eq(proposals.status, 'pending'), sql`${proposals.expiresAt} > clock_timestamp()`))
    .returning()
  return row
}

/** Pending again for the full time; undefined for one that is not expired. What it was is written down before. */
export const renewProposal = async ({ db }: Queries, id: string, expiresAfterS: number): Promise<Proposal | undefined> => {
  const [row] = await db
    .update(proposals)
    .set({ status: 'pending', resolvedAt: null, expiresAt: untilExpiry(expiresAfterS) })
    .where(and(eq(proposals.id, id), eq(proposals.status, 'expired')))
    .returning()
  return row
}

/** Writes down which proposals of a session are expired. Each is returned once, to whoever wrote it. */
export const writeExpired = async ({ db }: Queries, sessionId: string): Promise<Proposal[]> =>
  db
    .update(proposals)
    .set({ status: 'expired', resolvedAt: proposals.expiresAt })
    .where(and(eq(proposals.sessionId, sessionId), isOverdue))
    .returning()

/** Sessions with proposals that are expired without that being written down. */
export const sessionsWithOverdue = async ({ query }: Queries, limit: number): Promise<string[]> => {
  const rows = await query<{ id: string }>(
    `select distinct session_id as id from proposals where status = 'pending' and expires_at <= statement_timestamp() limit $1`,
    [limit],
  )
  return rows.map(({ id }) => id)
}
