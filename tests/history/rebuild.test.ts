// A rebuild of the index: what search says of it is true to the last event, and whoever serves goes on with one that was cut short.
import { expect, test } from 'bun:test'
import { INDEX_LOCK, indexBatch } from '../../src/search/event-index.ts'
import { emptyIndex } from '../../src/search/index-state.ts'
import { purge } from '../../src/process/purge.ts'
import { controlScene } from '../support/control-scene.ts'
import { askOverRest, trace } from '../support/history.ts'
import { NEVER_MS, onEveryEngine, room, viaRest, type Parley } from '../support/parley.ts'
import { FULL } from '../support/full.ts'
import { said } from '../support/played-runner.ts'

const corpusOf = async ({ database }: Parley) =>
  (await database.query<{ events: number; rebuilding: number | null }>('select events, rebuilding from search_corpus'))[0]!
const warningsOf = async (parley: Parley) =>
  ((await askOverRest(parley)('search_sessions', { query: 'parser' })).warnings as string[]).filter((line) => line.includes('index'))

/** Indexes all that is behind, as another process would, and leaves it at that. */
const indexAll = async ({ database }: Parley) => {
  const sessions = await database.query<{ id: string }>('select id from sessions')
  const ids = sessions.map(({ id }) => id)
  for (let batch = await indexBatch(database, ids, { limit: 3 }); batch !== 'busy' && batch.more;)
    batch = await indexBatch(database, ids, { limit: 3 })
}

onEveryEngine(
  (parley) => {
    test('it has found all when as many events can be found as it says there are, also with repeated answers and a purge meanwhile', async () => {
      const agent = await controlScene(parley())
      for (const prompt of ['Add a test.', 'Run it.']) {
        await agent.start(prompt)
        await agent.runner.work('Done: the parser passes.', [said('Done: the parser passes.')])
      }
      const { id: purged } = await trace(parley(), [Array.from({ length: 9 }, () => ({ type: 'user_input', text: 'the parser' }))])
      await parley().services.indexer.run()
      const events = await emptyIndex(parley().database)
      expect(await indexBatch(parley().database, [purged], { limit: 3 })).toMatchObject({ events: 3, more: true })
      expect(await warningsOf(parley())).toEqual([`The index is being rebuilt: 3 of ${events} events can be found so far.`])
      await purge(parley().services, { ids: [purged], kinds: [], yes: true })
      await indexAll(parley())
      const corpus = await corpusOf(parley())
      expect(corpus.events).toBeGreaterThan(0)
      expect(corpus.rebuilding).toBe(corpus.events)
      await parley().services.indexer.rebuild(() => {})
      expect(await corpusOf(parley())).toEqual({ events: corpus.events, rebuilding: null })
      expect(await warningsOf(parley())).toEqual([])
    })

    test('meanwhile a list of sessions says too that it is of an index that is not complete', async () => {
      const { id } = await trace(parley(), [
        [
          { type: 'user_input', text: 'Run it.' },
          { type: 'tool_call', text: 'bash' },
        ],
      ])
      await parley().services.indexer.run()
      const listed = async () => {
        const range = { start_datetime: '2000-01-01T00:00:00Z', end_datetime: '2100-01-01T00:00:00Z' }
        const { data, warnings } = await askOverRest(parley())('list_sessions', { ...range, mode: 'tool_calling', limit: 100 })
        return { there: data.sessions.some((row: any) => row.id === `session:${id}`), warnings }
      }
      expect(await listed()).toEqual({ there: true, warnings: [] })
      const events = await emptyIndex(parley().database)
      const warnings = [`The index is being rebuilt: 0 of ${events} events can be found so far.`]
      expect(await listed()).toEqual({ there: false, warnings })
      await parley().services.indexer.rebuild(() => {})
      expect(await listed()).toEqual({ there: true, warnings: [] })
    })

    test.skipIf(!FULL)('it waits for whoever indexes at that moment, longer than statements may take elsewhere', async () => {
      const { database, engine } = parley()
      if (engine !== 'postgres') return // there is one connection: it waits in the queue
      const indexing = database.unhurried(async ({ query }) => {
        await query('select pg_advisory_xact_lock($1)', [INDEX_LOCK])
        await query('select pg_sleep(6)')
      }, 30_000)
      await parley().services.indexer.rebuild(() => {})
      await indexing
    })

    test('one that was cut short is gone on with by whoever serves, however long ago the sessions were active', async () => {
      const { id: old } = await trace(parley(), [Array.from({ length: 9 }, () => ({ type: 'user_input', text: 'the parser of old' }))])
      await room(viaRest(parley()))
      const { indexer } = parley().services
      await indexer.run()
      const before = await corpusOf(parley())
      await emptyIndex(parley().database)
      await indexBatch(parley().database, [old], { limit: 3 })
      indexer.compareRecent()
      await indexer.run()
      expect(await corpusOf(parley())).toEqual({ events: before.events, rebuilding: null })
      expect(await warningsOf(parley())).toEqual([])
    })
  },
  {},
  { intervals: { index: NEVER_MS, peers: NEVER_MS, recheck: NEVER_MS } },
)
