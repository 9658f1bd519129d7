// Acknowledged posts a second, each durable when it is acknowledged, against one-row-per-commit INSERTs by 10 connections of
// postgres-js. Variants take turns. `bun bench/post.ts`
import postgres from 'postgres'
import { bench, median, newRoom, percentile, row, throughput } from './support.ts'

const ROUNDS = 5
const SECONDS = 2
const POSTERS = 100
const TEXT = 'We split the task: Alex takes the parser, Bea the storage layer. '.repeat(4)

await bench(async ({ url, databaseUrl, services }) => {
  const sql = postgres(databaseUrl, { max: 10, onnotice() {} })
  await sql`create table raw_posts (id bigint generated always as identity primary key, session_id uuid not null, content jsonb not null, at timestamptz not null default now())`
  const rooms = await Promise.all(Array.from({ length: POSTERS }, () => newRoom(url)))
  const content = { text: TEXT }
  const raw = (caller: number) => sql.unsafe('insert into raw_posts (session_id, content) values ($1, $2::text::jsonb) returning id', [rooms[caller]!.session_id, JSON.stringify(content)], { prepare: true })
  const inProcess = (caller: number, { session_id, handle } = rooms[caller]!) =>
    services.appender.post({ sessionId: session_id, type: 'chat', author: 'team', teamId: handle, holder: handle, content })
  const rest = (caller: number, { session_id, team_id } = rooms[caller]!) =>
    fetch(`${url}/api/sessions/${session_id}/messages`, { method: 'POST', headers: { 'x-team-id': team_id }, body: JSON.stringify({ content }) }).then((response) => response.json())
  const one = (_: number) => inProcess(0)
  const variants = { raw: { callers: 10, work: raw }, 'in process, 100 rooms': { callers: POSTERS, work: inProcess }, 'in process, 1 room': { callers: POSTERS, work: one }, 'through REST, 100 rooms': { callers: POSTERS, work: rest } }
  const rates: Record<string, number[]> = {}
  const times: Record<string, number[]> = {}
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, { callers, work }] of Object.entries(variants)) {
      const { perSecond, took } = await throughput(callers, round < 0 ? 1 : SECONDS, work)
      if (round < 0) continue
      ;(rates[name] ??= []).push(perSecond)
      ;(times[name] ??= []).push(...took)
    }
  }
  for (const name of Object.keys(variants)) {
    const ratios = rates[name]!.map((rate, i) => rate / rates.raw![i]!)
    row(name, `${median(rates[name]!).toFixed(0).padStart(7)}/s  ratio ${median(ratios).toFixed(2)}  p50 ${percentile(times[name]!, 0.5).toFixed(2)}  p95 ${percentile(times[name]!, 0.95).toFixed(2)}  p99 ${percentile(times[name]!, 0.99).toFixed(2)} ms`)
  }
  console.log('aims: in process at least 4 × raw, through REST at least 1.5 ×')
  await sql.end()
})
