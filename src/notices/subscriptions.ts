// The browsers that people have asked to be told in.
import { and, asc, eq, getTableColumns, ne, sql } from 'drizzle-orm'
import { lockText } from '../../db/advisory-locks.ts'
import type { Database, Queries } from '../../db/database.ts'
import { pushSubscriptions, signIns } from '../../db/people-schema.ts'
import { sha256, uuid7 } from '../core/ids.ts'
import { signInHolds, signInIsRenewable, signInRunsOut } from '../stores/sign-ins.ts'
import type { PushTarget } from './push.ts'

export const MOST_PER_PERSON = 10

export interface NewSubscription extends PushTarget {
  person: string
  /** What the person is signed in by. */
  signInId: string
  titles: boolean
  /** What the browser says it is. */
  browser: string
}

export type Subscription = typeof pushSubscriptions.$inferSelect

/** Keeps a subscription and returns its id; the browser's own earlier one is replaced. Undefined when the person has MOST_PER_PERSON of them
 *  already. What sign-ins that have ended left behind is removed. `keys`: those in force (process/keys-in-force.ts). */
export const saveSubscription = (database: Database, keys: string, subscription: NewSubscription): Promise<string | undefined> =>
  database.transaction(async (tx) => {
    const { person } = subscription
    const endpointHash = sha256(subscription.endpoint)
    await lockText(tx, `push/${person}`)
    await removeEnded(tx)
    const mine = and(eq(pushSubscriptions.person, person), ne(pushSubscriptions.endpointHash, endpointHash), isSignedIn(keys))
    if ((await tx.db.$count(pushSubscriptions, mine)) >= MOST_PER_PERSON) return undefined
    const values = { ...subscription, endpointHash, madeAt: sql`clock_timestamp()`, lastError: null }
    const [row] = await tx.db
      .insert(pushSubscriptions)
      .values({ id: uuid7(), ...values })
      .onConflictDoUpdate({ target: pushSubscriptions.endpointHash, set: values })
      .returning({ id: pushSubscriptions.id })
    return row!.id
  })

/** The subscriptions whose sign-in still holds, the oldest first, with the time until which it does. */
export const subscriptionsOf = ({ db }: Queries, keys: string): Promise<(Subscription & { until: string })[]> =>
  db
    .select({ ...getTableColumns(pushSubscriptions), until: signInRunsOut })
    .from(pushSubscriptions)
    .innerJoin(signIns, eq(signIns.id, pushSubscriptions.signInId))
    .where(isSignedIn(keys))
    .orderBy(asc(pushSubscriptions.madeAt))

/** Has a subscription last as long as this new sign-in, if that is of the same person and nobody has ended the former one. */
export const renewSubscription = async ({ query }: Queries, id: string, signInId: string): Promise<void> =>
  void (await query(
    `update push_subscriptions p set sign_in_id = new.id from sign_ins new, sign_ins former
     where p.id = $1 and new.id = $2 and new.role = 'person' and new.name = p.person
       and former.id = p.sign_in_id and ${signInIsRenewable('former')}`,
    [id, signInId],
  ))

/** Removes a subscription, and its unsent deliveries. */
export const removeSubscription = async ({ db }: Queries, id: string): Promise<void> =>
  void (await db.delete(pushSubscriptions).where(eq(pushSubscriptions.id, id)))

/** Removes the subscriptions whose sign-in is over and cannot be renewed. One under other keys stays: another instance may have those already. */
export const removeEnded = async ({ db }: Queries): Promise<void> =>
  void (await db
    .delete(pushSubscriptions)
    .where(sql`not exists (select from sign_ins s where s.id = ${pushSubscriptions.signInId} and ${sql.raw(signInIsRenewable('s'))})`))

const isSignedIn = (keys: string) => {
  const [before, after] = signInHolds('s', '?').split('?')
  return sql`exists (select from sign_ins s where s.id = ${pushSubscriptions.signInId} and ${sql.raw(before!)}${keys}${sql.raw(after!)})`
}

/** What came of the last notice to it; undefined: it was taken. */
export const noteError = async ({ db }: Queries, id: string, error: string | undefined): Promise<void> =>
  void (await db
    .update(pushSubscriptions)
    .set({ lastError: error ?? null })
    .where(and(eq(pushSubscriptions.id, id), sql`${pushSubscriptions.lastError} is distinct from ${error ?? null}`)))
