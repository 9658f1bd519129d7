// The keys of programs. Of a key only a hash is stored, and its visible beginning.
import { and, desc, eq, sql } from 'drizzle-orm'
import { isAmong } from '../../db/arrays.ts'
import type { Queries } from '../../db/database.ts'
import { keys } from '../../db/people-schema.ts'
import type { KeyScope } from '../core/key-scopes.ts'
import type { ListPosition } from './list-position.ts'

/** A key that is good. */
export interface Key {
  id: string
  scope: KeyScope
  name: string
  sessionId: string | null
}

export type KeyRecord = typeof keys.$inferSelect

// One that belongs to a session ends when that is archived.
const FIND = `
select k.key_hash, k.id, k.scope, k.name, k.session_id as "sessionId" from keys k left join sessions s on s.id = k.session_id
where k.key_hash = any($1::text[]) and k.revoked_at is null and s.archived_at is null`

/** The good keys among these, by their hashes (hexadecimal); undefined for each other. */
export const findKeys = async ({ query }: Queries, hashes: string[]): Promise<(Key | undefined)[]> => {
  const rows = await query<Key & { key_hash: string }>(FIND, [`{${hashes.join(',')}}`])
  const found = new Map(rows.map(({ key_hash, ...key }) => [key_hash, key]))
  return hashes.map((hash) => found.get(hash))
}

/** Saves a key. False when one of this id is there already. */
export const insertKey = async ({ db }: Queries, values: typeof keys.$inferInsert): Promise<boolean> =>
  (await db.insert(keys).values(values).onConflictDoNothing().returning({ id: keys.id })).length > 0

// Keys of the scope agent are the server's own, one for each task, and end with it: nobody looks for one that is over.
const BY_PEOPLE = sql`${keys.scope} <> 'agent'`
const LISTS = {
  good: sql`${BY_PEOPLE} and ${keys.revokedAt} is null`,
  revoked: sql`${BY_PEOPLE} and ${keys.revokedAt} is not null`,
  tasks: sql`${keys.scope} = 'agent' and ${keys.revokedAt} is null`,
}
/** The keys that people made and that are good, those of them that are revoked, and those of tasks that are under way. */
export type KeyList = keyof typeof LISTS
export const KEY_LISTS = Object.keys(LISTS) as KeyList[]

/** The keys of one list, the newest first: all of them, or so many from a place on. */
export const listKeys = async (
  { db }: Queries,
  list: KeyList,
  part?: { after: ListPosition | undefined; limit: number },
): Promise<KeyRecord[]> => {
  const { after, limit } = part ?? {}
  const rows = db
    .select()
    .from(keys)
    .where(and(LISTS[list], after && sql`(${keys.madeAt}, ${keys.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`))
    .orderBy(desc(keys.madeAt), desc(keys.id))
  return limit === undefined ? rows : rows.limit(limit)
}

/** How many keys each list has. */
export const countKeys = async ({ db }: Queries): Promise<Record<KeyList, number>> => {
  const count = (list: KeyList) => sql<number>`count(*) filter (where ${LISTS[list]})::int`
  const [row] = await db.select({ good: count('good'), revoked: count('revoked'), tasks: count('tasks') }).from(keys)
  return row!
}

export const keysWithPrefix = async ({ db }: Queries, prefix: string): Promise<KeyRecord[]> =>
  db.select().from(keys).where(eq(keys.prefix, prefix))

/** The keys of this session that are good. */
export const keysOfSession = async ({ query }: Queries, sessionId: string): Promise<string[]> =>
  (await query<{ id: string }>('select id from keys where session_id = $1 and revoked_at is null', [sessionId])).map(({ id }) => id)

/** Revokes these keys. One that was revoked before keeps its time. */
export const revokeKeys = async ({ db }: Queries, ids: string[]): Promise<void> =>
  void (await db
    .update(keys)
    .set({ revokedAt: sql`coalesce(${keys.revokedAt}, clock_timestamp())` })
    .where(isAmong(keys.id, ids)))

/** Whether the key is not revoked. One that belongs to an archived session was revoked with it. */
export const isGoodKey = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query('select 1 from keys where id = $1 and revoked_at is null', [id])).length > 0

export const noteKeyUse = async ({ db }: Queries, ids: string[]): Promise<void> =>
  void (await db
    .update(keys)
    .set({ lastUsedAt: sql`date_trunc('minute', now())` })
    .where(isAmong(keys.id, ids)))
