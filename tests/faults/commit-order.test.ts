// Readers skip nothing though transactions stay open between the number of an event and their commit: the number is taken under the
// session's lock. That the test sees what it looks for, a table shows whose numbers come from a sequence object [P1].
//   FULL=1 bun test tests/faults/commit-order.test.ts    10,000 rows instead of 400
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../db/database.ts'
import { migrate } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { appendEvents } from '../../src/log/append.ts'
import { FULL } from '../support/full.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { expectFaultless, faultsOf, type Entry } from './checker.ts'
import { LOCAL, openInProcess } from './engines.ts'
import { acked, openRoom, postSurely, readBy, readFeed, sent, wait, type Room } from './rooms.ts'

const WRITERS = 20
const EACH = FULL ? 500 : 20
const READERS = 3
const HELD_OPEN = FULL ? 0.01 : 0.05 // of all writes
const HELD_MS = FULL ? 200 : 100

let server: TestPostgres
let drop: () => Promise<void>
let slow: Database // its own connections, for the transactions that stay open
let parley: Awaited<ReturnType<typeof openInProcess>>
beforeAll(async () => {
  server = await startPostgres()
  const fresh = await freshDatabase(server.url)
  drop = fresh.drop
  slow = await openPostgres(fresh.url)
  await migrate(slow)
  parley = await openInProcess({}, await openPostgres(fresh.url))
}, 120_000)
afterAll(async () => {
  await parley?.close()
  await slow?.close()
  await drop?.()
  await server?.stop()
}, 180_000)

const holdsOpen = () => Math.random() < HELD_OPEN

/** All writers at once, each one text after the other; readers look without pause until these have ended. */
const race = async (
  write: (text: string, writer: number) => Promise<Entry>,
  read: (reader: number) => Promise<Entry>,
): Promise<Entry[]> => {
  const log: Entry[] = []
  let over = false
  const reading = Array.from({ length: READERS }, async (_, reader) => {
    while (!over) {
      log.push(await read(reader))
      await Bun.sleep(1)
    }
  })
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n++) log.push(await write(`${writer}/${n}`, writer))
    }),
  )
  over = true
  await Promise.all(reading)
  return log
}

test('of an event log no reader skips an event, whatever stays open', async () => {
  const { send } = parley
  const room = await openRoom(LOCAL, 2, send)
  const cursors = Array.from({ length: READERS }, () => 0)
  const log = await race(
    async (text, writer) => {
      if (holdsOpen()) return appendSlowly(room, text)
      const { status, body } = await postSurely(room, text, { send })
      expect(status).toBe(200)
      return acked(text, body.cursor, `writer ${writer}`)
    },
    async (reader) => {
      const since = cursors[reader]!
      const { body } = await wait(room, since, { team: room.teams[1]!, timeout: 0, send })
      cursors[reader] = body.next_cursor
      return { ...readBy(`reader ${reader}`, body.messages), since }
    },
  )
  const all = await readFeed(room, send)
  expectFaultless([...log, readBy('who reads all of it', all)])
  expect(all).toHaveLength(1 + WRITERS * EACH)
}, 600_000)

const appendSlowly = ({ session, teams }: Room, text: string): Promise<Entry> =>
  slow.transaction(async (tx) => {
    const handle = teams[0]!.split('.')[0]!
    await tx.query('select from sessions where id = $1 for update', [session])
    const draft = { sessionId: session, type: 'chat', author: 'team', teamId: handle, holder: handle, content: { text } } as const
    const [appended] = await appendEvents(tx, [draft])
    expect(appended?.outcome).toBe('appended')
    await tx.query('select pg_sleep($1)', [HELD_MS / 1_000])
    return sent(text)
  }, 60_000)

test('the same with numbers of a sequence object: the checker sees that events are skipped', async () => {
  await slow.query('create table plain (sequence bigserial primary key, text text not null)')
  const cursors = Array.from({ length: READERS }, () => 0)
  const log = await race(
    (text) =>
      slow.transaction(async (tx) => {
        await tx.query('insert into plain (text) values ($1)', [text])
        if (holdsOpen()) await tx.query('select pg_sleep($1)', [HELD_MS / 1_000])
        return acked(text)
      }, 60_000),
    async (reader) => {
      const since = cursors[reader]!
      const rows = await parley.database.query<{ sequence: number; text: string }>(
        'select sequence::int, text from plain where sequence > $1 order by sequence limit 500',
        [since],
      )
      cursors[reader] = rows.at(-1)?.sequence ?? since
      return {
        op: 'read',
        session: 'the session',
        reader: `reader ${reader}`,
        since,
        events: rows.map((row) => ({ ...row, id: row.text })),
      }
    },
  )
  const skipped = faultsOf(log).filter(({ kind }) => kind === 'skipped').length
  expect(skipped).toBeGreaterThan(0)
  console.log(`a sequence object: ${skipped} skipped of ${READERS * WRITERS * EACH}`)
}, 600_000)
