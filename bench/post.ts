// Acknowledged posts a second, each durable when it is acknowledged, against one-row-per-commit INSERTs by 10 connections of
// postgres-js. The rows carry what a message must: session, number, id, team, text and time, with both keys indexed. Variants take
// turns. `bun bench/post.ts`
import postgres from 'postgres'
import { loadFrom } from './client.ts'
import { bench, newRoom, printRates, throughput } from './support.ts'

const ROUNDS = 5
const SECONDS = 2
const POSTERS = 100
const TEXT = 'We split the task: Alex takes the parser, Bea the storage layer. '.repeat(4)

await bench(async ({ url, databaseUrl, services }) => {
  const sql = postgres(databaseUrl, { max: 10, onnotice() {} })
  await sql`create table raw_posts (session_id uuid not null, sequence bigint generated always as identity, id uuid not null unique default gen_random_uuid(),
    team_id uuid not null, content jsonb not null, at timestamptz not null default now(), primary key (session_id, sequence))`
  const rooms = await Promise.all(Array.from({ length: POSTERS }, () => newRoom(url)))
  const content = { text: TEXT }
  const raw = (caller: number) =>
    sql.unsafe(
      'insert into raw_posts (session_id, team_id, content) values ($1, $2, $3::text::jsonb) returning id, sequence, at',
      [rooms[caller]!.session_id, rooms[caller]!.handle, JSON.stringify(content)],
      { prepare: true },
    )
  const inProcess = (caller: number, { session_id, handle } = rooms[caller]!) =>
    services.groupCommit.post({ sessionId: session_id, type: 'chat', author: 'team', teamId: handle, holder: handle, content })
  const rest = (seconds: number, to = rooms) =>
    loadFrom({
      url,
      connections: POSTERS,
      seconds,
      requests: to.map(({ session_id, team_id }) => ({
        method: 'POST',
        path: `/api/sessions/${session_id}/messages`,
        headers: { 'x-team-id': team_id },
        body: JSON.stringify({ content }),
      })),
    })
  const one = (_: number) => inProcess(0)
  const variants: Record<string, (seconds: number) => Promise<{ perSecond: number; took: number[] }>> = {
    raw: (seconds) => throughput(10, seconds, raw),
    'in process, 100 rooms': (seconds) => throughput(POSTERS, seconds, inProcess),
    'in process, 1 room': (seconds) => throughput(POSTERS, seconds, one),
    'through REST, 100 rooms': rest,
    'through REST, 1 room': (seconds) => rest(seconds, rooms.slice(0, 1)),
  }
  const rates: Record<string, number[]> = {}
  const times: Record<string, number[]> = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(variants)) {
      await services.indexer.run() // what one variant left to index is not the next one's burden
      const { perSecond, took } = await run(round < 0 ? 1 : SECONDS)
      if (round < 0) continue
      ;(rates[name] ??= []).push(perSecond)
      ;(times[name] ??= []).push(...took)
    }
  }
  printRates(rates, times, 'raw')
  console.log('aims: in process at least 4 × raw, through REST at least 1.5 ×')
  await sql.end()
})
