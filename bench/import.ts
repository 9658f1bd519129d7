// How fast a transcript comes into Postgres, written and indexed, and how much memory that takes, whatever its size.
//   bun bench/import.ts                     200,000 events
//   bun bench/import.ts --events 1000000
//   bun bench/import.ts --bytes 2e9         a file of 2 GB, of fewer and larger events
// The transcript is made by a rule: the same numbers give the same file. It is imported by `bun run import`, as an operator would.
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { freshDatabase, startPostgres } from '../tests/support/postgres.ts'
import { load, row } from './support.ts'

const { values } = parseArgs({ options: { events: { type: 'string' }, bytes: { type: 'string' } } })
const WANTED = Number(values.events ?? (values.bytes ? Infinity : 200_000))
const BYTES = Number(values.bytes ?? Infinity)
const OUTPUT_WORDS = values.bytes ? 1_500 : 40 // of a tool's answer: 2 GB in as many events as a long session has
const TURN = 20 // events of a turn
const SESSION = '0b5e7a11-0000-4000-8000-000000000001'

const main = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-import-'))
  const server = await startPostgres()
  const { url, drop } = await freshDatabase(server.url)
  try {
    const path = join(folder, `${SESSION}.jsonl`)
    const events = writeTranscript(path)
    const bytes = statSync(path).size
    row('transcript', `${events.toLocaleString('en')} events, ${(bytes / 1024 / 1024).toFixed(0)} MiB`)
    load()
    const first = await importing(path, url, events)
    const rate = (ms: number) =>
      `${Math.round(events / (ms / 1000)).toLocaleString('en')} events/s, ${(bytes / 1024 / 1024 / (ms / 1000)).toFixed(1)} MiB/s`
    row('written', rate(first.writtenMs))
    row('written and indexed', rate(first.indexedMs))
    row('peak memory of the process (RSS)', `${first.peakMib} MiB`)
    const again = await importing(path, url, events)
    row('again, with nothing new', `${(again.endedMs / 1000).toFixed(1)} s, RSS ${again.peakMib} MiB`)
    load()
    console.log('aims: at least 3,000 events/s with the index on; at most 300 MiB whatever the size')
  } finally {
    rmSync(folder, { recursive: true })
    await drop()
    await server.stop()
  }
}

const importing = async (path: string, url: string, events: number) => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  const begun = performance.now()
  const child = spawn(process.execPath, ['src/server.ts', 'import', path], {
    env: { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let ended: number | null | undefined
  child.once('exit', (code) => (ended = code ?? 1))
  let [peakMib, writtenMs, indexedMs] = [0, 0, 0]
  while (ended === undefined) {
    peakMib = Math.max(peakMib, peakOf(child.pid!))
    const [at] = await sql`select s.last_sequence::int as written, i.indexed_sequence::int as indexed
      from sessions s join session_index i on i.session_id = s.id`.catch(() => [])
    if (at?.written === events && !writtenMs) writtenMs = performance.now() - begun
    if (at?.indexed === events && !indexedMs) indexedMs = performance.now() - begun
    await Bun.sleep(50)
  }
  const endedMs = performance.now() - begun
  await sql.end()
  if (ended !== 0) throw new Error(`the import ended with ${ended}`)
  return { peakMib, endedMs, writtenMs: writtenMs || endedMs, indexedMs: indexedMs || endedMs }
}

// The most that the kernel has noted so far: no peak falls between two readings.
const peakOf = (pid: number) => {
  try {
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}

const writeTranscript = (path: string): number => {
  const file = openSync(path, 'w')
  let [events, bytes, buffer] = [0, 0, '']
  const flush = () => {
    bytes += writeSync(file, buffer)
    buffer = ''
  }
  while (events < WANTED && bytes + buffer.length < BYTES) {
    buffer += `${lineOf(events++)}\n`
    if (buffer.length > 4 * 1024 * 1024) flush()
  }
  flush()
  closeSync(file)
  return events
}

const lineOf = (i: number) => {
  const place = i % TURN
  const last = place === TURN - 1
  const role = place === 0 || (place % 2 === 0 && !last) ? 'user' : 'assistant'
  const id = `toolu_${i - (place % 2 === 0 ? 1 : 0)}`
  const content =
    place === 0
      ? words(i, 30)
      : last
        ? [{ type: 'text', text: words(i, 120) }]
        : place % 2 === 0
          ? [{ type: 'tool_result', tool_use_id: id, content: words(i, OUTPUT_WORDS) }]
          : [{ type: 'tool_use', id, name: 'Bash', input: { command: `bun test ${words(i, 3)}`, description: words(i, 6) } }]
  const message =
    role === 'user' ? { role, content } : { role, model: 'claude-opus-5', content, stop_reason: last ? 'end_turn' : 'tool_use' }
  const timestamp = new Date(Date.UTC(2026, 0, 1) + i * 100).toISOString()
  return JSON.stringify({
    type: role,
    sessionId: SESSION,
    uuid: `u${i}`,
    isSidechain: false,
    cwd: '/work',
    version: '2.1.330',
    timestamp,
    message,
  })
}

// Few words are common and most are rare, as in any text.
const words = (seed: number, count: number) => {
  let state = (seed * 2_654_435_761) >>> 0
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return state / 2 ** 32
  }
  return Array.from({ length: count }, () => `w${Math.floor(20_000 ** next()).toString(36)}`).join(' ')
}

await main()
process.exit(0)
