// In one process a wait never sleeps through a message, for it subscribes before it reads, and a held one costs nothing [P3].
import { expect, test } from 'bun:test'
import type { Intervals } from '../../src/process/background.ts'
import { FULL } from '../support/full.ts'
import { LOCAL, openInProcess } from './engines.ts'
import { expectUnbroken, gauge, numbers, openRoom, post, until, wait } from './rooms.ts'

const ROUNDS = FULL ? 20_000 : 200
const HELD = FULL ? 10_000 : 500
const [SWEEP_MS, FLUSH_MS] = [900, 200] // in place of 4.5 s and 1 s
const LOOKS_MS = 2_000
const LANES = 4 // that many rooms at the same time: reads and commits of one get between those of another

const opened = async (intervals: Intervals = {}) => {
  const parley = await openInProcess({}, undefined, { intervals })
  return { ...parley, [Symbol.asyncDispose]: parley.close }
}

test('of many waits that race with a post none times out', async () => {
  await using parley = await opened()
  const { send } = parley
  let slow = 0
  await Promise.all(
    numbers(LANES).map(async () => {
      const room = await openRoom(LOCAL, 2, send)
      const seen = [{ sequence: 1 }]
      for (let round = 0; round < ROUNDS / LANES; round++) {
        const posted = Bun.sleep(Math.random() * 3).then(() => post(room, `round ${round}`, { send }))
        const from = performance.now()
        const { status, body } = await wait(room, seen.at(-1)!.sequence, { team: room.teams[1]!, timeout: 4, send }) // the sweep would wake it later
        slow = Math.max(slow, performance.now() - from)
        expect(status).toBe(200)
        expect(body.messages).toHaveLength(1)
        seen.push(...body.messages)
        expect((await posted).body.cursor).toBe(body.next_cursor)
      }
      expectUnbroken(seen as never, ROUNDS / LANES + 1)
    }),
  )
  expect(parley.services.waiters.size).toBe(0)
  console.log(`${ROUNDS} rounds: slowest wake ${slow.toFixed(0)} ms`)
}, 900_000)

test('many held waits send no statements of their own', async () => {
  await using parley = await opened({ sweep: SWEEP_MS, presence: FLUSH_MS })
  const { send, services } = parley
  const EACH = 32
  const TEAMS = Math.ceil(HELD / EACH / 8) * 8
  const rooms = await Promise.all(numbers(TEAMS / 8).map(() => openRoom(LOCAL, 8, send)))
  const sentWithin = async (ms: number) => {
    const before = await gauge(LOCAL, 'database_statements', send)
    await Bun.sleep(ms)
    return (await gauge(LOCAL, 'database_statements', send)) - before
  }
  await until('what was written before is indexed', 60_000, async () => (await sentWithin(1_000)) <= 2)
  const clients = new AbortController()
  const seats = rooms.flatMap(({ session, teams }) => teams.flatMap((team) => numbers(EACH).map(() => ({ session, team }))))
  const answered: number[] = []
  const waits = seats.slice(0, HELD).map(async ({ session, team }) => {
    const headers = { host: 'localhost', 'x-team-id': team }
    const url = `${LOCAL}/api/sessions/${session}/wait?since_cursor=7&timeout=30`
    const response = await send(new Request(url, { headers, signal: clients.signal }))
    answered.push(response.status)
  })
  await until('all waits are held', 20_000, async () => (await gauge(LOCAL, 'waits_held', send)) === HELD)
  const sent = await sentWithin(LOOKS_MS)
  expect(services.waits.held).toBe(HELD)
  expect(answered).toEqual([])
  expect(sent).toBeLessThanOrEqual(2 * (LOOKS_MS / SWEEP_MS + LOOKS_MS / FLUSH_MS)) // a sweep and a flush of who was seen, again and again
  clients.abort()
  const freed = await until('all waits are over', 60_000, () => services.waiters.size === 0 && services.waits.held === 0)
  await Promise.all(waits)
  console.log(`${HELD} waits held for ${LOOKS_MS} ms: ${sent} statements; freed ${freed.toFixed(0)} ms after their callers went`)
}, 180_000)
