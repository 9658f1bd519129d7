// The keys of programs. Of a key only a hash is stored, and its visible beginning.
import { desc, eq, sql } from 'drizzle-orm'
import { isAmong } from '../../db/arrays.ts'
import type { Queries } from '../../db/database.ts'
import { keys } from '../../db/people-schema.ts'
import type { KeyScope } from '../core/key-scopes.ts'

/** A key that is good. */
export interface Key {
  id: string
  scope: KeyScope
  name: string
  sessionId: string | null
}

export type KeyRecord = typeof keys.$inferSelect

interface FoundKey {
  key_hash: string
  id: string
  scope: KeyScope
  name: string
  session_id: string | null
}

// One that belongs to a session ends when that is archived.
const FIND = `
select k.key_hash, k.id, k.scope, k.name, k.session_id from keys k left join sessions s on s.id = k.session_id
where k.key_hash = any($1::text[]) and k.revoked_at is null and s.archived_at is null`

/** The good keys among these, by their hashes (hexadecimal); undefined for each other. */
export const findKeys = async ({ query }: Queries, hashes: string[]): Promise<(Key | undefined)[]> => {
  const rows = await query<FoundKey>(FIND, [`{${hashes.join(',')}}`])
  const found = new Map(rows.map(({ key_hash, session_id: sessionId, ...key }) => [key_hash, { ...key, sessionId }]))
  return hashes.map((hash) => found.get(hash))
}

/** Saves a key. False when one of this id is there already. */
export const insertKey = async ({ db }: Queries, values: typeof keys.$inferInsert): Promise<boolean> =>
  (await db.insert(keys).values(values).onConflictDoNothing().returning({ id: keys.id })).length > 0

/** The newest keys, revoked ones too. */
export const listKeys = async ({ db }: Queries, limit: number): Promise<KeyRecord[]> =>
  db.select().from(keys).orderBy(desc(keys.madeAt), desc(keys.id)).limit(limit)

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

export const isGoodKey = async ({ query }: Queries, id: string): Promise<boolean> =>
  (await query('select 1 from keys where id = $1 and revoked_at is null', [id])).length > 0

export const noteKeyUse = async ({ db }: Queries, ids: string[]): Promise<void> =>
  void (await db
    .update(keys)
    .set({ lastUsedAt: sql`date_trunc('minute', now())` })
    .where(isAmong(keys.id, ids)))
