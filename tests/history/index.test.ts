// The index: close behind, exact after a crash, and rebuilt without a change to anything that was found.
import { describe, expect, test } from 'bun:test'
import { history } from '../../bench/corpus.ts'
import { SEARCHED_BY_DEFAULT } from '../../src/core/events/event-types.ts'
import { B, K1, termsOf } from '../../src/search/tokenizer.ts'
import { databaseOf, HERE } from '../faults/engines.ts'
import { openRoom, post } from '../faults/rooms.ts'
import { holdLock } from '../support/held-lock.ts'
import { askOverRest, indexed, trace, type Step } from '../support/history.ts'
import { done, onEveryEngine, room, soon, viaRest, type Served } from '../support/parley.ts'
import { FULL } from '../support/full.ts'
import { runServer, startServer } from '../support/server.ts'

const word = () => `w${crypto.randomUUID().replaceAll('-', '')}`
// As many different words, others for each number.
const words = (n: number, count: number) => Array.from({ length: count }, (_, i) => `w${n}x${i}`).join(' ')

onEveryEngine((parley, engine) => {
  const found = async (query: string, n_hits = 50): Promise<any[]> =>
    (await askOverRest(parley())('search_sessions', { query, n_hits })).data.results

  test('what it counts is what the log holds, however it was written', async () => {
    const { alex, bea } = await room(viaRest(parley()))
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => done([alex, bea][i % 2]!('post_message', { content: `lexer ${i} and parser ${i % 7}` }))),
    )
    await indexed(parley())
    const { database } = parley()
    const [corpus] = await database.query<any>('select * from search_corpus')
    const [log] = await database.query<any>(
      'select (select count(*)::int from events) as events, (select sum(length)::int from event_search) as length',
    )
    expect([corpus.events, corpus.length]).toEqual([log.events, log.length])
    const wrong = await database.query(
      `select term, t.events, ndoc from search_terms t full join ts_stat('select tsv from event_search') s on s.word = t.term where t.events is distinct from ndoc`,
    )
    expect(wrong).toEqual([])
  })

  test.skipIf(engine === 'pglite' && !FULL)(
    'the richest text there can be goes in, and what comes after it',
    async () => {
      const last = `w${crypto.randomUUID().replaceAll('-', '')}`
      const rich = (letter: string) => Array.from({ length: 30_000 }, (_, i) => `${letter.repeat(90)}${i}/${i}_${letter}`).join(' ')
      const { events } = await trace(parley(), [
        [
          { type: 'tool_response', text: rich('a') },
          { type: 'tool_response', text: rich('ß') },
          { type: 'user_input', text: last },
        ],
      ])
      await parley().services.indexer.run()
      expect((await found(last)).map(({ id }) => id)).toEqual([events[2]])
      expect((await found('a_29999'))[0]?.id ?? (await found('29999'))[0]?.id).toBe(events[0])
    },
    180_000,
  )

  test('it costs no query while nothing is written', async () => {
    const { database, close } = await parley().beside({}, {}, { intervals: { presence: 20, index: 20, loops: 20 } })
    await indexed(parley())
    await soon('half a second passes with one statement at most', async () => {
      const before = database.statements()
      await Bun.sleep(500)
      return database.statements() - before <= 1 // the sweep of who is present
    })
    await close()
  })

  test.skipIf(!FULL)(
    'a session that cannot be indexed holds up no other, and is indexed once it can be',
    async () => {
      const { query } = parley().database
      const call = viaRest(parley())
      const said = `w${crypto.randomUUID().replaceAll('-', '')}`
      const rooms = [await room(call), await room(call), await room(call)]
      const broken = rooms[1]!
      await indexed(parley())
      await query(`create function refuse_index() returns trigger language plpgsql as $$
      begin if new.session_id = '${broken.id}' then raise exception 'not this one'; end if; return new; end $$`)
      for (const table of ['event_search', 'session_search'])
        await query(`create trigger refuse_index before insert on ${table} for each row execute function refuse_index()`)
      const sessionsWith = async (table: string) =>
        (await query<{ id: string }>(`select session_id as id from ${table} where tsv @@ '${said}'::tsquery`))
          .map(({ id }) => id)
          .toSorted()
      const others = [rooms[0]!.id, rooms[2]!.id].toSorted()
      const othersIn = (table: string) => soon(`the others are in ${table}`, async () => (await sessionsWith(table)).length === 2)
      for (const { alex } of rooms) await done(alex('post_message', { content: said }))
      await othersIn('event_search')
      for (const { alex } of rooms) {
        await done(alex('append_to_session_doc', { text: said }))
        await Bun.sleep(150) // so that the next one comes soon after documents were looked at
      }
      await othersIn('session_search')
      expect([await sessionsWith('event_search'), await sessionsWith('session_search')]).toEqual([others, others])
      await query('drop function refuse_index() cascade')
      await soon(
        'all are indexed',
        async () => (await sessionsWith('event_search')).length + (await sessionsWith('session_search')).length === 6,
      )
    },
    180_000,
  )

  test('rebuilt, it finds the same under the same ids', async () => {
    const said = `w${crypto.randomUUID().replaceAll('-', '')}`
    const { events, session } = await trace(parley(), [
      Array.from({ length: 5 }, (_, i) => ({ type: 'user_input', text: `${said} ${'again '.repeat(i)}` })),
    ])
    await indexed(parley())
    const before = await found(said)
    expect(before.map(({ id }) => id).toSorted()).toEqual(events.toSorted())
    const steps: [number, number][] = []
    await parley().services.indexer.rebuild((count, all) => void steps.push([count, all]))
    const [log] = await parley().database.query<{ events: number }>('select count(*)::int as events from events')
    expect(steps[0]).toEqual([0, log!.events])
    expect(steps.at(-1)).toEqual([log!.events, log!.events])
    steps.length = 0
    await parley().services.indexer.rebuild(
      (count, all) => void steps.push([count, all]),
      () => false,
    )
    expect(steps).toEqual([[0, log!.events]]) // told to stop, it leaves the rest to whoever runs
    await parley().services.indexer.run() // which then notes that it is rebuilt
    await indexed(parley())
    const after = await found(said)
    expect(after).toEqual(before)
    expect((await askOverRest(parley())('open', { id: session })).data.session.event_count).toBe(5)
  })

  describe('while it is behind', () => {
    const held = async (work: (said: string) => Promise<void>) => {
      const { query } = parley().database
      await indexed(parley())
      await query(`create function hold_index() returns trigger language plpgsql as $$ begin raise exception 'held'; end $$`)
      await query('create trigger hold_index before insert on event_search for each row execute function hold_index()')
      const said = word()
      const { alex } = await room(viaRest(parley()))
      await done(alex('post_message', { content: said }))
      await work(said).finally(() => query('drop function hold_index() cascade'))
    }
    const lagOf = async ({ send }: Served) =>
      Number(/^parley_search_index_lag_seconds (\S+)$/m.exec(await (await send('/metrics')).text())![1])
    const BEHIND = /^The search index is \d+ s behind: what was written since \d{4}-\S+Z may not be found yet\. Search again later\.$/
    const warningsBy = async (instance: Served, said: string) =>
      (await askOverRest(instance)('search_sessions', { query: said })).warnings as string[]
    const tells = async (instance: Served, said: string) => (await warningsBy(instance, said)).some((line) => BEHIND.test(line))

    test('answers, the page and the metrics say so, until it has caught up', async () => {
      let said = ''
      await held(async (word) => {
        said = word
        await soon('the answer says so', () => tells(parley(), word))
        expect(await lagOf(parley())).toBeGreaterThan(2)
        const page = await (await parley().send(`/search?q=${word}`)).text()
        expect(page).toMatch(/The search index is \d+ s behind/)
        const range = { start_datetime: '2000-01-01T00:00:00Z', end_datetime: '2100-01-01T00:00:00Z' }
        expect((await askOverRest(parley())('list_sessions', range)).warnings).toEqual([expect.stringMatching(BEHIND)])
      })
      await soon('it is found', async () => (await found(said)).length === 1)
      await soon('nothing is behind', async () => (await lagOf(parley())) === 0)
      expect(await warningsBy(parley(), said)).toEqual([])
      expect(await (await parley().send(`/search?q=${said}`)).text()).not.toContain('behind')
    }, 180_000)

    test.skipIf(!FULL)(
      'with a title, answers say that this may not be found yet',
      async () => {
        const { query } = parley().database
        await query(`create function hold_titles() returns trigger language plpgsql as $$ begin raise exception 'held'; end $$`)
        await query('create trigger hold_titles before insert or update on session_search for each row execute function hold_titles()')
        const said = word()
        await room(viaRest(parley()), { title: `About ${said}` })
        const BEFORE =
          /^A title or document that was changed since \d{4}-\S+Z may not be found by its new words yet\. Search again later\.$/
        const tells = async () => (await warningsBy(parley(), said)).some((line) => BEFORE.test(line))
        await soon('the answer says so', tells).finally(() => query('drop function hold_titles() cascade'))
        await soon('nothing is behind', async () => !(await tells()))
        expect((await warningsBy(parley(), said)).join()).toStartWith('Found in the title')
      },
      60_000,
    )

    test.skipIf(!FULL)(
      'a restart does not forget since when',
      async () => {
        await held(async (word) => {
          await soon('the answer says so', () => tells(parley(), word))
          const after = await parley().beside({})
          await soon('the one that came later says so too', () => tells(after, word))
          expect(await lagOf(after)).toBeGreaterThan(2)
          await after.close()
        })
        await indexed(parley())
      },
      180_000,
    )
  })

  test('while it is being rebuilt, answers say so', async () => {
    const { database } = parley()
    const said = word()
    await done((await room(viaRest(parley()))).alex('post_message', { content: said }))
    await indexed(parley())
    await database.query('update search_corpus set rebuilding = events + 1000')
    const { warnings } = await askOverRest(parley())('search_sessions', { query: said })
    await database.query('update search_corpus set rebuilding = null')
    expect(warnings).toEqual([expect.stringMatching(/^The index is being rebuilt: \d+ of \d+ events can be found so far\.$/)])
  })

  if (engine === 'postgres') {
    test.skipIf(!FULL)(
      'a rebuild gives way to what reads the index for long, such as a backup, and searches go on beside both',
      async () => {
        const { database, services } = parley()
        const said = word()
        await done((await room(viaRest(parley()))).alex('post_message', { content: said }))
        await indexed(parley())
        const release = await holdLock(database, 'lock table event_search in access share mode')
        const rebuilding = services.indexer.rebuild(() => {})
        await soon('it wants the table for itself', async () => {
          const waiting = `select from pg_locks where not granted and relation = 'event_search'::regclass and mode = 'AccessExclusiveLock'`
          return (await database.query(waiting)).length > 0
        })
        expect(await found(said)).toHaveLength(1)
        await release()
        await rebuilding
        expect(await database.query('select from search_corpus where rebuilding is not null')).toEqual([])
      },
      180_000,
    )

    // The statements are the same on the embedded database, where so many events take three times as long.
    test.skipIf(!FULL)(
      'of more events than are all scored, those found are the best',
      async () => {
        const { database } = parley()
        const sessions = [...Map.groupBy(history(6_000), ({ session }) => session).values()]
        const ids: string[] = []
        for (const events of sessions) {
          const turns: Step[][] = [...Map.groupBy(events, ({ turn }) => turn).values()]
          ids.push(...(await trace(parley(), turns)).events)
        }
        await parley().services.indexer.run()
        const texts = sessions.flat()
        const docs = texts.map(({ text, type }, i) => ({ id: ids[i]!, type, counts: termsOf(text), length: 0 }))
        for (const doc of docs) for (const count of doc.counts.values()) doc.length += count
        const [corpus] = await database.query<any>('select * from search_corpus')
        expect(corpus.events).toBeGreaterThan(5_000)
        for (const query of ['error', 'error config', 'test build deploy', 'the of to and', 'error the test of']) {
          const terms = [...termsOf(query).keys()]
          const known = await database.query<any>(`select term, events from search_terms where term = any($1::text[])`, [
            `{${terms.join(',')}}`,
          ])
          const weight = new Map(known.map(({ term, events }) => [term, Math.log(1 + (corpus.events - events + 0.5) / (events + 0.5))]))
          const score = ({ counts, length }: (typeof docs)[number]) =>
            terms.reduce((sum, term) => {
              const count = counts.get(term) ?? 0
              return sum + ((weight.get(term) ?? 0) * count) / (count + K1 * (1 - B + (B * length * corpus.events) / corpus.length))
            }, 0)
          const scores = new Map(docs.filter(({ type }) => SEARCHED_BY_DEFAULT.includes(type as never)).map((doc) => [doc.id, score(doc)]))
          const gain = (values: number[]) => values.reduce((sum, value, i) => sum + value / Math.log2(i + 2), 0)
          const best = [...scores.values()].sort((a, b) => b - a).slice(0, 10)
          const got = (await found(query, 10)).map(({ id }) => scores.get(id) ?? 0)
          expect([query, gain(got) / gain(best) >= 0.95]).toEqual([query, true])
        }
      },
      120_000,
    )

    test.skipIf(!FULL)(
      'a search goes by its terms, however much is not sorted into their index yet',
      async () => {
        const { query } = parley().database
        const looksInto = async (index: string): Promise<number> =>
          (await query<any>('select idx_scan from pg_stat_user_indexes where indexrelname = $1', [index]))[0].idx_scan
        const unsorted = 'event_search_tsv, event_search_hot'.split(', ')
        for (const index of unsorted) await query(`alter index ${index} set (gin_pending_list_limit = 65536)`)
        const said = [word(), word(), word(), word()] // in every second event, every third, …
        const texts = Array.from({ length: 6_000 }, (_, n) => `${said.filter((_, i) => n % (i + 2) === 0).join(' ')} ${words(n, 20)}`)
        await trace(parley(), [texts.map((text) => ({ type: 'tool_response', text }))])
        await parley().services.indexer.run()
        await query('analyze event_search')
        const before = { time: await looksInto('event_search_at'), terms: await looksInto('event_search_tsv') }
        for (const count of [1, 2, 3, 4]) expect(await found(said.slice(0, count).join(' '))).toHaveLength(50)
        await Bun.sleep(1_200) // each connection adds what it did to the figures when it is used again, once a second
        await Promise.all(Array.from({ length: 32 }, () => query('select pg_sleep(0.05)')))
        await soon('the looks are counted', async () => (await looksInto('event_search_tsv')) > before.terms)
        expect(await looksInto('event_search_at')).toBe(before.time)
        for (const index of unsorted) await query(`alter index ${index} reset (gin_pending_list_limit)`)
      },
      180_000,
    )

    test('two instances share it, and neither counts anything twice', async () => {
      const other = await parley().beside({})
      const { id, alex } = await room(viaRest(other))
      const said = `w${crypto.randomUUID().replaceAll('-', '')}`
      await Promise.all(Array.from({ length: 30 }, () => done(alex('post_message', { content: said }))))
      await soon('all is found by the other', async () => (await found(said)).length === 30)
      const [term] = await parley().database.query<any>('select events from search_terms where term = $1', [said])
      expect([term.events, id.length]).toEqual([30, 36])
    })

    test('an instance that leaves the indexing to another one knows how far that has come', async () => {
      const { database } = parley()
      const other = await parley().beside({})
      const lagOf = ({ services }: Served) => services.indexer.lagSeconds
      const release = await holdLock(database, 'select pg_advisory_xact_lock(7423000002)') // as an instance has it that is indexing
      const { alex, id } = await room(viaRest(parley()))
      await done(alex('post_message', { content: word() }))
      await soon('both know that it is behind', async () => lagOf(parley()) > 2 && lagOf(other) > 2)
      await database.query(
        'update session_index set indexed_sequence = (select last_sequence from sessions where id = $1) where session_id = $1',
        [id],
      )
      await soon('both know that it is not', async () => lagOf(parley()) === 0 && lagOf(other) === 0)
      await release()
    }, 180_000)

    test('a list that the database does not answer is 504 in its envelope, and says when to try again', async () => {
      const release = await holdLock(parley().database, 'lock table session_index in access exclusive mode')
      const range = { start_datetime: '2000-01-01T00:00:00Z', end_datetime: '2100-01-01T00:00:00Z' }
      const response = await parley().send('/api/history/list_sessions', { body: JSON.stringify(range) })
      await release()
      expect([response.status, response.headers.get('retry-after')]).toEqual([504, '1'])
      expect(await response.json()).toEqual({
        schema_version: 'moraine.mcp.error.v1',
        tool: 'list_sessions',
        request: range,
        error: {
          code: 'deadline_exceeded',
          message: 'list_sessions took longer than 3000 ms; ask for less at a time',
          details: { deadline_ms: 3_000, retry_after: 1 },
        },
        warnings: [],
        performance: { elapsed_ms: expect.any(Number), sla_target_ms: 300, met_sla: false },
      })
    }, 180_000)

    test.skipIf(!FULL)(
      'a search that the database does not answer ends in time, and says so',
      async () => {
        const { database } = parley()
        const release = await holdLock(database, 'lock table search_corpus in access exclusive mode')
        const { error } = await askOverRest(parley())('search_sessions', { query: 'lexer' })
        expect(error).toMatchObject({
          code: 'deadline_exceeded',
          message: 'search_sessions took longer than 4500 ms; ask for less at a time',
        })
        await release()
      },
      180_000,
    )
  }
})

describe('a server', () => {
  const ask = async (url: string, tool: string, input: object) =>
    (await (
      await fetch(`${url}/api/history/${tool}`, { method: 'POST', body: JSON.stringify(input), signal: AbortSignal.timeout(20_000) })
    ).json()) as any

  test.each(HERE)(
    'on %s finds after a kill all that was acknowledged before, and its reindex command works beside it',
    async (engine) => {
      const { environment, drop } = await databaseOf(engine)
      const server = await startServer(environment)
      try {
        const room = await openRoom(server.url, 2)
        const said = `w${crypto.randomUUID().replaceAll('-', '')}`
        const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => post(room, `${said} ${i}`, { team: room.teams[i % 2]! })))
        await server.kill()
        await server.restart()
        const hits = async () => (await ask(server.url, 'search_sessions', { query: said, n_hits: 50 })).data.results as any[]
        await soon('the rest is indexed', async () => (await hits()).length === 40)
        const before = await hits()
        expect(before.map(({ id }) => id).toSorted()).toEqual(answers.map(({ body }) => `event:${body.message_id}`).toSorted())
        const { code, output } = await runServer(['reindex'], { ...environment, DATA_DIR: server.folder })
        expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/100 %, (\d+) of \1\n/) })
        expect(await hits()).toEqual(before)
        for (const { open } of before.slice(0, 3))
          for (const id of Object.values(open)) expect((await ask(server.url, 'open', { id })).error).toBeUndefined()
      } finally {
        await server.remove()
        await drop()
      }
    },
    120_000,
  )

  test.skipIf(!FULL)(
    'the reindex command works without it too',
    async () => {
      const server = await startServer({})
      try {
        const room = await openRoom(server.url, 2)
        await post(room, 'to be found again', { team: room.teams[0]! })
        await server.terminate()
        const { code, output } = await runServer(['reindex'], { DATA_DIR: server.folder })
        expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('100 %') })
        await server.restart()
        expect((await ask(server.url, 'search_sessions', { query: 'found again' })).data.result_count).toBe(1)
      } finally {
        await server.remove()
      }
    },
    180_000,
  )
})
