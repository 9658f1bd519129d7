// The settings as they were last read: every call asks for some, and they change when a person saves one, here or at another instance.
import type { Database } from '../../db/database.ts'
import { newSecret } from '../core/ids.ts'
import type { Announcer } from './announcer.ts'
import { forgetSetting, offerSetting, readSettings, saveSetting, type SettingName } from './settings.ts'

export type SavedSettings = Awaited<ReturnType<typeof savedSettings>>

/** Reads them, and sees to it that there is a `server_secret`. */
export const savedSettings = async (database: Database, announcer: Announcer | undefined) => {
  await offerSetting(database, 'server_secret', newSecret()) // tokens of idempotent calls and cookies hang on it
  let settings = await readSettings(database)

  // One after the other: an older read must not come in after a newer one.
  let reloading = Promise.resolve()
  const reload = () => {
    reloading = reloading.catch(() => {}).then(async () => void (settings = await readSettings(database)))
    return reloading
  }
  return {
    get: (name: SettingName) => settings.get(name),
    reload,
    /** Saves a value, or forgets it; this instance knows of it when this resolves, the others soon. */
    async change(name: SettingName, value: string | undefined) {
      await database.transaction(async (tx) => {
        await (value === undefined ? forgetSetting(tx, name) : saveSetting(tx, name, value))
        await announcer?.settingsSaved(tx)
      })
      await reload()
    },
  }
}
