// The names that are bound to links, each with its newest link. Of a link only a hash of its secret is stored: where `keys` are given, of it and
// these, so that it is good under them alone.
import { asc, eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { people } from '../../db/people-schema.ts'
import { sameText, sha256, type Token } from '../core/ids.ts'
import { nameKey } from '../core/text/text.ts'

export type NamedPerson = typeof people.$inferSelect

const hashOf = (secret: string, keys?: string) => sha256(keys === undefined ? secret : `${secret}/${keys}`)
const isOf = (hash: string, { secret }: Token, keys: string) => sameText(hash, hashOf(secret)) || sameText(hash, hashOf(secret, keys))

/** Binds a name to a link that is good for so many days. It replaces the link before. */
export const bindName = async (
  { db }: Queries,
  name: string,
  { handle, secret }: Token,
  { days, keys }: { days: number; keys?: string | undefined },
): Promise<NamedPerson> => {
  const values = {
    name,
    linkId: handle,
    linkHash: hashOf(secret, keys),
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

/** Whom a name belongs to; undefined for one that nobody has. */
export const namedPerson = async ({ db }: Queries, name: string): Promise<NamedPerson | undefined> => {
  const [row] = await db
    .select()
    .from(people)
    .where(eq(people.nameKey, nameKey(name)))
  return row
}

/** Ends the link of a name that nobody has used. */
export const endLink = async ({ query }: Queries, name: string): Promise<void> =>
  void (await query('update people set link_expires_at = clock_timestamp() where name_key = $1 and link_used_at is null', [nameKey(name)]))

/** Uses up a link, and returns its name; undefined for one that is unknown, used or expired. Of two at once one gets it. */
export const useLink = async ({ db, query }: Queries, link: Token, keys: string): Promise<string | undefined> => {
  const { handle } = link
  const [row] = await db.select({ hash: people.linkHash }).from(people).where(eq(people.linkId, handle))
  if (!row || !isOf(row.hash, link, keys)) return undefined
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
export const linkState = async ({ query }: Queries, link: Token, keys: string): Promise<LinkState | undefined> => {
  const [row] = await query<LinkState & { hash: string }>(
    'select name, link_hash as hash, link_expires_at as "expiresAt", link_used_at as used, link_expires_at <= clock_timestamp() as expired from people where link_id = $1',
    [link.handle],
  )
  if (!row || !isOf(row.hash, link, keys)) return undefined
  const { hash: _, ...state } = row
  return state
}

export const listPeople = async ({ db }: Queries): Promise<NamedPerson[]> => db.select().from(people).orderBy(asc(people.nameKey))
