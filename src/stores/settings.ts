// The settings that all instances share, by name. Calls read them from memory (saved-settings.ts).
import { eq, sql } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { settings } from '../../db/schema.ts'

export type SettingName = 'mcp_url' | 'loop_guard' | 'server_secret' | 'operator_key_hash'

export const readSettings = async ({ db }: Queries): Promise<Map<string, string>> =>
  new Map((await db.select().from(settings)).map(({ name, value }) => [name, value]))

export const saveSetting = async ({ db }: Queries, name: SettingName, value: string): Promise<void> => {
  await db
    .insert(settings)
    .values({ name, value })
    .onConflictDoUpdate({ target: settings.name, set: { value, updatedAt: sql`now()` } })
}

/** Keeps what is there: of two instances that start together, the first one's value counts. Returns whether this one's was taken. */
export const offerSetting = async ({ db }: Queries, name: SettingName, value: string): Promise<boolean> =>
  (await db.insert(settings).values({ name, value }).onConflictDoNothing().returning()).length > 0

export const forgetSetting = async ({ db }: Queries, name: SettingName): Promise<void> =>
  void (await db.delete(settings).where(eq(settings.name, name)))
