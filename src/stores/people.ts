// The names that are bound to links, each with its newest link. Of a link only a hash of its secret is stored.
import { asc, eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { people } from '../../db/people-schema.ts'
import { sameText, sha256, type Token } from '../core/ids.ts'
import { nameKey } from '../core/text/text.ts'

export type NamedPerson = typeof people.$inferSelect

/** Binds a name to a link that is good for so many days. It replaces the link before. */
export const bindName = async ({ db }: Queries, name: string, { handle, secret }: Token, days: number): Promise<NamedPerson> => {
  const values = {
    name,
    linkId: handle,
    linkHash: sha256(secret),
    linkMadeAt: sql`clock_timestamp()`,
    linkExpiresAt: sql`clock_timestamp() + make_interval(days => ${days}::int)`,
    linkUsedAt: null,
  }
  const [row] = await db
    .insert(people)
    .values({ nameKey: nameKey(name), ...values })
    .onConflictDoUpdate({ target: people.nameKey, set: values })
    .returning()
  return row!
}

/** The name as it was bound; undefined for one that nobody has. */
export const boundName = async ({ db }: Queries, name: string): Promise<string | undefined> => {
  const [row] = await db
    .select({ name: people.name })
    .from(people)
    .where(eq(people.nameKey, nameKey(name)))
  return row?.name
}

/** Uses up a link, and returns its name; undefined for one that is unknown, used or expired. Of two at once one gets it. */
export const useLink = async ({ db, query }: Queries, { handle, secret }: Token): Promise<string | undefined> => {
  const [row] = await db.select({ hash: people.linkHash }).from(people).where(eq(people.linkId, handle))
  if (!row || !sameText(row.hash, sha256(secret))) return undefined
  const [used] = await query<{ name: string }>(
    'update people set link_used_at = clock_timestamp() where link_id = $1 and link_used_at is null and link_expires_at > clock_timestamp() returning name',
    [handle],
  )
  return used?.name
}

/** The state of a link. `used`: when it was used, or null. */
export interface LinkState {
  name: string
  expiresAt: string
  used: string | null
  expired: boolean
}

/** What has become of a link, which stays as it is; undefined for one that is unknown: not whole, or replaced by a newer one. */
export const linkState = async ({ query }: Queries, { handle, secret }: Token): Promise<LinkState | undefined> => {
  const [row] = await query<LinkState & { hash: string }>(
    'select name, link_hash as hash, link_expires_at as "expiresAt", link_used_at as used, link_expires_at <= clock_timestamp() as expired from people where link_id = $1',
    [handle],
  )
  if (!row || !sameText(row.hash, sha256(secret))) return undefined
  const { hash: _, ...state } = row
  return state
}

export const listPeople = async ({ db }: Queries): Promise<NamedPerson[]> => db.select().from(people).orderBy(asc(people.nameKey))
