// The embedded database: one process, one connection, on this very thread.
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { existsSync, fstatSync, futimesSync, mkdirSync, openSync, renameSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHANNEL, OID, queriesOver, rfc3339, unlessLate, withinDeadline, type Database, type Run } from './database.ts'

const asText = (value: unknown) => value as string
/** Values as the seam has them (db/database.ts). */
export const OPTIONS = {
  parsers: { [OID.int8]: Number, [OID.timestamptz]: rfc3339 },
  serializers: { [OID.json]: asText, [OID.jsonb]: asText },
}

/** Opens the embedded database in `folder`/pg, or in memory. The caller holds the folder's lock (db/lock.ts). `tell` hears what an
 *  operator must know. */
export const openPglite = async (folder?: string, tell: (line: string) => void = () => {}): Promise<Database> => {
  const client = await PGlite.create({ ...OPTIONS, ...(folder ? { dataDir: prepared(folder, tell) } : {}) })
  const database = await databaseOn(client, folder ? spaceIn(folder) : undefined)
  if (folder) {
    writeFileSync(join(folder, DONE), '')
    rmSync(join(folder, BEGUN), { force: true })
  }
  return database
}

/** Tells, whenever it is asked, whether the database's files in `folder` are gone or others since. What is written then goes to files that
 *  end with this process. */
export const lossOf = (folder: string): (() => boolean) => {
  const place = join(folder, 'pg', 'PG_VERSION')
  const ours = openSync(place, 'r')
  const isOurs = () => {
    if (statSync(place).ino === fstatSync(ours).ino) return true
    const now = new Date() // some file systems number their files anew: a time that is set on the one is seen on the other, if it is the same
    futimesSync(ours, now, now)
    return statSync(place).mtimeMs === fstatSync(ours).mtimeMs
  }
  return () => {
    try {
      return !existsSync(place) || !isOurs()
    } catch {
      return false // who cannot look does not know
    }
  }
}

/** Too little is left on the disk to write: a failure as Postgres tells it, and nothing was written. */
export class DiskFull extends Error {
  override name = 'DiskFull'
  readonly code = '53100'
}

// With no place for its next 16 MiB of journal, PGlite never comes back, and holds this very thread for good.
const SPARE_BYTES = 64 * 1024 * 1024
const LOOK_EVERY_MS = 100

const spaceIn = (folder: string): (() => boolean) => {
  let lookedAt = -Infinity
  let enough = true
  return () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return enough
    lookedAt = performance.now()
    try {
      const { bavail, bsize } = statfsSync(folder)
      enough = bavail * bsize >= SPARE_BYTES
    } catch {} // a system that cannot tell
    return enough
  }
}

const READS = /^\s*select\b/i

/** The seam over a PGlite that was made with OPTIONS. `hasSpace`: there is room to write; reading needs none. */
export const databaseOn = async (client: PGlite, hasSpace = () => true): Promise<Database> => {
  await client.exec(`set time zone 'UTC'; set jit = off`)
  let sent = 0
  const over =
    (connection: PGlite | Transaction): Run =>
    async ({ text, params, asArrays }) => {
      if (!READS.test(text) && !hasSpace())
        throw new DiskFull(`The disk of DATA_DIR has less than ${SPARE_BYTES / 1024 ** 2} MiB left: nothing is written until it has more.`)
      sent++
      return (await connection.query(text, params, { rowMode: asArrays ? 'array' : 'object' })).rows as unknown[]
    }
  const run = over(client)
  const transaction: Database['transaction'] = (work, ms) => {
    const begun = unlessLate(work, ms)
    return withinDeadline(
      client.transaction((tx) => begun(queriesOver(over(tx)))),
      ms,
    )
  }
  return {
    engine: 'pglite',
    ...queriesOver((statement) => withinDeadline(run(statement))),
    transaction,
    unhurried: transaction, // there is one connection, and no limit
    listen: async (heard, connected) => {
      await client.listen(CHANNEL, heard)
      connected(Promise.resolve(false))
    },
    close: () => client.close(),
    statements: () => sent,
  }
}

const BEGUN = 'initialising'
const DONE = 'initialised'

// A process killed while it made the very first database leaves a folder that cannot be opened, and nothing in it worth keeping. What
// came here in another way, as a backup does, is used or kept.
const prepared = (folder: string, tell: (line: string) => void) => {
  const data = join(folder, 'pg')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (existsSync(data) && !existsSync(join(folder, DONE))) {
    const [begunHere, whole] = [existsSync(join(folder, BEGUN)), holdsDatabase(data)]
    if (begunHere && !whole) rmSync(data, { recursive: true })
    else if (begunHere || !whole) setAside(data, tell)
  }
  if (!existsSync(data)) {
    rmSync(join(folder, DONE), { force: true })
    writeFileSync(join(folder, BEGUN), '')
  }
  return data
}

const holdsDatabase = (data: string) => ['PG_VERSION', 'global/pg_control'].every((file) => existsSync(join(data, file)))

const setAside = (data: string, tell: (line: string) => void) => {
  const aside = `${data}.unfinished-${Date.now()}`
  renameSync(data, aside)
  tell(`What was in ${data} is no database that was ever finished. It is kept as ${aside}, and a new one is made.`)
}
