// A database of an earlier version, with sessions, tokens and idempotency keys that were used, goes on with this one. tests/make-dump.ts
// made tests/data/upgrade.* (with commit 395307d).
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { databaseOn, OPTIONS } from '../db/pglite.ts'
import { openPostgres } from '../db/postgres.ts'
import { cookieOf, done, engines, startParley, viaRest, type Engine, type Opened, type Parley } from './support/parley.ts'
import { emptyDatabase, startPostgres } from './support/postgres.ts'

interface Answers {
  kept: {
    name: string
    input: Record<string, unknown>
    as: { team?: string; key: string; person?: boolean }
    answer: Record<string, unknown>
  }[]
  rooms: { session_id: string; team: string; feed: { sequence: number }[]; doc: Record<string, unknown> }[]
  imported: { session_id: string }
  trace: Record<string, unknown>[]
  settings: { mcp_url: string; loop_guard: string }
}

const dataFile = (name: string) => join(import.meta.dir, 'data', name)
const dump = new TextDecoder().decode(Bun.gunzipSync(readFileSync(dataFile('upgrade.sql.gz'))))
const before: Answers = JSON.parse(readFileSync(dataFile('upgrade.json'), 'utf8'))

const restored: Record<Engine, () => Promise<Opened>> = {
  async pglite() {
    const client = await PGlite.create(OPTIONS)
    await client.exec(`${dump}; reset all`) // it left an empty search_path
    return { database: await databaseOn(client), drop: async () => {} }
  },
  async postgres() {
    const server = await startPostgres()
    const { url, drop } = await emptyDatabase(server.url)
    const client = postgres(url, { max: 1, onnotice: () => {} })
    await client.unsafe(dump)
    await client.end()
    return {
      database: await openPostgres(url),
      url,
      async drop() {
        await drop()
        await server.stop()
      },
    }
  },
}

describe.each(engines.map(([engine]) => engine))('a database of an earlier version, on %s', (engine) => {
  let parley: Parley
  beforeAll(async () => void (parley = await startParley({ engine, opened: await restored[engine]() })), 60_000)
  afterAll(() => parley?.close(), 60_000)

  const person = () => cookieOf(parley, { name: 'Robin', role: 'person' })

  test('has the same feeds and documents, and its tokens open them', async () => {
    for (const { session_id, team, feed, doc } of before.rooms) {
      const call = viaRest(parley)
      const page = await done(call('wait_for_messages', { session_id, since_cursor: 0, timeout: 0 }, { team }))
      expect(page.messages).toMatchObject(feed)
      expect(await done(call('read_session_doc', { session_id }, { team }))).toMatchObject(doc)
    }
  })

  test('has the same transcripts, settings and operator key', async () => {
    const { imported, trace, settings } = before
    const events = await parley.database.query('select id, sequence, turn, type from events where session_id = $1 order by sequence', [
      imported.session_id,
    ])
    expect(events).toEqual(trace)
    expect(parley.services.setting('mcp_url')).toBe(settings.mcp_url)
    expect(parley.services.setting('loop_guard')).toBe(settings.loop_guard)
  })

  test.each(before.kept.map(({ name, ...rest }, n) => [`${n + 1}: ${name}`, { name, ...rest }] as const))(
    'replays the answer of each idempotency key that was used, credentials and all; %s',
    async (_, { name, input, as, answer }) => {
      const count = () => parley.database.query<{ events: number }>('select count(*)::int as events from events')
      const events = await count()
      const { team, key } = as
      const replay = await viaRest(parley)(name, input, { team, key, person: as.person ? await person() : undefined })
      expect(replay).toEqual({ ok: true, body: answer, replayed: true })
      expect(await count()).toEqual(events)
    },
  )

  test('replays an import under its key', async () => {
    const body = readFileSync(dataFile('codex.jsonl'))
    const headers = { 'idempotency-key': 'a key of an import, used before' }
    const response = await parley.send('/api/traces?name=codex.jsonl', { body, headers })
    expect(await response.json()).toEqual(before.imported)
    expect(response.headers.get('idempotency-replayed')).toBe('true')
  })

  test('is searched as before', async () => {
    const { data } = await done(viaRest(parley)('history.search_sessions', { query: 'quixotic' }))
    expect(data.results.map(({ session }: { session: { id: string } }) => session.id)).toEqual([`session:${before.rooms[0]!.session_id}`])
  })

  test('takes posts with the next numbers', async () => {
    const { session_id, team, feed } = before.rooms[0]!
    const call = viaRest(parley)
    const posted = await done(call('post_message', { session_id, content: { text: 'We go on.' } }, { team }))
    expect(posted.cursor).toBe(feed.at(-1)!.sequence + 1)
    const again = await done(call('post_message', { session_id, content: { text: 'And on.' } }, { team }))
    expect(again.cursor).toBe(posted.cursor + 1)
  })
})
