// A corpus of bench/search.ts that is too large to be built for each run: it is built once, into a folder that is kept. Several processes copy
// log and index rows into tables without indexes, which are made at the end (search-copy.ts). So the index is packed as after a REINDEX.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Database, Queries } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { forgetEvents, lockIndex } from '../src/search/forget.ts'
import { deleteSession, logEndOf } from '../src/stores/purge.ts'
import { Indexer } from '../src/search/indexer.ts'
import { startPostgres } from '../tests/support/postgres.ts'
import postgres from 'postgres'
import type { Sample, Truth } from './questions.ts'
import type { Copied, Share } from './search-copy.ts'
import { row } from './support.ts'

/** While it is built nothing need outlive a crash: it would be built anew. */
const BUILDING = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '2GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '2GB',
  autovacuum: 'off',
}
const INDEXES_AT_ONCE = 2
const MAY_TAKE_MS = 30 * 60_000
const TOLD_EVERY = 200_000 // events

/** A corpus that is stored, and what is to be found in it. */
export interface Corpus {
  truth: Truth
  samples: Sample[]
  placed: Map<string, string> // the event of each needle
}

/** Builds the corpus of so many events in a database that has its tables and nothing in them. `tell` hears how far it is. */
export const buildCorpus = async (url: string, events: number, processes: number, tell: typeof row): Promise<Copied> => {
  const begun = performance.now()
  const since = () => `${((performance.now() - begun) / 1000).toFixed(0)} s`
  const sql = postgres(url, { max: INDEXES_AT_ONCE, onnotice() {} })
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexname as name, indexdef as definition from pg_indexes i where tablename in ('events', 'event_search')
      and not exists (select from pg_constraint where conname = indexname) order by indexname desc`
  for (const { name } of indexes) await sql.unsafe(`drop index "${name}"`)
  let done = 0
  const onEvents = (more: number) => {
    if (Math.floor((done + more) / TOLD_EVERY) > Math.floor(done / TOLD_EVERY)) tell(`  copied ${done + more}`, since())
    done += more
  }
  const copied = await Promise.all(
    Array.from({ length: processes }, (_, number) => copyShare({ url, events, number, processes }, onEvents)),
  )
  tell('  log and index rows copied', since())
  const left = [...indexes]
  const make = async () => {
    for (let index = left.pop(); index; index = left.pop()) {
      await sql.unsafe(index.definition)
      tell(`  ${index.name} made`, since())
    }
  }
  await Promise.all(Array.from({ length: INDEXES_AT_ONCE }, make))
  await sql.end()
  return {
    samples: copied.flatMap(({ samples }) => samples).sort((a, b) => a.n - b.n),
    placed: copied.flatMap(({ placed }) => placed),
  }
}

const copyShare = (share: Share, onEvents: (events: number) => void): Promise<Copied> =>
  new Promise((resolve, reject) => {
    const child = Bun.spawn([process.execPath, new URL('search-copy.ts', import.meta.url).pathname, JSON.stringify(share)], {
      stdout: 'inherit',
      stderr: 'inherit',
      ipc({ done, events }) {
        if (!done) return onEvents(events)
        resolve(done)
        child.disconnect()
      },
    })
    void child.exited.then((code) => reject(new Error(`a process that copies ended with ${code}`)))
  })

/** The corpus in this folder, which is built there if it is not; `settings` are the server's. */
export const keptCorpus = async (folder: string, events: number, settings: Record<string, string>) => {
  const about = join(folder, 'corpus.json')
  if (!existsSync(about)) {
    rmSync(join(folder, 'data'), { recursive: true, force: true }) // what a run has left that was interrupted
    const copied = await building(folder, events)
    writeFileSync(about, JSON.stringify({ events, ...copied }))
  }
  const known = JSON.parse(readFileSync(about, 'utf8')) as Copied & { events: number }
  if (known.events !== events) throw new Error(`${folder} holds a corpus of ${known.events} events: name another folder, or that number.`)
  const server = await startPostgres({ own: true, settings, folder })
  const database = await openPostgres(server.url)
  await migrate(database)
  await forgetRooms(database) // what earlier runs have added
  const corpus: Corpus = { truth: await truthOf(database), samples: known.samples, placed: new Map(known.placed) }
  console.log(`PostgreSQL ${server.version}`)
  return { database, corpus, remove: () => server.stop() }
}

const building = async (folder: string, events: number): Promise<Copied> => {
  row(`builds ${events} events`, folder)
  const server = await startPostgres({ own: true, settings: BUILDING, folder })
  const database = await openPostgres(server.url)
  await migrate(database)
  const copied = await buildCorpus(server.url, events, cpus().length, row)
  await new Indexer(database).run() // the sessions' titles
  await database.close()
  const sql = postgres(server.url, { max: 1, onnotice() {} })
  await sql`vacuum analyze`
  await sql`checkpoint`
  await sql.end()
  await server.stop()
  return copied
}

const forgetRooms = async (database: Database) => {
  const forget = (id: string) => async (tx: Queries) => {
    await lockIndex(tx)
    const all = await logEndOf(tx, id)
    if (all) await forgetEvents(tx, id, all)
    await deleteSession(tx, id)
  }
  for (const { id } of await database.query<{ id: string }>(`select id from sessions where source = 'room'`))
    await database.unhurried(forget(id), MAY_TAKE_MS)
}

// By the index itself, which is what the indexer would have made (tests/history/bulk-corpus.test.ts).
const truthOf = async ({ query }: Database): Promise<Truth> => {
  const [all] = await query<{ events: number; length: number }>('select events, length from search_corpus')
  const terms = await query<{ term: string; events: number }>('select term, events from search_terms')
  return {
    events: all!.events,
    average: all!.length / all!.events,
    frequency: new Map(terms.map(({ term, events }) => [term, events])),
  }
}
