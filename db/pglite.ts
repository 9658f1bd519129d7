// The embedded database: one process, one connection, on this very thread.
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import {
  CHANNEL,
  OID,
  queriesOver,
  rfc3339,
  SPARE_BYTES,
  unlessLate,
  withinDeadline,
  type Database,
  type RunStatement,
} from './database.ts'
import { DiskFull } from './errors.ts'
import { copyFiles, filesIn, freeBytes, noteWhole, preparedFolder } from './pglite-files.ts'
import { statementsOn } from './pglite-statements.ts'

const unchanged = (value: unknown) => value as string // JSON is text already
/** Makes PGlite's values those of the seam (db/database.ts). */
export const OPTIONS = {
  parsers: { [OID.int8]: Number, [OID.timestamptz]: rfc3339 },
  serializers: { [OID.json]: unchanged, [OID.jsonb]: unchanged },
  extensions: { pg_trgm }, // words that are alike (src/stores/records/content-search.ts)
}

/** Opens the embedded database in `folder`/pg, or in memory. The caller holds the folder's lock (db/lock.ts). `warn` gets what an operator
 *  must know. */
export const openPglite = async (folder?: string, warn: (line: string) => void = () => {}): Promise<Database> => {
  const client = await PGlite.create({ ...OPTIONS, ...(folder ? { dataDir: preparedFolder(folder, warn) } : {}) })
  const database = await databaseOn(client, folder ? spaceIn(filesIn(folder)) : undefined)
  const copyTo = (to: string) =>
    client.transaction(async (tx) => {
      await tx.exec('checkpoint')
      await copyFiles(filesIn(folder!), to) // other statements wait for the end of a transaction
    })
  // A checkpoint frees space: it goes past the seam, which refuses whatever writes on a full disk.
  const checkpoint = async () => {
    const { rows } = await client.query<{ bytes: number }>(JOURNAL)
    if (rows[0]!.bytes > CHECKPOINT_AFTER_BYTES) await client.exec('checkpoint')
  }
  if (folder) noteWhole(folder)
  return folder ? { ...database, copyTo, checkpoint, freeBytes: () => freeBytes(filesIn(folder)) } : database
}

// PGlite has no process that makes checkpoints, so that its journal would keep all that was written since the start, and a start after a crash
// would go through all of it.
const CHECKPOINT_AFTER_BYTES = 64 * 1024 ** 2
const JOURNAL = 'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::int8 as bytes from pg_control_checkpoint()'

const SPACE_CHECK_MS = 100

const spaceIn = (files: string): (() => boolean) => {
  let checkedAt = -Infinity
  let enough = true
  return () => {
    if (performance.now() - checkedAt < SPACE_CHECK_MS) return enough
    checkedAt = performance.now()
    const free = freeBytes(files)
    if (free !== undefined) enough = free >= SPARE_BYTES
    return enough
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

// Statements that only read. Any other may write, as an insert within `with` does.
const READS = /^[\s(]*(?:select\b|with\b(?![^]*\b(?:insert|update|delete|merge)\b))/i

/** The seam over a PGlite that was made with OPTIONS. `hasSpace`: whether there is space to write; reads need none. */
export const databaseOn = async (client: PGlite, hasSpace = () => true): Promise<Database> => {
  // As db/session-settings.ts says of Postgres: a plan that was made while a table was empty must not scan it when it is large.
  await client.exec(`set time zone 'UTC'; set jit = off; set enable_seqscan = off`)
  let sent = 0
  const prepared = statementsOn(client)
  const run: RunStatement = async (statement) => {
    if (!READS.test(statement.text) && !hasSpace())
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
