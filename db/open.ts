// Which database it is, and what an operator is told when it cannot be opened.
import type { Database } from './database.ts'
import { lockFolder } from './lock.ts'
import { lossOf, openPglite } from './pglite.ts'
import { openPostgres } from './postgres.ts'
import { checkPostgres, Unfit } from './start-checks.ts'

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
  if (DATABASE_URL) return { database: await checkedPostgres(DATABASE_URL, tell).catch((error) => unusable(DATABASE_URL, error)) }
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

const checkedPostgres = async (url: string, tell: (line: string) => void) => {
  await checkPostgres(url, tell)
  return openPostgres(url)
}

const unusable = (url: string, error: unknown): never => {
  if (error instanceof Unfit)
    throw new CannotOpen(`The Postgres database in DATABASE_URL (${placeOf(url)}) cannot be used. ${error.message}`)
  throw new CannotOpen(
    `The Postgres server in DATABASE_URL (${placeOf(url)}) cannot be used: ${reasonOf(error).replace(/\.$/, '')}. Check that it is running and that user, password and database are right; unset DATABASE_URL to use the embedded database.`,
  )
}

// Never more than what follows the last @: a password may hold anything.
const placeOf = (url: string): string => {
  const { hostname, port, pathname } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '', pathname: '' }
  if (hostname) return `${hostname}:${port || 5432}${pathname}`
  const several = /@([\w.:[\]-]+(?:,[\w.:[\]-]+)+(?:\/[\w-]+)?)[^@]*$/.exec(url)
  return several ? several[1]! : '?'
}

/** What an error says, in its own words. */
export const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message || String((error as { code?: unknown }).code ?? error.name) : String(error)
