// From the call of a post to the answer of a wait that was held for it, as operations in one process and over REST, against the same
// work done raw: one INSERT with NOTIFY by postgres-js, received by a postgres-js listener. One at a time, in turn. `bun bench/wake.ts`
import postgres from 'postgres'
import { perform } from '../src/operations/perform.ts'
import { postMessage } from '../src/rooms/feed/post-message.ts'
import { waitForMessages } from '../src/rooms/feed/waits.ts'
import { bench, median, newRoom, row, serveHere, spread } from './support.ts'

const ROUNDS = 600
const WARM_UP = 100

await bench(async ({ url, databaseUrl, services }) => {
  const raw = await rawWake(databaseUrl)
  const room = await newRoom(url)
  const headers = { 'x-team-id': room.team_id }
  const other = await serveHere(databaseUrl)
  const wake = async (waitUrl: string) => {
    const waiting = fetch(`${waitUrl}/api/sessions/${room.session_id}/wait?since_cursor=${cursor}`, { headers }).then((response) =>
      response.json(),
    )
    await Bun.sleep(4)
    const start = performance.now()
    const posted = fetch(`${url}/api/sessions/${room.session_id}/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ content: { text: 'x'.repeat(280) } }),
    })
    const { next_cursor } = (await waiting) as { next_cursor: number }
    const ms = performance.now() - start
    cursor = next_cursor
    await (await posted).json()
    return ms
  }
  const inProcess = async () => {
    const call = { token: room.team_id, signal: () => new AbortController().signal }
    const waiting = perform(waitForMessages, services, call, { session_id: room.session_id, since_cursor: cursor })
    await Bun.sleep(4)
    const start = performance.now()
    const posted = perform(postMessage, services, call, { session_id: room.session_id, content: { text: 'x'.repeat(280) } })
    const outcome = await waiting
    const ms = performance.now() - start
    if (!outcome.ok) throw new Error(outcome.error.message)
    cursor = Number(outcome.data.next_cursor)
    await posted
    return ms
  }
  let cursor = 0
  const samples = { raw: [] as number[], inside: [] as number[], here: [] as number[], there: [] as number[] }
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const taken = { raw: await raw.once(), inside: await inProcess(), here: await wake(url), there: await wake(other.url) }
    if (round < WARM_UP) continue
    for (const name of ['raw', 'inside', 'here', 'there'] as const) samples[name].push(taken[name])
  }
  row('raw INSERT with NOTIFY to a raw listener, ms', spread(samples.raw))
  row('post to a wait, as operations, ms', spread(samples.inside))
  row('over REST, same instance, ms', spread(samples.here))
  row('over REST, another instance, ms', spread(samples.there))
  row('ratio of the medians, as operations', `${(median(samples.inside) / median(samples.raw)).toFixed(2)}  (aim: at most 1.5)`)
  row('ratio of the medians, REST, same instance', (median(samples.here) / median(samples.raw)).toFixed(2))
  row('ratio of the medians, REST, another instance', (median(samples.there) / median(samples.raw)).toFixed(2))
  await other.close()
  await raw.close()
})

async function rawWake(databaseUrl: string) {
  const [writer, listener] = [postgres(databaseUrl, { max: 1, onnotice() {} }), postgres(databaseUrl, { max: 1, onnotice() {} })]
  await writer`create table raw_feed (id bigint generated always as identity primary key, body jsonb not null, at timestamptz not null default now())`
  let onNotification = () => {}
  await listener.listen('raw_feed', () => onNotification())
  const once = async () => {
    const woken = new Promise<void>((resolve) => (onNotification = resolve))
    await Bun.sleep(4)
    const start = performance.now()
    const inserted = writer.unsafe(
      `with e as (insert into raw_feed (body) values ($1::text::jsonb) returning id) select pg_notify('raw_feed', id::text) from e`,
      [JSON.stringify({ text: 'x'.repeat(280) })],
      { prepare: true },
    )
    inserted.catch(() => {})
    await woken
    const ms = performance.now() - start
    await inserted
    return ms
  }
  return { once, close: () => Promise.all([writer.end(), listener.end()]) }
}
