// Two instances on one Postgres are replaced one after the other, as an update does it: whoever is refused by one goes on at the other, with
// its key or its cursor alone, and nothing is lost, doubled or skipped [P2].
//   FULL=1 bun test tests/faults/rolling.test.ts    each instance ten times, under the load of four rooms; and from each earlier version
import { describe, expect, test } from 'bun:test'
import { BESIDE, earlierProgram, missing } from '../support/earlier.ts'
import { FULL } from '../support/full.ts'
import { startServer, THIS_PROGRAM, type TestServer } from '../support/server.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { databaseOf } from './engines.ts'
import { acked, openRoom, post, readBy, readFeed, wait, type Room } from './rooms.ts'

const ROUNDS = FULL ? 10 : 1
const ROOMS = FULL ? 4 : 1
const POSTERS = 4 // in each
const BETWEEN_MS = 300 // both serve: load lies on what has just come back, too
const MAY_TAKE_MS = FULL ? 900_000 : 180_000

type Anywhere = <T extends { status: number }>(attempt: (url: string) => Promise<T>) => Promise<T>

/** Asks one instance until it refuses or is gone, and then the other. */
const anywhere = (servers: TestServer[], first: number): Anywhere => {
  let at = first
  return async (attempt) => {
    for (;;) {
      const answer = await attempt(servers[at % servers.length]!.url).catch(() => undefined)
      if (answer && answer.status !== 503) return answer
      at++
      await Bun.sleep(10)
    }
  }
}

const keepPosting = async (room: Room, n: number, ask: Anywhere, over: { now: boolean }): Promise<Entry[]> => {
  const written: Entry[] = []
  while (!over.now) {
    const text = `${room.session.slice(-8)} ${n}/${written.length}`
    const { status, body } = await ask((url) => post({ ...room, url }, text, { team: room.teams[n]!, key: `key ${text}` }))
    expect([status, body]).toEqual([200, expect.anything()])
    written.push(acked(text, body.cursor, `poster ${n}`, room.session))
    if (!FULL) await Bun.sleep(75) // a load, but not all that the processors can do
  }
  return written
}

const keepFollowing = async (room: Room, ask: Anywhere, over: { now: boolean }): Promise<Entry[]> => {
  const read: Entry[] = []
  for (let since = 0; !over.now;) {
    const { status, body } = await ask((url) => wait({ ...room, url }, since, { timeout: 2 }))
    expect(status).toBe(200)
    read.push({ ...readBy('who follows', body.messages, room.session), since })
    since = body.next_cursor
  }
  return read
}

/** Ends an instance in good order and starts it again, as this program if one is named; resolves with its exit code. */
const replace = async (server: TestServer, program?: string): Promise<number | null> => {
  const { code } = await server.terminate()
  await server.restart(program)
  await Bun.sleep(BETWEEN_MS)
  return code
}

/** Two instances of this program, and load on both while `replaceAll` replaces them; resolves when nothing was lost, doubled or skipped. */
const underLoad = async (program: string | undefined, replaceAll: (servers: TestServer[]) => Promise<(number | null)[]>) => {
  const { environment, drop } = await databaseOf('postgres')
  const servers = [await startServer(environment, program), await startServer(environment, program)]
  try {
    const rooms = await Promise.all(Array.from({ length: ROOMS }, () => openRoom(servers[0]!.url, POSTERS)))
    const over = { now: false }
    const posters = rooms.flatMap((room) => room.teams.map((_, n) => keepPosting(room, n, anywhere(servers, n), over)))
    const followers = rooms.map((room, n) => keepFollowing(room, anywhere(servers, n), over))
    const codes = await replaceAll(servers)
    over.now = true
    const written = (await Promise.all(posters)).flat()
    const followed = (await Promise.all(followers)).flat()
    const whole = await Promise.all(rooms.map(async (room) => readBy('who reads all of it', await readFeed(room), room.session)))
    expectFaultless([...written, ...followed, ...whole])
    expect(codes).toEqual(codes.map(() => 0))
    expect(written.length).toBeGreaterThan(codes.length * ROOMS)
    console.log(`${written.length} written while instances were replaced ${codes.length} times`)
  } finally {
    for (const server of servers) await server.remove()
    await drop()
  }
}

test(
  'instances that are replaced one after the other under load lose nothing, double nothing, and leave nobody out',
  () =>
    underLoad(undefined, async (servers) => {
      const codes = []
      for (let round = 0; round < ROUNDS; round++) for (const server of servers) codes.push(await replace(server))
      return codes
    }),
  MAY_TAKE_MS,
)

describe.skipIf(!FULL)('an update of two instances', () => {
  for (const commit of BESIDE) {
    const why = missing(commit)
    test.skipIf(why !== undefined)(
      `from ${commit}, one of them taken back in between, loses nothing and doubles nothing${why ? ` (not here: ${why})` : ''}`,
      async () => {
        const earlier = earlierProgram(commit)
        try {
          await underLoad(earlier.folder, async ([one, other]) => [
            await replace(one!, THIS_PROGRAM),
            await replace(one!, earlier.folder),
            await replace(one!, THIS_PROGRAM),
            await replace(other!, THIS_PROGRAM),
          ])
        } finally {
          earlier.remove()
        }
      },
      MAY_TAKE_MS,
    )
  }
})
