// The embedded database: one process, one connection, on this very thread.
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import {
  constants,
  cpSync,
  existsSync,
  fstatSync,
  futimesSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { CHANNEL, OID, queriesOver, rfc3339, unlessLate, withinDeadline, type Database, type RunStatement } from './database.ts'
import { statementsOn } from './pglite-statements.ts'

const asText = (value: unknown) => value as string
/** Makes PGlite's values those of the seam (db/database.ts). */
export const OPTIONS = {
  parsers: { [OID.int8]: Number, [OID.timestamptz]: rfc3339 },
  serializers: { [OID.json]: asText, [OID.jsonb]: asText },
  extensions: { pg_trgm }, // words that are alike (src/stores/records/content-search.ts)
}

/** Opens the embedded database in `folder`/pg, or in memory. The caller holds the folder's lock (db/lock.ts). `warn` gets what an operator
 *  must know. */
export const openPglite = async (folder?: string, warn: (line: string) => void = () => {}): Promise<Database> => {
  const client = await PGlite.create({ ...OPTIONS, ...(folder ? { dataDir: preparedFolder(folder, warn) } : {}) })
  const database = await databaseOn(client, folder ? spaceIn(folder) : undefined)
  const copyTo = (to: string) =>
    client.transaction(async (tx) => {
      await tx.exec('checkpoint')
      copyFiles(filesIn(folder!), to) // other statements wait for the end of a transaction, and this thread for the copy
    })
  if (folder) {
    writeFileSync(join(folder, DONE), '')
    rmSync(join(folder, BEGUN), { force: true })
  }
  return folder ? { ...database, copyTo, freeBytes: () => freeBytes(folder) } : database
}

const filesIn = (folder: string) => join(folder, 'pg')

/** Copies a database's files. Where the file system can, they are shared until one of them changes, which takes no time. */
const copyFiles = (from: string, to: string): void => cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })

/** Copies the files of an embedded database that no process has open. The caller holds the folder's lock. False when there is none. */
export const copyDatabase = (folder: string, to: string): boolean => {
  if (!holdsDatabase(filesIn(folder))) return false
  copyFiles(filesIn(folder), to)
  return true
}

/** Puts a database's files (in `files`, a folder within `folder`) in place. The caller holds the folder's lock. False when they are no
 *  whole database; nothing is changed then. */
export const putDatabase = (files: string, folder: string): boolean => {
  if (!holdsDatabase(files)) return false
  renameSync(files, filesIn(folder))
  writeFileSync(join(folder, DONE), '')
  return true
}

export const hasDatabase = (folder: string): boolean => existsSync(filesIn(folder))

/** A function that tells whether the database's files in `folder` have been removed or replaced since now. Writes then go to files that end
 *  with this process. */
export const lossDetector = (folder: string): (() => boolean) => {
  const place = join(filesIn(folder), 'PG_VERSION')
  const ours = openSync(place, 'r')
  const isOurs = () => {
    if (statSync(place).ino === fstatSync(ours).ino) return true
    const now = new Date() // some file systems renumber their files: if a time set on ours appears at the path, it is the same file
    futimesSync(ours, now, now)
    return statSync(place).mtimeMs === fstatSync(ours).mtimeMs
  }
  return () => {
    try {
      return !existsSync(place) || !isOurs()
    } catch {
      return false // the files could not be examined
    }
  }
}

/** There is too little space left on the disk, and nothing was written. Has the code that Postgres has for it. */
export class DiskFull extends Error {
  override name = 'DiskFull'
  readonly code = '53100'
}

// Without space for its next 16 MiB of journal, PGlite never returns and blocks this thread forever.
const SPARE_BYTES = 64 * 1024 * 1024
const SPACE_CHECK_MS = 100

const spaceIn = (folder: string): (() => boolean) => {
  let checkedAt = -Infinity
  let enough = true
  return () => {
    if (performance.now() - checkedAt < SPACE_CHECK_MS) return enough
    checkedAt = performance.now()
    const free = freeBytes(folder)
    if (free !== undefined) enough = free >= SPARE_BYTES
    return enough
  }
}

const freeBytes = (folder: string): number | undefined => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return undefined // some systems cannot tell
  }
}

// PGlite answers without a turn of the event loop, and Bun accepts connections, and calls the handler for each, until none is left to accept.
// Callers who open a connection for each call come back within that: they would be served for ever, and nobody else. So statements that have
// had the thread for so long let the others have a turn.
const TURN_MS = 20

/** Resolves when a statement may have the thread. */
const turnTaker = () => {
  let began: number | undefined // when the first statement of this turn came
  return async (): Promise<void> => {
    if (began !== undefined && performance.now() - began > TURN_MS) return new Promise((resolve) => setImmediate(resolve))
    if (began !== undefined) return
    began = performance.now()
    setImmediate(() => (began = undefined))
  }
}

/** Runs `work` with statements that are refused once it has ended: they would come after the transaction. */
const whileOpen = async <Result>(run: RunStatement, work: (run: RunStatement) => Promise<Result>): Promise<Result> => {
  let open = true
  const within: RunStatement = async (statement) => {
    if (!open) throw new Error('The transaction of this statement has ended.')
    return run(statement)
  }
  try {
    return await work(within)
  } finally {
    open = false
  }
}

const SELECT = /^\s*select\b/i

/** The seam over a PGlite that was made with OPTIONS. `hasSpace`: whether there is space to write; reads need none. */
export const databaseOn = async (client: PGlite, hasSpace = () => true): Promise<Database> => {
  await client.exec(`set time zone 'UTC'; set jit = off`)
  let sent = 0
  const prepared = statementsOn(client)
  const run: RunStatement = async (statement) => {
    if (!SELECT.test(statement.text) && !hasSpace())
      throw new DiskFull(`The disk of DATA_DIR has less than ${SPARE_BYTES / 1024 ** 2} MiB left: nothing is written until it has more.`)
    sent++
    return prepared(statement)
  }
  const alone: RunStatement = (statement) => client._runExclusiveTransaction(() => run(statement)) // not within a transaction of others
  const turn = turnTaker()
  const transaction: Database['transaction'] = (work, ms) => {
    const begun = unlessLate(work, ms)
    return withinDeadline(
      turn().then(() => client.transaction(() => whileOpen(run, (within) => begun(queriesOver(within))))),
      ms,
    )
  }
  return {
    engine: 'pglite',
    ...queriesOver((statement) => withinDeadline(turn().then(() => alone(statement)))),
    transaction,
    unhurried: transaction, // there is one connection, and no limit for a statement
    listen: async (onMessage, onListening) => {
      await client.listen(CHANNEL, onMessage)
      onListening(Promise.resolve(false))
    },
    close: () => client.close(),
    statements: () => sent,
  }
}

const BEGUN = 'initialising'
const DONE = 'initialised'

// A process that was killed while it made the very first database leaves files that cannot be opened and hold nothing: they are removed.
// Files that came here in another way, such as a backup, are used if they are a database, and else kept under another name.
const preparedFolder = (folder: string, warn: (line: string) => void) => {
  const data = filesIn(folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(data) && !existsSync(join(folder, DONE))) {
    const [begunHere, whole] = [existsSync(join(folder, BEGUN)), holdsDatabase(data)]
    if (begunHere && !whole) rmSync(data, { recursive: true })
    else if (begunHere || !whole) setAside(data, warn)
  }
  if (!existsSync(data)) {
    rmSync(join(folder, DONE), { force: true })
    writeFileSync(join(folder, BEGUN), '')
  }
  return data
}

const holdsDatabase = (data: string) => ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(join(data, file)))

const setAside = (data: string, warn: (line: string) => void) => {
  const aside = `${data}.unfinished-${Date.now()}`
  renameSync(data, aside)
  warn(`What was in ${data} is no database that was ever finished. It is kept as ${aside}, and a new one is made.`)
}
