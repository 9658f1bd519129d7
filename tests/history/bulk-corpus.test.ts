// The corpus that bench/search.ts builds by copying has the index that the indexer makes of the same log. In the long form: nothing that serves
// uses it.
import { expect, test } from 'bun:test'
import { buildCorpus } from '../../bench/search-kept.ts'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { FULL } from '../support/full.ts'
import { freshDatabase, startPostgres } from '../support/postgres.ts'

const EVENTS = 4_000 // of several sessions, so that each process has some, and the indexer makes most of them in bulk

const INDEX = {
  event_search: 'session_id, sequence',
  search_terms: 'term',
  search_corpus: 'id',
  session_index: 'session_id',
  session_search: 'session_id',
  pg_indexes: 'indexname', // those that were dropped meanwhile
}

const indexOf = async (database: Database) => {
  const tables: Record<string, object[]> = {}
  for (const [table, order] of Object.entries(INDEX)) {
    const where = table === 'pg_indexes' ? `where schemaname = 'public'` : ''
    tables[table] = await database.query<object>(`select * from ${table} ${where} order by ${order}`)
  }
  return tables
}

// The first few, so that a failure can be read.
const differing = (some: object[], others: object[]) => {
  const [a, b] = [some, others].map((rows) => new Set(rows.map((row) => JSON.stringify(row))))
  return [...a!.symmetricDifference(b!)].slice(0, 4)
}

test.if(FULL)(
  'a copied corpus has the index that a reindex makes',
  async () => {
    const postgres = await startPostgres()
    const { url, drop } = await freshDatabase(postgres.url)
    const database = await openPostgres(url)
    try {
      await migrate(database)
      const { pg_indexes } = await indexOf(database)
      const { samples, placed } = await buildCorpus(url, EVENTS, 2, () => {})
      await new Indexer(database).run()
      const built = await indexOf(database)
      expect(built.event_search).toHaveLength(EVENTS)
      expect(built.pg_indexes).toEqual(pg_indexes!)
      expect(new Set(built.session_index!.map((row: any) => row.mode))).not.toEqual(new Set(['chat']))
      expect([samples.length > 500, placed.length]).toEqual([true, 60])
      await new Indexer(database).rebuild(() => {})
      const made = await indexOf(database)
      for (const table of Object.keys(INDEX)) expect([table, ...differing(built[table]!, made[table]!)]).toEqual([table])
    } finally {
      await database.close()
      await drop()
      await postgres.stop()
    }
  },
  180_000,
)
