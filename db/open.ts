// Which database it is, and what an operator is told when it cannot be opened.
import type { Database } from './database.ts'
import { lockFolder } from './lock.ts'
import { lossOf, openPglite } from './pglite.ts'
import { openPostgres } from './postgres.ts'

export interface Opened {
  database: Database
  /** Of the embedded database: where the server can be reached, and the end of our hold on the folder. */
  lock?: Awaited<ReturnType<typeof lockFolder>>
  /** Of the embedded database: somebody has removed or replaced its files. */
  isLost?: () => boolean
}

/** Opens what the configuration names. Throws with a sentence for the operator when that cannot be; `tell` hears one that is no reason
 *  to stop. */
export const openDatabase = async (
  { DATABASE_URL, DATA_DIR }: { DATABASE_URL: string | undefined; DATA_DIR: string },
  tell: (line: string) => void,
): Promise<Opened> => {
  if (DATABASE_URL) return { database: await openPostgres(DATABASE_URL).catch((error) => unreachable(DATABASE_URL, error)) }
  const lock = await lockFolder(DATA_DIR)
  try {
    return { database: await openPglite(DATA_DIR, tell), lock, isLost: lossOf(DATA_DIR) }
  } catch (error) {
    lock.release()
    throw new CannotOpen(
      `The embedded database in ${DATA_DIR} cannot be opened: ${reasonOf(error)}. Nothing in it was changed. Check the folder's permissions and free disk space, or set DATA_DIR to another folder.`,
    )
  }
}

export class CannotOpen extends Error {}

const unreachable = (url: string, error: unknown): never => {
  const { hostname, port, pathname } = URL.canParse(url) ? new URL(url) : { hostname: '?', port: '', pathname: '' }
  throw new CannotOpen(
    `The Postgres server in DATABASE_URL (${hostname}:${port || 5432}${pathname}) cannot be used: ${reasonOf(error)}. Check that it is running and that user, password and database are right; unset DATABASE_URL to use the embedded database.`,
  )
}

const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message || String((error as { code?: unknown }).code ?? error.name) : String(error)
