// How much the index takes at once: by bytes, since on the embedded database whatever else goes on waits for it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { indexBatch } from '../../src/search/event-index.ts'
import { embeddedDatabase } from '../support/pglite.ts'

let database: Database
beforeAll(async () => {
  database = await embeddedDatabase()
})
afterAll(() => database.close())

let words = 0
const newWords = (bytes: number) => {
  let text = ''
  while (text.length < bytes) text += `w${(words++ * 7_919).toString(36)} `
  return text
}

const sessionWith = async (texts: string[]): Promise<string> => {
  const id = crypto.randomUUID()
  await database.query(
    `insert into sessions (id, title, description, series_id, last_sequence, turn, last_event_at) values ($1, 'Long', '', $1, $2, 1, now())`,
    [id, texts.length],
  )
  await database.query('insert into session_index (session_id, started_at, updated_at) values ($1, now(), now())', [id])
  for (const [n, text] of texts.entries())
    await database.query(
      `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
       values ($1, $2::int8, gen_random_uuid(), 1, $2::int8, 'chat', 'team', $3, $4, now())`,
      [id, n + 1, JSON.stringify({ text }), text.length],
    )
  return id
}

/** How many turns the event loop had while `work` went on. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let [turns, done] = [0, false]
  const turn = () => {
    turns++
    if (!done) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  done = true
  return turns
}

test('short posts are taken many at once, the longest one by one', async () => {
  const short = await sessionWith(Array.from({ length: 60 }, () => newWords(100)))
  const batch = await indexBatch(database, [short], { limit: 50 })
  expect(batch).toEqual({ events: 50, more: true, progress: [{ session: short, indexed: 50, newest: 60 }] })
  const long = await sessionWith(Array.from({ length: 2 }, () => newWords(32 * 1024)))
  const batches: unknown[] = []
  for (let i = 0; i < 2; i++) batches.push(await indexBatch(database, [long], { limit: 50 }))
  expect(batches).toEqual([1, 2].map((indexed) => ({ events: 1, more: indexed < 2, progress: [{ session: long, indexed, newest: 2 }] })))
  expect(await indexBatch(database, [long], { limit: 50 })).toEqual({ events: 0, more: false, progress: [] })
})

const indexOf = async (session: string) => {
  const [through] = await database.query<{ n: number }>('select indexed_sequence as n from session_index where session_id = $1', [session])
  const rows = await database.query<{ n: number }>('select sequence as n from event_search where session_id = $1 order by n', [session])
  return { through: through!.n, rows: rows.map(({ n }) => n) }
}

test('a batch that may go on reads more, and counts each term once for all of it', async () => {
  const common = `c${crypto.randomUUID().replaceAll('-', '')}`
  const long = await sessionWith(Array.from({ length: 5 }, () => `${common} ${newWords(32 * 1024)}`))
  let asked = 0
  const some = await indexBatch(database, [long], { limit: 50, goOn: () => ++asked < 3 })
  expect(some).toEqual({ events: 3, more: true, progress: [{ session: long, indexed: 3, newest: 5 }] })
  expect(await indexOf(long)).toEqual({ through: 3, rows: [1, 2, 3] })
  const others = await indexBatch(database, [long], { limit: 50, goOn: () => true })
  expect(others).toEqual({ events: 2, more: false, progress: [{ session: long, indexed: 5, newest: 5 }] })
  expect(await indexOf(long)).toEqual({ through: 5, rows: [1, 2, 3, 4, 5] })
  expect(await database.query('select events from search_terms where term = $1', [common])).toEqual([{ events: 5 }])
})

test('of a batch that fails while it reads on nothing is left, and nothing comes after it', async () => {
  const long = await sessionWith(Array.from({ length: 5 }, () => newWords(32 * 1024)))
  await database.query(`create function refuse_third() returns trigger language plpgsql as $$ begin
    if new.session_id = '${long}' and new.sequence = 3 then raise 'refused'; end if; return new; end $$`)
  await database.query('create trigger refuse_third before insert on event_search for each row execute function refuse_third()')
  const refused = indexBatch(database, [long], { limit: 50, goOn: () => true })
  expect(((await refused.catch((error) => error)) as Error).message).toContain('refused')
  expect(await indexOf(long)).toEqual({ through: 0, rows: [] })
  await database.query('drop function refuse_third cascade')
  expect(await indexBatch(database, [long], { limit: 50, goOn: () => true })).toMatchObject({ events: 5, more: false })
  expect(await indexOf(long)).toEqual({ through: 5, rows: [1, 2, 3, 4, 5] })
})

test('of a text with thousands of new words, others have their turn between', async () => {
  const id = await sessionWith([newWords(32 * 1024)])
  const [known] = await database.query<{ terms: number }>('select count(*)::int as terms from search_terms')
  const turns = await turnsDuring(() => indexBatch(database, [id], { limit: 50 }))
  const [after] = await database.query<{ terms: number }>('select count(*)::int as terms from search_terms')
  const added = after!.terms - known!.terms
  expect(added).toBeGreaterThan(3_000)
  expect(turns).toBeGreaterThan(added / 500)
})

test('a post is indexed while a large import still waits, and the import goes on', async () => {
  const large = await sessionWith(Array.from({ length: 200 }, () => 'imported'))
  const post = await sessionWith(['said just now'])
  const [least, inTurn] = [
    await indexBatch(database, [large, post], { limit: 50, leastFirst: true }),
    await indexBatch(database, [large, post], { limit: 50 }),
  ]
  expect(least).toEqual({
    events: 50,
    more: true,
    progress: [
      { session: post, indexed: 1, newest: 1 },
      { session: large, indexed: 49, newest: 200 },
    ],
  })
  expect(inTurn).toEqual({ events: 50, more: true, progress: [{ session: large, indexed: 99, newest: 200 }] })
})

test('the indexer takes turns: those with the least to index, then those that wait longest', async () => {
  const indexer = new Indexer(database)
  await indexer.run()
  const [large, post] = [await sessionWith(Array.from({ length: 400 }, () => 'imported')), await sessionWith(['said just now'])]
  indexer.moved(large, 400)
  indexer.moved(post, 1)
  let batches = 0
  await indexer.run(
    () => batches < 2,
    () => void batches++,
  )
  const rows = await database.query<{ session_id: string; through: number }>(
    'select session_id, indexed_sequence as through from session_index where session_id = any($1::uuid[])',
    [`{${large},${post}}`],
  )
  expect(new Map(rows.map(({ session_id, through }) => [session_id, through]))).toEqual(
    new Map([
      [large, 99],
      [post, 1],
    ]),
  )
})

describe('a session whose document is large', () => {
  let [small, large] = ['', '']
  const titleOf = (id: string, title: string) => database.query('update sessions set title = $2 where id = $1', [id, title])
  const writeInto = (id: string, content: string) =>
    database.query(
      `insert into session_docs (session_id, content, version) values ($1, $2, 1)
       on conflict (session_id) do update set content = excluded.content, version = session_docs.version + 1`,
      [id, content],
    )
  const isIndexed = async (id: string) => {
    const [row] = await database.query<{ is: boolean }>(
      `select i.doc_version = coalesce(d.version, 0) and i.head = md5(s.title || E'\\n' || s.description) as is
       from sessions s left join session_docs d on d.session_id = s.id join session_search i on i.session_id = s.id where s.id = $1`,
      [id],
    )
    return row?.is
  }
  let indexer: Indexer
  beforeAll(async () => {
    ;[small, large] = [await sessionWith(['one']), await sessionWith(['one'])]
    indexer = new Indexer(database)
    await writeInto(large, newWords(800 * 1024))
    for (const id of [large, small]) indexer.moved(id)
    await indexer.run()
  })

  test('rests, and no other that was indexed together with it', async () => {
    await titleOf(small, 'Renamed')
    await writeInto(large, newWords(1_024))
    for (const id of [large, small]) indexer.moved(id)
    await indexer.run()
    expect([await isIndexed(small), await isIndexed(large)]).toEqual([true, false])
  })

  test('is said to be behind while it rests and has changed, and not because something was posted in it', async () => {
    expect(indexer.sessionsLagSeconds).toBeGreaterThan(0)
    await database.query('update session_docs set version = 1 where session_id = $1', [large]) // as it is indexed
    indexer.moved(large, 1)
    await indexer.run()
    expect(indexer.sessionsLagSeconds).toBe(0)
  })
})
