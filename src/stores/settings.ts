// The settings that all instances share, by name. Every call needs some, so they are read from memory; they change when a person saves
// one, here or at another instance.
import { eq, sql } from 'drizzle-orm'
import type { Database, Queries } from '../../db/database.ts'
import { settings } from '../../db/schema.ts'
import { newSecret } from '../core/ids.ts'

export type SettingName = 'mcp_url' | 'loop_guard' | 'wakes_per_hour' | 'server_secret' | 'operator_key_hash' | 'push_keys'
export type SavedSettings = Awaited<ReturnType<typeof savedSettings>>

/** Loads the settings, and makes a `server_secret` if there is none. `notifyOthers` runs in the transaction that saves a setting. */
export const savedSettings = async (database: Database, notifyOthers?: (tx: Queries) => Promise<void>) => {
  await offerSetting(database, 'server_secret', newSecret()) // team_ids, links and keys that a repeated call is told again are derived from it
  let values = await readSettings(database)

  // One at a time, so that an older read never replaces a newer one.
  let reloading = Promise.resolve()
  const reload = () => {
    reloading = reloading.catch(() => {}).then(async () => void (values = await readSettings(database)))
    return reloading
  }
  return {
    get: (name: SettingName) => values.get(name),
    reload,
    /** Saves a value, or deletes it. When this resolves this instance has the new value; the others have it soon after. */
    async change(name: SettingName, value: string | undefined) {
      await database.transaction(async (tx) => {
        await (value === undefined ? forgetSetting(tx, name) : saveSetting(tx, name, value))
        await notifyOthers?.(tx)
      })
      await reload()
    },
  }
}

/** Saves a value if there is none, and returns whether it did: of two instances that start together, the first one's value counts. */
export const offerSetting = async ({ db }: Queries, name: SettingName, value: string): Promise<boolean> =>
  (await db.insert(settings).values({ name, value }).onConflictDoNothing().returning()).length > 0

const readSettings = async ({ db }: Queries): Promise<Map<string, string>> =>
  new Map((await db.select().from(settings)).map(({ name, value }) => [name, value]))

const saveSetting = async ({ db }: Queries, name: SettingName, value: string): Promise<void> => {
  await db
    .insert(settings)
    .values({ name, value })
    .onConflictDoUpdate({ target: settings.name, set: { value, updatedAt: sql`now()` } })
}

const forgetSetting = async ({ db }: Queries, name: SettingName): Promise<void> =>
  void (await db.delete(settings).where(eq(settings.name, name)))
