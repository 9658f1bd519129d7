// Whoever guesses tokens, sign-ins, keys and the access token finds none, however often they try. The tries cost no memory, and a team
// elsewhere is answered meanwhile.
//   FULL=1 bun test tests/faults/guessing.test.ts    100,000 tries each, instead of 2,000
import { heapStats } from 'bun:jsc'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newKey, newSecret } from '../../src/core/ids.ts'
import { KEY_SCOPES } from '../../src/core/key-scopes.ts'
import { FULL } from '../support/full.ts'
import { startParley, type Parley } from '../support/parley.ts'
import { LOCAL } from './engines.ts'
import { expectSaid, numbers, openRoom, post, readFeed, wait, type Room, type Send } from './rooms.ts'

const TRIES = FULL ? 100_000 : 2_000
const AT_ONCE = 50
const MOST_BYTES = 8 * 1024 * 1024 // by which all tries together may let the memory grow
const RATE_LIMIT = 60
const OF_AN_ADDRESS = 20 * RATE_LIMIT // requests a minute, whatever tokens it invents
const EXCHANGES = { least: 5, most: RATE_LIMIT / 2 } // of the team elsewhere
const ACCESS_TOKEN = newSecret()

const CASES = [
  ['on a server that is open', {}],
  ['where RATE_LIMIT and ACCESS_TOKEN are set', { RATE_LIMIT: String(RATE_LIMIT), ACCESS_TOKEN }],
] as const

let first: Parley
beforeAll(async () => void (first = await startParley({ engine: 'postgres' })), 180_000)
afterAll(() => first?.close(), 180_000)

describe.each(CASES)('%s', (_, environment: Record<string, string>) => {
  let parley: Awaited<ReturnType<Parley['beside']>>
  let room: Room
  beforeAll(async () => {
    parley = await first.beside(environment)
    room = await openRoom(LOCAL, 2, from('10.0.0.3'))
  }, 180_000)
  afterAll(() => parley?.close())

  /** Calls from this address, with the access token. */
  const from =
    (address: string): Send =>
    (request) => {
      request.headers.set('authorization', `Bearer ${ACCESS_TOKEN}`)
      return parley.app.fetch(request, { address })
    }

  // The public half of a token is known to everybody in its session.
  const guesses = (): [path: string, headers: Record<string, string>][] => {
    const [handle] = room.teams[0]!.split('.')
    const wanted = `/api/sessions/${room.session}/wait?since_cursor=0&timeout=0`
    return [
      [wanted, { 'x-team-id': `${handle}.${newSecret()}`, authorization: `Bearer ${ACCESS_TOKEN}` }],
      [wanted, { 'x-team-id': `${crypto.randomUUID()}.${newSecret()}`, authorization: `Bearer ${ACCESS_TOKEN}` }],
      [`/api/sessions/${room.session}/doc`, { cookie: `parley_person=${crypto.randomUUID()}.${newSecret()}` }],
      ...KEY_SCOPES.map((scope): [string, Record<string, string>] => ['/api/sessions', { authorization: `Bearer ${newKey(scope)}` }]),
      ...(environment.ACCESS_TOKEN
        ? [['/api/sessions', { authorization: `Bearer ${newSecret()}` }] as [string, Record<string, string>]]
        : []),
    ]
  }

  const heapBytes = () => {
    parley.logged.length = 0
    Bun.gc(true)
    return heapStats().heapSize
  }

  test('no guess is a good one, none costs memory, and a team elsewhere posts and hears', async () => {
    const statuses: Record<number, number> = {}
    const guess = async (times: number) => {
      let begun = 0
      const lane = async () => {
        while (begun < times) {
          const these = guesses()
          const [path, headers] = these[begun++ % these.length]!
          const request = new Request(`${LOCAL}${path}`, { headers: { host: 'localhost', ...headers } })
          const { status, headers: told } = await parley.app.fetch(request, { address: '10.0.0.1' })
          statuses[status] = (statuses[status] ?? 0) + 1
          await new Promise(setImmediate) // requests that come by a socket let others have their turn, too
          if (status === 429) expect(Number(told.get('retry-after'))).toBeGreaterThan(0)
        }
      }
      await Promise.all(numbers(AT_ONCE).map(lane))
    }
    const began = performance.now()
    await guess(TRIES / 4) // until whatever is kept of anybody is kept
    const before = heapBytes()
    let over = false
    const said: string[] = []
    const calm = async () => {
      const send = from('10.0.0.2')
      for (let n = 0; n < EXCHANGES.least || (!over && n < EXCHANGES.most); n++) {
        const text = `number ${n}`
        const posted = await post(room, text, { send })
        expect(posted.status).toBe(200)
        said.push(text)
        const heard = await wait(room, posted.body.cursor - 1, { team: room.teams[1]!, timeout: 0, send })
        expect([heard.status, heard.body.messages.length]).toEqual([200, 1])
        await Bun.sleep(20)
      }
    }
    await Promise.all([guess((3 * TRIES) / 4).finally(() => (over = true)), calm()])
    const grown = heapBytes() - before
    expect(grown).toBeLessThan(MOST_BYTES)
    expect(Object.values(statuses).reduce((sum, count) => sum + count)).toBe(TRIES)
    const minutes = Math.ceil((performance.now() - began) / 60_000) + 1
    expect(Object.keys(statuses)).toEqual(environment.RATE_LIMIT ? ['401', '429'] : ['401'])
    if (environment.RATE_LIMIT) expect(statuses[401]).toBeLessThanOrEqual(minutes * OF_AN_ADDRESS)
    expectSaid(await readFeed(room, from('10.0.0.4')), said)
    console.log(`${TRIES} tries: ${JSON.stringify(statuses)}; the memory grew by ${(grown / 1024).toFixed(0)} KiB`)
  }, 900_000)
})
