// The embedded database works on the server's own thread: how long it holds that thread in one piece while texts are indexed, of which
// every word is new.
//   bun bench/stall.ts [posts, 40]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../db/migrate.ts'
import { openPglite } from '../db/pglite.ts'
import { Indexer } from '../src/search/indexer.ts'
import { load, row } from './support.ts'

const POSTS = Number(process.argv[2] ?? 40)
const POST_BYTES = 32 * 1024

const main = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const database = await openPglite(folder)
  await migrate(database)
  load()
  row('a turn of the loop without work', `${(await longestTurn(() => Bun.sleep(500))).toFixed(0)} ms at the most`)
  for (const [name, posts] of [
    ['posts of 32 KiB of new words', POSTS],
    ['the same, once more', POSTS],
    ['a text of 1 MiB of new words, as imported', 1],
  ] as const) {
    await write(database, posts, posts === 1 ? 1024 * 1024 : POST_BYTES)
    const indexer = new Indexer(database)
    let batches = 0
    const start = performance.now()
    const longest = await longestTurn(() => indexer.run(undefined, () => void batches++))
    row(
      `${posts} ${name}`,
      `${longest.toFixed(0)} ms in one piece at the most, ${batches} batches, ${(performance.now() - start).toFixed(0)} ms in all`,
    )
  }
  load()
  await database.close()
  rmSync(folder, { recursive: true })
}

let words = 0
const write = async ({ query }: Awaited<ReturnType<typeof openPglite>>, posts: number, bytes: number) => {
  const id = crypto.randomUUID()
  const texts = Array.from({ length: posts }, () => {
    let text = ''
    while (text.length < bytes) text += `w${(words++ * 7_919).toString(36)} `
    return text
  })
  await query(
    `insert into sessions (id, title, description, series_id, last_sequence, turn, last_event_at) values ($1, 'Long', '', $1, $2, 1, now())`,
    [id, posts],
  )
  await query(`insert into session_index (session_id, started_at, updated_at) values ($1, now(), now())`, [id])
  for (const [n, text] of texts.entries())
    await query(
      `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
       values ($1, $2::int8, gen_random_uuid(), 1, $2::int8, 'chat', 'team', $3, $4, now())`,
      [id, n + 1, JSON.stringify({ text }), text.length],
    )
}

/** The longest time between two turns of the event loop while `work` goes on, in milliseconds. */
const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
  let [longest, last, done] = [0, performance.now(), false]
  const turn = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!done) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  done = true
  return Math.max(longest, performance.now() - last)
}

await main()
process.exit(0)
