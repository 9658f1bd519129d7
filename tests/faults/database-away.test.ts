// Postgres dies or hangs, and every caller still gets an answer, in time and in JSON [P10 R4 R5].
//   FULL=1 bun test tests/faults/database-away.test.ts    ten kills and 200 waits; frozen for ten seconds, with 100 waits
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { expectFaultless, type Entry } from './checker.ts'
import {
  acked,
  call,
  gauge,
  numbers,
  openRoom,
  post,
  readBy,
  readFeed,
  sent,
  textsOf,
  until,
  wait,
  whileUnavailable,
  type Answer,
  type Room,
} from './rooms.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'

const ANSWER_WITHIN_MS = whileBusy(6_000)
const BACK_WITHIN_MS = whileBusy(2_000)

const KILLS = FULL ? 10 : 1
const HELD = FULL ? { killed: 200, frozen: 100 } : { killed: 20, frozen: 20 }
const FROZEN_S = FULL ? 10 : 7
const TEAMS = 8 // a team holds 32 waits at the most

let database: TestPostgres
let server: TestServer
beforeAll(async () => {
  database = await startPostgres({ own: true })
  server = await startServer({ DATABASE_URL: (await freshDatabase(database.url)).url })
}, 180_000)
afterAll(async () => {
  database?.thaw()
  await server?.remove()
  await database?.stop()
}, 180_000)

interface Load {
  log: Entry[]
  acknowledged: number
  answers: { startedAt: number; ms: number; answer: Answer | Error }[]
  stop(): Promise<void>
}

// Each poster retries with the same key until it hears that its text was written.
const underLoad = (room: Room, posters = 4): Load => {
  const load: Load = { log: [], acknowledged: 0, answers: [], stop: async () => {} }
  let over = false
  const one = async (n: number) => {
    for (let count = 0; !over;) {
      const text = `${n}/${count}`
      const startedAt = performance.now()
      load.log.push(sent(text))
      const answer = await post(room, text, { key: `key ${text}` }).catch((error: Error) => error)
      load.answers.push({ startedAt, ms: performance.now() - startedAt, answer })
      if (!(answer instanceof Error) && answer.status === 200) {
        load.log.push(acked(text, answer.body.cursor, `poster ${n}`))
        load.acknowledged++
        count++
      }
      await Bun.sleep(25)
    }
  }
  const running = Array.from({ length: posters }, (_, n) => one(n))
  load.stop = async () => {
    over = true
    await Promise.all(running)
  }
  return load
}

const expectProperAnswers = ({ answers }: Load) => {
  for (const { answer } of answers) {
    if (answer instanceof Error) throw answer
    if (answer.status === 200) continue
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'unavailable', details: { outcome: 'unknown' } } } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect(answers.some(({ answer }) => !(answer instanceof Error) && answer.status === 503)).toBe(true)
  expect(answers.map(({ ms }) => Math.round(ms)).filter((ms) => ms >= ANSWER_WITHIN_MS)).toEqual([])
}

const expectNothingLost = async (room: Room, { log }: Load) => expectFaultless([...log, readBy('the reader', await readFeed(room))])

const holdWaits = (room: Room, count: number, timeout: number, since: number) =>
  Array.from({ length: count }, async (_, nth) => {
    const from = performance.now()
    const answer = await wait(room, since, { timeout, team: room.teams[nth % room.teams.length]! })
    return { answer, ms: performance.now() - from }
  })

const lastOf = async (room: Room) => (await readFeed(room)).at(-1)!.sequence

const expectEnded = async (waits: ReturnType<typeof holdWaits>, timeout: number) => {
  for (const { answer, ms } of await Promise.all(waits)) {
    expect([200, 503]).toContain(answer.status)
    expect(ms).toBeLessThan(timeout * 1000 + whileBusy(2_000))
    if (answer.status === 503) expect(answer.body.error.code).toBe('unavailable')
  }
}

const KILLED =
  'Postgres is killed and away for 3 s: calls get 503, the process lives, an open page is logged once, and posts pass again within 2 s of its return'

test.each(numbers(KILLS))(
  `${KILLED} %s`,
  async () => {
    const [room, quiet] = [await openRoom(server.url), await openRoom(server.url, TEAMS)]
    const pid = server.pid
    const waits = holdWaits(quiet, HELD.killed, 30, await lastOf(quiet))
    await until('the waits are held', 25_000, async () => (await gauge(server.url, 'waits_held')) === HELD.killed)
    const load = underLoad(room)
    const page = await fetch(`${server.url}/sessions/${quiet.session}/live`)
    const printed = server.output().length
    const logged = (line: string) => server.output().slice(printed).split(line).length - 1
    await Bun.sleep(500)
    await database.kill('SIGKILL')
    const downAt = performance.now()
    const readDoc = () => call(server.url, 'GET', `/api/sessions/${room.session}/doc`, { team: room.teams[0]! })
    await until('the last process of Postgres is gone', BACK_WITHIN_MS, async () => (await readDoc()).status !== 200)
    const read = await readDoc()
    expect(read).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
    expect(read.body.error.details).not.toHaveProperty('outcome') // nothing was to be written
    expect((await call(server.url, 'GET', '/readyz')).status).toBe(503)
    await Bun.sleep(3_000 - (performance.now() - downAt))
    await database.start()
    const upAt = performance.now()
    const goodAfter = await until('a good post', BACK_WITHIN_MS, () =>
      load.answers.some(({ startedAt, ms, answer }) => startedAt + ms > upAt && !(answer instanceof Error) && answer.status === 200),
    )
    await Bun.sleep(300)
    await load.stop()
    expectProperAnswers(load)
    const news = await whileUnavailable(() => post(quiet, 'It is back.', { key: 'news' }))
    await expectEnded(waits, 30)
    for (const { answer } of await Promise.all(waits)) if (answer.status === 200) expect(answer.body.next_cursor).toBe(news.body.cursor)
    await expectNothingLost(room, load)
    expect(server).toMatchObject({ pid, running: true })
    await until('the page is up to date', BACK_WITHIN_MS, () => logged('watched sessions are read again') === 1)
    expect(logged('reading watched sessions failed')).toBe(1)
    await page.body!.cancel()
    console.log(
      `Postgres killed: first good post after ${goodAfter.toFixed(0)} ms, slowest answer ${slowest(load)} ms, ${load.acknowledged} acknowledged`,
    )
  },
  180_000,
)

test('Postgres is frozen for seconds: every call is answered within 6 s, /readyz turns red and is green 2 s after the thaw', async () => {
  const [room, quiet] = [await openRoom(server.url), await openRoom(server.url, TEAMS)]
  const waits = holdWaits(quiet, HELD.frozen, 4, await lastOf(quiet))
  const load = underLoad(room)
  await Bun.sleep(500)
  await database.freeze()
  const frozenAt = performance.now()
  const red = call(server.url, 'GET', '/readyz').then(({ status }) => ({ status, ms: performance.now() - frozenAt }))
  const [doc, join] = await Promise.all([
    timed(() => call(server.url, 'GET', `/api/sessions/${room.session}/doc`, { team: room.teams[0]! })),
    timed(() => call(server.url, 'POST', `/api/sessions/${room.session}/join`, { body: { team_name: "Chris's Team" } })),
  ])
  for (const { answer, ms } of [doc, join]) {
    expect(answer.status).toBe(503)
    expect(ms).toBeLessThan(ANSWER_WITHIN_MS)
  }
  expect(join.answer.body.error.details.outcome).toBe('unknown')
  expect((await red).status).toBe(503)
  expect((await red).ms).toBeLessThan(ANSWER_WITHIN_MS)
  await Bun.sleep(FROZEN_S * 1_000 - (performance.now() - frozenAt))
  database.thaw()
  const thawedAt = performance.now()
  const green = await until('/readyz is green', BACK_WITHIN_MS, async () => {
    const response = await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
    return response?.ok === true
  })
  const goodAfter = await until('a good post', BACK_WITHIN_MS, () =>
    load.answers.some(({ startedAt, ms, answer }) => startedAt + ms > thawedAt && !(answer instanceof Error) && answer.status === 200),
  )
  await Bun.sleep(300)
  await load.stop()
  await expectEnded(waits, 4)
  await expectNothingLost(room, load)
  expectProperAnswers(load)
  console.log(
    `Postgres frozen: /readyz red after ${(await red).ms.toFixed(0)} ms, green ${green.toFixed(0)} ms after the thaw, good post by then + ${goodAfter.toFixed(0)} ms, slowest answer ${slowest(load)} ms`,
  )
}, 180_000)

test.skipIf(!FULL)(
  'who was told during a freeze that nobody knows whether it joined is not found in the session after it',
  async () => {
    const room = await openRoom(server.url)
    const roster = () => call(server.url, 'GET', `/api/sessions/${room.session}/participants`, { team: room.teams[0]! })
    await Promise.all(Array.from({ length: 20 }, roster)) // so that there are connections that the joins are sent on
    await database.freeze()
    const joins = Array.from({ length: 20 }, (_, n) =>
      call(server.url, 'POST', `/api/sessions/${room.session}/join`, { body: { team_name: `Team ${n}` } }),
    )
    await Bun.sleep(7_000)
    database.thaw()
    for (const { status } of await Promise.all(joins)) expect(status).toBe(503)
    await until('the roster is read', BACK_WITHIN_MS, async () => (await roster()).status === 200)
    await Bun.sleep(500)
    expect((await roster()).body.participants).toHaveLength(room.teams.length)
  },
  180_000,
)

const timed = async (ask: () => Promise<Answer>) => {
  const from = performance.now()
  const answer = await ask()
  return { answer, ms: performance.now() - from }
}

const slowest = ({ answers }: Load) => Math.max(...answers.map(({ ms }) => ms)).toFixed(0)

test.skipIf(!FULL)(
  'what was written although its poster was told that nobody knows is found by a search',
  async () => {
    const room = await openRoom(server.url)
    const found = async () => {
      const answer = await call(server.url, 'POST', '/api/history/search_sessions', { body: { query: 'zebrafish' } })
      return (answer.body as { data?: { result_count: number } }).data?.result_count
    }
    await post(room, 'first') // so that the next one asks the database nothing before it is sent
    await database.freeze()
    const told = await post(room, 'a zebrafish that arrives late')
    database.thaw()
    expect(told.status).toBe(503)
    await until('what was sent is written', 10_000, async () => textsOf(await readFeed(room)).some((text) => text.includes('zebrafish')))
    await until('it is found', 15_000, async () => (await found()) === 1)
  },
  180_000,
)
