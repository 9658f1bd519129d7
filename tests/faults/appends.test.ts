// Many write at once, and each race has exactly one outcome [P7 P9].
//   FULL=1 bun test tests/faults/appends.test.ts    3,200 appends by 32 teams, 32 updates of each of 50 versions, 1,000 conclusions
import { describe, expect, test } from 'bun:test'
import { FULL } from '../support/full.ts'
import { onEveryServer, withServer } from './engines.ts'
import { call, whileUnavailable, type Answer, expectSaid, expectUnbroken, numbers, openRoom, post, readFeed, type Room } from './rooms.ts'

const TEAMS = FULL ? 32 : 8
const APPENDS = FULL ? 3_200 : 200
const AT_ONCE = 200 // appends
const A_PAGE = FULL ? 500 : 80 // versions of the history
const VERSIONS = FULL ? 50 : 5
const UPDATES = FULL ? 32 : 20 // of each version
const CONCLUSIONS = FULL ? 1_000 : 20
const TOGETHER = 20 // sessions that are concluded at the same time
const MAY_TAKE_MS = FULL ? 1_200_000 : 180_000

// A connection that an earlier test has left idle may be closed by the server in the moment in which it is used again.
const onNewConnection = (request: Request) => fetch(request, { keepalive: false })

onEveryServer((server) => {
  const inDoc = (room: Room, method: string, path: string, body?: unknown, team = room.teams[0]!) =>
    call(room.url, method, `/api/sessions/${room.session}/doc${path}`, { team, ...(body ? { body } : {}) })

  const historyOf = async (room: Room): Promise<{ version: number; written_by_team_id: string }[]> => {
    const { body } = await inDoc(room, 'GET', `/history?limit=${A_PAGE}`)
    const versions = body.versions
    for (let { next_cursor } = body; next_cursor !== null;) {
      const page = await inDoc(room, 'GET', `/history?limit=${A_PAGE}&before_version=${next_cursor}`)
      versions.push(...page.body.versions)
      next_cursor = page.body.next_cursor
    }
    return versions
  }

  test(
    'parallel appends give as many lines and versions, and one that gets 503 succeeds with its key',
    async () => {
      const room = await openRoom(server().url, TEAMS)
      const writerOf = (n: number) => room.teams[n % TEAMS]!
      const lines = numbers(APPENDS).map((n) => `- finding ${n}`)
      // On a busy machine some wait longer than an answer may take: 503, tried again with the same key.
      const append = async (text: string, n: number): Promise<Answer> => {
        for (;;) {
          const answer = await inDoc(room, 'POST', '/append', { text, idempotency_key: `key ${n}` }, writerOf(n))
          if (answer.status !== 503) return answer
          await Bun.sleep(200)
        }
      }
      const answers: Answer[] = []
      for (let n = 0; n < APPENDS; n += AT_ONCE)
        answers.push(...(await Promise.all(lines.slice(n, n + AT_ONCE).map((line, nth) => append(line, n + nth)))))
      expect(answers.map(({ status }) => status)).toEqual(lines.map(() => 200))
      expect(answers.map(({ body }) => body.version as number).toSorted((a, b) => a - b)).toEqual(numbers(APPENDS))
      const { body } = await inDoc(room, 'GET', '')
      expect(body.version).toBe(APPENDS)
      expect((body.content as string).split('\n').toSorted()).toEqual(lines.toSorted())
      const handleOf = new Map(answers.map(({ body }, n) => [body.version as number, writerOf(n).split('.')[0]!]))
      expect((await historyOf(room)).map(({ version, written_by_team_id }) => [version, written_by_team_id])).toEqual(
        numbers(APPENDS)
          .toReversed()
          .map((version) => [version, handleOf.get(version)!]),
      )
    },
    MAY_TAKE_MS,
  )

  test('of many updates that expect one version exactly one wins, and its text is the doc', async () => {
    const room = await openRoom(server().url, TEAMS)
    for (let version = 0; version < VERSIONS; version++) {
      const answers = await Promise.all(
        numbers(UPDATES).map((n) => {
          const update = { content: `draft ${version}/${n}`, expected_version: version, idempotency_key: `${version}/${n}` }
          return whileUnavailable(() => inDoc(room, 'PUT', '', update, room.teams[n % TEAMS]))
        }),
      )
      const winners = answers.flatMap(({ status }, i) => (status === 200 ? [i + 1] : []))
      expect(winners).toHaveLength(1)
      expect(answers[winners[0]! - 1]!.body.version).toBe(version + 1)
      for (const { status, body } of answers) {
        if (status === 200) continue
        expect({ status, body }).toMatchObject({
          status: 409,
          body: { error: { code: 'version_conflict', details: { current_version: version + 1 } } },
        })
      }
      expect((await inDoc(room, 'GET', '')).body).toEqual({ content: `draft ${version}/${winners[0]}`, version: version + 1 })
    }
  }, 180_000)

  test(
    'nothing is said after the conclusion: each of sixteen posters is before it or gets 403',
    async () => {
      let passed = 0
      let refused = 0
      const concludeOne = async (room: Room, nth: number) => {
        const said: string[] = []
        const poster = async (n: number) => {
          for (let count = 0; count < 100; count++) {
            const text = `${n}/${count}`
            const say = () => post(room, text, { team: room.teams[n % 2]!, key: text, send: onNewConnection })
            let { status, body } = await say()
            while (status === 503) ({ status, body } = await say()) // a machine that is busy with others
            if (status === 200) {
              said.push(text)
              continue
            }
            expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: 'session_closed' } } })
            refused++
            return
          }
        }
        const conclude = async () => {
          await Bun.sleep(20 + nth * 10 * Math.random())
          const ask = () =>
            call(room.url, 'POST', `/api/sessions/${room.session}/conclude`, {
              team: room.teams[0]!,
              key: 'the conclusion',
              body: { summary_section: 'We ship.' },
            })
          let answer = await ask()
          while (answer.status === 503) answer = await ask()
          return answer
        }
        const [concluded] = await Promise.all([conclude(), ...numbers(16).map(poster)])
        expect(concluded.status).toBe(200)
        passed += said.length
        const items = await readFeed(room)
        expectUnbroken(items, said.length + 2)
        expect(items.at(-1)).toMatchObject({ type: 'system', event: 'session_concluded' })
        expectSaid(items, said)
        expect((await inDoc(room, 'GET', '')).body).toEqual({ content: '## Conclusion\n\nWe ship.\n', version: 1 })
      }
      for (let done = 0; done < CONCLUSIONS; done += TOGETHER) {
        const rooms = await Promise.all(numbers(TOGETHER).map(() => openRoom(server().url)))
        await Promise.all(rooms.map(concludeOne))
      }
      expect(refused).toBe(CONCLUSIONS * 16)
      expect(passed).toBeGreaterThan(0)
    },
    MAY_TAKE_MS,
  )

  test('forty joins at once with good tokens bring the same teams back', async () => {
    const room = await openRoom(server().url, 4)
    const path = `/api/sessions/${room.session}/join`
    const again = (n: number) => call(server().url, 'POST', path, { team: room.teams[n % 4]!, body: { team_name: "Bea's Team" } })
    const answers = await Promise.all(numbers(40).map((n) => whileUnavailable(() => again(n))))
    expect(answers.map(({ status, body }) => [status, body.team_id])).toEqual(numbers(40).map((n) => [200, room.teams[n % 4]!]))
    expectUnbroken(await readFeed(room), 3)
  }, 180_000)
})

describe('on the embedded database, which takes a turn for each call', () => {
  const embedded = withServer('pglite')

  test('callers who open a connection for each call do not hold up one who keeps a connection', async () => {
    const room = await openRoom(embedded().url)
    let answered = false
    const poster = async (n: number) => {
      for (let count = 0; count < 50 && !answered; count++) await post(room, `${n}/${count}`, { send: onNewConnection })
      return answered
    }
    const keeper = async () => {
      for (let asked = 0; asked < 5; asked++) expect((await call(room.url, 'GET', '/healthz')).status).toBe(200)
      answered = true
    }
    const [, ...stopped] = await Promise.all([keeper(), ...numbers(40).map(poster)])
    expect(stopped).not.toContain(false)
  }, 180_000)
})
