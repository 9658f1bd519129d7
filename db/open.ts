// Opens the configured database, or tells the operator why it cannot be opened.
import { SPARE_BYTES, type Database } from './database.ts'
import { CannotOpen, FilesGone, reasonOf } from './errors.ts'
import { lockFolder } from './lock.ts'
import { openPglite } from './pglite.ts'
import { freeBytes, lossDetector } from './pglite-files.ts'
import { openPostgres } from './postgres.ts'
import { checkPostgres, Unfit } from './start-checks.ts'

export interface OpenedDatabase {
  database: Database
  /** Embedded database only: the folder's lock, which announces where the server is reached, and is released at the end. */
  lock?: Awaited<ReturnType<typeof lockFolder>>
  /** Embedded database only: whether somebody has removed or replaced its files. */
  isLost?: () => boolean
}

/** Opens the configured database. Throws with a sentence for the operator when it cannot be opened; `warn` gets what is no reason to
 *  stop. */
export const openDatabase = async (
  { DATABASE_URL, DATA_DIR }: { DATABASE_URL: string | undefined; DATA_DIR: string },
  warn: (line: string) => void,
): Promise<OpenedDatabase> => {
  if (DATABASE_URL) return { database: await checkedPostgres(DATABASE_URL, warn).catch((error) => cannotUse(DATABASE_URL, error)) }
  const lock = await lockFolder(DATA_DIR)
  try {
    return { database: await openPglite(DATA_DIR, warn), lock, isLost: lossDetector(DATA_DIR) }
  } catch (error) {
    lock.release()
    if (error instanceof FilesGone) throw new CannotOpen(`${error.message} Nothing was changed.`)
    const left = freeBytes(DATA_DIR)
    const space = left !== undefined && left < SPARE_BYTES ? `, with ${Math.floor(left / 1024 ** 2)} MiB left on its disk` : ''
    throw new CannotOpen(
      `The embedded database in ${DATA_DIR} cannot be opened: ${reasonOf(error)}${space}. Nothing in it was changed. Check the folder's permissions and free disk space, or set DATA_DIR to another folder.`,
    )
  }
}

const checkedPostgres = async (url: string, warn: (line: string) => void) => {
  await checkPostgres(url, warn)
  return openPostgres(url)
}

const cannotUse = (url: string, error: unknown): never => {
  if (isCutShort(url)) throw new CannotOpen(CUT_SHORT)
  if (error instanceof Unfit)
    throw new CannotOpen(`The Postgres database in DATABASE_URL (${addressOf(url)}) cannot be used. ${error.message}`)
  throw new CannotOpen(
    `The Postgres server in DATABASE_URL (${addressOf(url)}) cannot be used: ${reasonOf(error).replace(/\.$/, '')}. Check that it is running and that user, password and database are right; unset DATABASE_URL to use the embedded database.`,
  )
}

// A / ? or # in a password ends what a URL takes for its host, and the @ of the host comes behind it, where only a value of an option may have
// one. What stands there is a part of the password, which no line may show.
const isCutShort = (url: string): boolean => {
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(url) ?? []
  return /[:@]/.test(authority) && /^(?:\/[^?]*|[?#][^=]*)@/.test(rest)
}
const CUT_SHORT =
  'The password in DATABASE_URL has a sign that ends the host of a URL. Write it percent-encoded: / as %2F, ? as %3F, # as %23, @ as %40.'

// The host and database of a URL, from behind its last @ only: a password may contain anything.
const addressOf = (url: string): string => {
  const { hostname, port, pathname } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '', pathname: '' }
  if (hostname) return `${hostname}:${port || 5432}${pathname}`
  const several = /@([\w.:[\]-]+(?:,[\w.:[\]-]+)+(?:\/[\w-]+)?)[^@]*$/.exec(url)
  return several ? several[1]! : '?'
}
