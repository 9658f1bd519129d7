// Prepared statements die while many callers use them: the schema changes under a running server, or a pooler deallocates them. Each
// caller still gets its own answer. The long form, before a release: STALE_SECONDS=600 bun run test tests/faults/stale-statements.test.ts
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DatabaseTimeout, type Database } from '../../db/database.ts'
import { openPostgres } from '../../db/postgres.ts'
import { startParley, type Parley } from '../support/parley.ts'
import { thatSlipsIn } from '../support/proxy.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { FULL, shortOf } from '../support/full.ts'

const SECONDS = Number(process.env.STALE_SECONDS ?? (FULL ? 5 : 0.5)) // it takes all of the processors as long as it lasts
const CALLERS = 60
const CONNECTIONS = 16
const EVERY_MS = FULL ? 400 : 150
const ROWS = 2_000

let postgres: TestPostgres
beforeAll(async () => void (postgres = await startPostgres()), 180_000)
afterAll(async () => postgres?.stop(), 180_000)

type Trigger = (pool: Database) => Promise<unknown>
type Row = Record<string, unknown>

const onEachConnection = (pool: Database, text: string) =>
  Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query(text).catch(() => {})))
let turn = 0
const either = (one: string, other: string) => (turn++ % 2 === 0 ? one : other)

const STATEMENTS: [text: string, isAnswer: (row: Row, id: number) => boolean][] = [
  ['select id, body from texts where id = $1', ({ id, body }, asked) => id === asked && body === `text ${asked}`],
  ['select body, id * 2 as double from texts where id = $1', ({ body, double }, id) => body === `text ${id}` && double === 2 * id],
  ['select $1::int as asked, body from texts where id = $1', ({ asked, body }, id) => asked === id && body === `text ${id}`],
  [
    'update texts set touched = touched + 1 where id = $1 returning id, body',
    ({ id, body }, asked) => id === asked && body === `text ${asked}`,
  ],
]

const TRIGGERS: Record<string, Trigger> = {
  "a column's type changes": (pool) => pool.query(`alter table texts alter body type ${either('text', 'varchar')}`),
  'discard all': (pool) => onEachConnection(pool, 'discard all'),
  'backends end': (pool) =>
    pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3',
    ),
  'a column of the condition changes': (pool) => pool.query(`alter table texts alter id type ${either('bigint', 'int')}`),
  'deallocate all': (pool) => onEachConnection(pool, 'deallocate all'),
  'statements are cancelled': (pool) =>
    pool.query(
      "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active'",
    ),
}
// A busy machine needs longer for enough answers to tell anything.
const ENOUGH = 500
const untilEnough = (seconds: number, isEnough: () => boolean) => {
  const [end, latest] = [performance.now() + seconds * 1_000, performance.now() + (seconds + 60) * 1_000]
  return () => performance.now() > latest || (performance.now() > end && isEnough())
}

const MAY_FAIL = ['statements are cancelled', 'backends end']

describe.each(shortOf(Object.entries(TRIGGERS), 1))('%s', (name, trigger) => {
  test('no caller is given the answer of another', async () => {
    const { url, drop } = await freshDatabase(postgres.url)
    const [pool, admin] = [await openPostgres(url), await openPostgres(url)]
    await admin.query('create table texts (id int primary key, body text not null, touched int not null default 0)')
    await admin.query("insert into texts select n, 'text ' || n from generate_series(1, $1::int) n", [ROWS])
    let answered = 0
    const isOver = untilEnough(Math.min(SECONDS, 60), () => answered >= ENOUGH)
    const wrong: unknown[] = []
    const failed: unknown[] = []
    const calls = async () => {
      while (!isOver()) {
        const id = 1 + Math.floor(Math.random() * ROWS)
        const [text, isAnswer] = STATEMENTS[Math.floor(Math.random() * STATEMENTS.length)]!
        try {
          const rows = await pool.query<Row>(text, [id])
          answered++
          if (rows.length !== 1 || !isAnswer({ ...rows[0], ...(rows[0]!.id !== undefined && { id: Number(rows[0]!.id) }) }, id))
            wrong.push({ text, id, rows })
        } catch (error) {
          if (!(error instanceof DatabaseTimeout)) failed.push(error) // a very busy machine
        }
      }
    }
    const triggers = async () => {
      for (; !isOver(); await Bun.sleep(EVERY_MS)) await trigger(name.includes('all') ? pool : admin)
    }
    try {
      await Promise.all([...Array.from({ length: CALLERS }, calls), triggers()])
      expect(wrong.slice(0, 3)).toEqual([])
      if (!MAY_FAIL.includes(name)) expect(failed.slice(0, 3)).toEqual([])
      expect(answered).toBeGreaterThanOrEqual(ENOUGH)
    } finally {
      await Promise.all([pool.close(), admin.close()])
      await drop()
    }
  }, 180_000)
})

test('inside a transaction a stale statement undoes it whole, and the next try succeeds', async () => {
  const { url, drop } = await freshDatabase(postgres.url)
  const [pool, admin] = [await openPostgres(url), await openPostgres(url)]
  try {
    await admin.query('create table texts (id int primary key, body text)')
    await admin.query("insert into texts values (1, 'text 1')")
    const read = (query: Database['query']) => query<{ body: string }>('select * from texts where id = $1', [1])
    await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.transaction(({ query }) => read(query))))
    await admin.query('alter table texts alter body type varchar')
    const attempt = () =>
      pool.transaction(async ({ query }) => {
        await query("insert into texts values ($1, 'new')", [2])
        return read(query)
      })
    await expect(attempt()).rejects.toThrow('cached plan must not change result type')
    expect(await attempt()).toEqual([{ id: 1, body: 'text 1' }] as never)
    expect(await pool.query('select id from texts order by id')).toEqual([{ id: 1 }, { id: 2 }])
  } finally {
    await Promise.all([pool.close(), admin.close()])
    await drop()
  }
}, 180_000)

test.skipIf(!FULL)(
  'what was prepared in vain does not pile up in the database',
  async () => {
    const { url, drop } = await freshDatabase(postgres.url)
    const [pool, admin] = [await openPostgres(url), await openPostgres(url)]
    try {
      await admin.query('create table texts (id int primary key, body text)')
      for (let round = 0; round < 20; round++) {
        await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('select *, pg_sleep(0.01) from texts where id = $1', [1])))
        await admin.query(`alter table texts alter body type ${either('varchar', 'text')}`)
      }
      await pool.query('select * from texts where id = $1', [1])
      const [{ most } = { most: 0 }] = await pool.query<{ most: number }>('select count(*)::int as most from pg_prepared_statements')
      expect(most).toBeLessThan(5)
    } finally {
      await Promise.all([pool.close(), admin.close()])
      await drop()
    }
  },
  180_000,
)

describe('a server or proxy that sends what nobody asked for', () => {
  const message = (type: string, body: number[]) => {
    const bytes = Buffer.alloc(5 + body.length)
    bytes.write(type)
    bytes.writeUInt32BE(4 + body.length, 1)
    bytes.set(body, 5)
    return bytes
  }
  const ROW = message('D', [0, 1, 0, 0, 0, 1, 0x37]) // one column: 7
  const DONE = message('C', [...Buffer.from('SELECT 1\0')])
  const READY = message('Z', ['I'.charCodeAt(0)])
  const odd: Record<string, Buffer> = {
    'a row too many': ROW,
    'an end too many': DONE,
    'a readiness too many': READY,
    'a whole answer too many': Buffer.concat([message('2', []), ROW, DONE, READY]),
    'a row of another shape': message('D', [0, 2, 0, 0, 0, 1, 0x37, 0, 0, 0, 1, 0x37]),
  }
  test.each(shortOf(Object.entries(odd), 1))(
    '%s: its connection ends, and nobody is given it',
    async (_, extra) => {
      const { url, drop } = await freshDatabase(postgres.url)
      const proxy = await thatSlipsIn(url)
      const pool = await openPostgres(proxy.url)
      try {
        const ask = (number: number) =>
          pool.query<{ number: number }>('select $1::int as number, pg_sleep(0.02)', [number]).then(
            ([row]) => row!.number,
            (error: { code: string }) => error.code,
          )
        await Promise.all(Array.from({ length: CONNECTIONS }, (__, n) => ask(n)))
        for (let round = 0; round < 5; round++) {
          const asked = Array.from({ length: CONNECTIONS }, (__, n) => 1_000 * round + n)
          const answers = Promise.all(asked.map(ask))
          await Bun.sleep(10)
          proxy.slipIn(extra)
          for (const [i, answer] of (await answers).entries()) expect([asked[i], '08P01', 'CONNECTION_CLOSED']).toContain(answer)
          const later = Array.from({ length: 2 * CONNECTIONS }, (__, n) => -n)
          const settled = await Promise.all(later.map(ask))
          for (const [i, answer] of settled.entries()) expect([later[i], '08P01', 'CONNECTION_CLOSED']).toContain(answer)
        }
        expect(await Promise.all([1, 2, 3].map(ask))).toEqual([1, 2, 3])
      } finally {
        await pool.close()
        await proxy.close()
        await drop()
      }
    },
    180_000,
  )
})

describe.skipIf(!FULL)('through REST', () => {
  const SESSIONS = 12
  let parley: Parley
  beforeAll(async () => void (parley = await startParley({ engine: 'postgres' })), 180_000)
  afterAll(async () => parley?.close(), 180_000)

  interface Seat {
    id: string
    title: string
    headers: Record<string, string>
    doc: string
    said: string[]
  }
  const call = async (path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const response = await parley.send(path, { headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: response.status, body: (await response.json()) as any }
  }
  const open = async (n: number): Promise<Seat> => {
    const title = `Session ${n}`
    const { body } = await call('/api/sessions', {}, { title, description: '', creator_team_name: `Team ${n}` })
    const seat = {
      id: body.session_id,
      title,
      headers: { 'x-team-id': body.team_id },
      doc: `The text of session ${n}.`,
      said: [] as string[],
    }
    await call(`/api/sessions/${seat.id}/doc`, seat.headers, { content: seat.doc, expected_version: 0 })
    for (let m = 0; m < 6; m++) seat.said.push(`${title} says ${m}`)
    for (const text of seat.said) await call(`/api/sessions/${seat.id}/messages`, seat.headers, { content: { text } })
    return seat
  }
  const isOwn =
    ({ title }: Seat) =>
    (text: string) =>
      text.startsWith(`${title} says `)
  const texts = (messages: any[]): string[] => messages.filter(({ type }) => type === 'chat').map(({ content }) => content.text)

  // The right answer of each call.
  const CALLS: Record<string, (seat: Seat) => Promise<{ status: number; right: boolean; body: unknown }>> = {
    doc: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/doc`, seat.headers)
      return { status, body, right: body.content === seat.doc && body.version > 0 }
    },
    history: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/messages`, seat.headers)
      const said = texts(body.messages ?? [])
      return { status, body, right: said.length >= 6 && said.every(isOwn(seat)) }
    },
    wait: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/wait?since_cursor=0&timeout=0`, seat.headers)
      const said = texts(body.messages ?? [])
      return { status, body, right: seat.said.every((text, n) => said[n] === text) }
    },
    session: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}`, seat.headers)
      return { status, body, right: body.session_id === seat.id && body.title === seat.title }
    },
    participants: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/participants`, seat.headers)
      return { status, body, right: body.participants?.[0]?.is_self === true }
    },
    post: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/messages`, seat.headers, {
        content: { text: `${seat.title} says more` },
      })
      return { status, body, right: body.cursor > 6 }
    },
    write: async (seat) => {
      const { status, body } = await call(`/api/sessions/${seat.id}/metadata`, seat.headers, {
        description: crypto.randomUUID(),
        reason: 'load',
      })
      return { status, body, right: body.title === seat.title }
    },
  }
  const DDL = [
    ['session_docs', 'content'],
    ['sessions', 'title'],
    ['participants', 'team_name'],
    ['events', 'author_name'],
  ] as const

  test(
    'the mixed load: every answer is right, or a 503',
    async () => {
      const seats = await Promise.all(Array.from({ length: SESSIONS }, (_, n) => open(n)))
      const admin = parley.database
      const names = Object.keys(CALLS)
      const bad: unknown[] = []
      const statuses: Record<string, number> = {}
      const isOver = untilEnough(SECONDS, () => (statuses['200'] ?? 0) >= ENOUGH)
      const caller = async (n: number) => {
        for (let turns = 0; !isOver(); turns++) {
          const seat = seats[(n + turns) % SESSIONS]!
          const name = names[Math.floor(Math.random() * names.length)]!
          const { status, right, body } = await CALLS[name]!(seat)
          statuses[status] = (statuses[status] ?? 0) + 1
          if (status !== 503 && !(status === 200 && right)) bad.push({ name, status, body })
          if (turns % 10 === 9) await Bun.sleep(1)
        }
      }
      const triggers = async () => {
        for (let turns = 0; !isOver(); turns++, await Bun.sleep(EVERY_MS)) {
          const [table, column] = DDL[turns % DDL.length]!
          await admin.query(`alter table ${table} alter ${column} type ${turns % 8 < 4 ? 'varchar' : 'text'}`).catch(() => {})
          await onEachConnection(parley.database, 'deallocate all')
        }
      }
      await Promise.all([...Array.from({ length: CALLERS }, (_, n) => caller(n)), triggers()])
      if (process.env.STALE_SECONDS) console.log(SECONDS, 's of mixed load, answers by status:', statuses)
      expect(bad.slice(0, 3)).toEqual([])
      expect(statuses['200'] ?? 0).toBeGreaterThanOrEqual(ENOUGH)

      await Bun.sleep(2_000)
      const after = await Promise.all(seats.flatMap((seat) => names.map(async (name) => ({ name, ...(await CALLS[name]!(seat)) }))))
      expect(after.filter(({ status, right }) => status !== 200 || !right)).toEqual([])
      for (const seat of seats) {
        const rows = await parley.database.query<{ sequence: number }>('select sequence from events where session_id = $1 order by 1', [
          seat.id,
        ])
        expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, n) => n + 1))
      }
    },
    (SECONDS + 180) * 1_000,
  )
})
