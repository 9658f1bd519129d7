// The settings that all instances share, by name. Calls read them from memory: every call asks for some, and they change when a person
// saves one, here or at another instance.
import { eq, sql } from 'drizzle-orm'
import type { Database, Queries } from '../../db/database.ts'
import { settings } from '../../db/schema.ts'
import { newSecret } from '../core/ids.ts'

export type SettingName = 'mcp_url' | 'loop_guard' | 'server_secret' | 'operator_key_hash'
export type SavedSettings = Awaited<ReturnType<typeof savedSettings>>

/** Reads them, and sees to it that there is a `server_secret`. `tellOthers` runs in the transaction that saves one. */
export const savedSettings = async (database: Database, tellOthers?: (tx: Queries) => Promise<void>) => {
  await offerSetting(database, 'server_secret', newSecret()) // tokens of idempotent calls, and cookies, are made with it
  let known = await readSettings(database)

  // One after the other: an older read must not come in after a newer one.
  let reloading = Promise.resolve()
  const reload = () => {
    reloading = reloading.catch(() => {}).then(async () => void (known = await readSettings(database)))
    return reloading
  }
  return {
    get: (name: SettingName) => known.get(name),
    reload,
    /** Saves a value, or forgets it; this instance knows of it when this resolves, the others soon. */
    async change(name: SettingName, value: string | undefined) {
      await database.transaction(async (tx) => {
        await (value === undefined ? forgetSetting(tx, name) : saveSetting(tx, name, value))
        await tellOthers?.(tx)
      })
      await reload()
    },
  }
}

/** Keeps what is there: of two instances that start together, the first one's value counts. Returns whether this one's was taken. */
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
