// Who is signed in where: a row for each browser, which its cookie names.
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { isAmong, plainArray } from '../../db/arrays.ts'
import type { Queries } from '../../db/database.ts'
import { signIns } from '../../db/people-schema.ts'
import { nameKey } from '../core/text/text.ts'
import type { ListPosition } from './list-position.ts'

const LASTS = "interval '30 days'"
const RENEWABLE = "interval '60 days'"
const KEPT = "interval '90 days'" // rows that ended are kept for a while, for whoever asks who was there

export type SignIn = typeof signIns.$inferSelect

/** The sign-ins of these ids that have not ended; undefined for each other. */
export const findSignIns = async ({ db }: Queries, ids: string[]): Promise<(SignIn | undefined)[]> => {
  const rows = await db
    .select()
    .from(signIns)
    .where(and(isAmong(signIns.id, ids), lasts()))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => byId.get(id))
}

/** The condition that the row `s` of sign_ins has not ended and is good under the keys that the parameter `under` gives. */
export const signInHolds = (s: string, under: string): string => `${s}.under = ${under} and ${signInLasts(s)}`

const signInLasts = (s: string): string => `${s}.ended_at is null and ${s}.made_at > now() - ${LASTS}`

/** The condition that the row `s` of sign_ins, under whatever keys, has not ended, or ran out so lately that its person may come back to
 *  what hangs on it. One that somebody ended is over at once. */
export const signInIsRenewable = (s: string): string => `${s}.ended_at is null and ${s}.made_at > now() - ${RENEWABLE}`

/** When a sign-in of the query runs out. */
export const signInRunsOut = sql`${signIns.madeAt} + ${sql.raw(LASTS)}`.mapWith(signIns.madeAt)

const lasts = () => and(isNull(signIns.endedAt), sql`${signIns.madeAt} > now() - ${sql.raw(LASTS)}`)

export const insertSignIn = async ({ db, query }: Queries, values: typeof signIns.$inferInsert): Promise<void> => {
  await db.insert(signIns).values(values)
  await query(`delete from sign_ins where made_at < now() - ${KEPT}`)
}

interface SignInPart {
  after: ListPosition | undefined
  limit: number
}

/** The sign-ins that are good under these keys (`under`, as in the schema), the one used last first: so many from a place on. */
export const listSignIns = async ({ db }: Queries, under: string, { after, limit }: SignInPart): Promise<SignIn[]> =>
  db
    .select()
    .from(signIns)
    .where(
      and(
        eq(signIns.under, under),
        lasts(),
        after && sql`(${signIns.lastUsedAt}, ${signIns.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(signIns.lastUsedAt), desc(signIns.id))
    .limit(limit)

/** Ends these sign-ins; returns which of them had not ended. */
export const endSignIns = async ({ query }: Queries, ids: string[]): Promise<string[]> => {
  const rows = await query<{ id: string }>(
    'update sign_ins set ended_at = clock_timestamp() where id = any($1::uuid[]) and ended_at is null returning id',
    [plainArray(ids)],
  )
  return rows.map(({ id }) => id)
}

/** Whether somebody has come by a link of this name, however it was written, as far as rows are kept. */
export const hasSignedIn = async ({ query }: Queries, name: string): Promise<boolean> => {
  const names = await query<{ name: string }>('select distinct name from sign_ins where verified')
  return names.some((one) => nameKey(one.name) === nameKey(name))
}

export const unverifiedSignIns = async ({ query }: Queries): Promise<{ id: string; name: string }[]> =>
  query('select id, name from sign_ins where ended_at is null and not verified')

export const noteSignInUse = async ({ db }: Queries, ids: string[]): Promise<void> =>
  void (await db
    .update(signIns)
    .set({ lastUsedAt: sql`date_trunc('minute', now())` })
    .where(isAmong(signIns.id, ids)))

export const isSignedIn = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query('select 1 from sign_ins where id = $1 and ended_at is null', [id])).length > 0
