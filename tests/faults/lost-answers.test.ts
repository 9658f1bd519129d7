// Requests and answers get lost on the way, and clients send again with the same key: each write happens once, and every retry is told the
// same [P8]. A server that is killed within a conclusion or an update has done all of it or nothing [P7].
//   FULL=1 bun test tests/faults/lost-answers.test.ts    10,000 posts, and 300 kills among the statements of writes
import { expect, test } from 'bun:test'
import { FULL } from '../support/full.ts'
import { thatCuts } from '../support/cutting-proxy.ts'
import { thatCounts } from '../support/proxy.ts'
import { startServer } from '../support/server.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { databaseOf, withServer } from './engines.ts'
import { acked, call, numbers, openRoom, post, readBy, readFeed, type Answer, type Room } from './rooms.ts'

const POSTS = FULL ? 10_000 : 200
const POSTERS = 8
const CHANCES = { before: 0.1, after: 0.1, delayed: 0.1 }
const KILLS = FULL ? 300 : 2
const AT_ONCE = 4 // writes that a kill may cut short
const STATEMENTS = FULL ? 24 : 6 // a kill comes after so many of them at the most; all four take more than six
const AFTER_AN_ANSWER = FULL ? 10 : 2 // one of so many kills
const MAY_TAKE_MS = FULL ? 1_800_000 : 180_000

const server = withServer('postgres')

// Each request has a connection of its own, and so its own fate.
const alone = (request: Request) => fetch(request, { keepalive: false })

const postAll = async (room: Room, url: string, nth: number, told: Map<string, string>): Promise<{ log: Entry[]; tries: number }> => {
  const team = room.teams[nth]!
  const log: Entry[] = []
  let tries = 0
  for (let n = 0; n < POSTS / POSTERS; n++) {
    const text = `${nth}/${n}`
    const key = `key ${text}`
    let answer: Answer | undefined
    for (; answer?.status !== 200; tries++) answer = await post({ ...room, url }, text, { team, key, send: alone }).catch(() => undefined)
    told.set(text, answer.body.message_id)
    if (n % 20 === 0) expect((await post(room, text, { team, key })).body).toEqual(answer.body)
    log.push(acked(text, answer.body.cursor, `poster ${nth}`))
  }
  return { log, tries }
}

test(
  'posts through a network that loses a fifth of them: each is there once, and every retry is told the first one’s id',
  async () => {
    const network = await thatCuts(server().url, CHANCES)
    try {
      const room = await openRoom(server().url, POSTERS)
      const told = new Map<string, string>()
      const posted = await Promise.all(room.teams.map((_, nth) => postAll(room, network.url, nth, told)))
      const items = await readFeed(room)
      expectFaultless([...posted.flatMap(({ log }) => log), readBy('the reader', items)])
      expect(items).toHaveLength(POSTERS - 1 + POSTS)
      for (const { id, type, content } of items) if (type === 'chat') expect(told.get(content!.text)).toBe(id)
      const { before, after } = network.cut
      expect(Math.min(before, after)).toBeGreaterThan(POSTS / 40)
      const tries = posted.reduce((sum, one) => sum + one.tries, 0)
      console.log(`${POSTS} posts in ${tries} tries: ${before} cut before, ${after} after`)
    } finally {
      await network.close()
    }
  },
  MAY_TAKE_MS,
)

/** Every other one concludes its session, the others write the document. */
const write = ({ url, session, teams }: Room, nth: number) =>
  nth % 2 === 0
    ? call(url, 'POST', `/api/sessions/${session}/conclude`, { team: teams[0]!, body: { summary_section: 'We ship.' } })
    : call(url, 'PUT', `/api/sessions/${session}/doc`, { team: teams[0]!, body: { content: 'Ship.', expected_version: 0 } })

test(
  'a server killed within conclusions and updates of documents has done each of them whole or not at all',
  async () => {
    const outcomes = { done: 0, undone: 0 }
    const { environment, drop } = await databaseOf('postgres')
    let statement: (() => void) | undefined // called after each one that the database has done, before the server hears of it
    const proxy = await thatCounts(environment.DATABASE_URL!, () => statement?.())
    const dying = await startServer({ DATABASE_URL: proxy.url })
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const rooms = await Promise.all(numbers(AT_ONCE).map(() => openRoom(dying.url, 1)))
        const killed = Promise.withResolvers<void>()
        const answered = kill % AFTER_AN_ANSWER === 0
        let left = answered ? Infinity : 1 + Math.floor(Math.random() * STATEMENTS)
        statement = () => void (--left === 0 && dying.kill().then(killed.resolve))
        const writing = rooms.map((room, nth) => write(room, nth).catch(() => undefined))
        await Promise.race([killed.promise, answered ? Promise.race(writing) : Promise.all(writing)])
        statement = undefined
        await dying.kill()
        const answers = await Promise.all(writing)
        await dying.restart()
        for (const [nth, room] of rooms.entries()) {
          const found = await stateOf(room)
          expect([nth % 2 === 0 ? CONCLUDED : UPDATED, UNTOUCHED]).toContainEqual(found)
          if (answers[nth]?.status === 200) expect(found).not.toEqual(UNTOUCHED)
          outcomes[found.version === 1 ? 'done' : 'undone']++
        }
      }
    } finally {
      await dying.remove()
      await proxy.close()
      await drop()
    }
    expect(outcomes.done).toBeGreaterThan(0)
    expect(outcomes.undone).toBeGreaterThan(0)
    console.log(`${KILLS} kills within ${KILLS * AT_ONCE} writes: ${outcomes.done} were done, ${outcomes.undone} were not`)
  },
  MAY_TAKE_MS,
)

const UNTOUCHED = { closed: false, version: 0, versions: [], events: [], content: '' }
const CONCLUDED = { closed: true, version: 1, versions: [1], events: ['session_concluded'], content: '## Conclusion\n\nWe ship.\n' }
const UPDATED = { closed: false, version: 1, versions: [1], events: [], content: 'Ship.' }

const stateOf = async (room: Room) => {
  const read = async (path: string) => (await call(room.url, 'GET', `/api/sessions/${room.session}${path}`, { team: room.teams[0]! })).body
  const { content, version } = await read('/doc')
  const { versions } = await read('/doc/history')
  const { session_closed, messages } = await read('/wait?since_cursor=0&timeout=0&include_trace=true')
  return {
    closed: session_closed as boolean,
    version,
    versions: versions.map((one: { version: number }) => one.version),
    events: messages.map(({ event, content: said }: { event?: string; content?: { event?: string } }) => event ?? said?.event),
    content,
  }
}
