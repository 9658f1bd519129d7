import { afterAll, describe, expect } from 'bun:test'
import { beforeAll, test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  onOneEngine,
  refused,
  room,
  seat,
  soon,
  transports,
  viaMcp,
  viaRest,
  type Call,
  type Parley,
  type Served,
} from '../support/parley.ts'

const ACCESS_TOKEN = 'an-access-token-of-some-length'
const VIEWER_PASSWORD = 'look-but-do-not-touch'

onOneEngine((parley) => {
  /** Runs the body over both transports, on the shared database with other configuration. */
  const behind = (env: Record<string, string>, body: (call: Call, served: () => Served & Pick<Parley, 'database'>) => void) => {
    describe(`with ${new URLSearchParams(env)}`, () => {
      let served: Served
      beforeAll(async () => {
        served = await parley().beside(env)
      })
      afterAll(() => served.services.drain())
      for (const [transport, via] of transports)
        describe(`over ${transport}`, () =>
          body(
            (...call) => via(served)(...call),
            () => served,
          ))
    })
  }

  behind({ LOG_LEVEL: 'debug' }, (call, served) => {
    test('tells each call, and what came of it, in the log', async () => {
      const { bea } = await room(call)
      const before = served().logged.length
      await done(bea('post_message', { content: { text: 'hello' } }))
      await refused(bea('post_message', { content: { text: '' } }), 'invalid_request')
      await done(bea('wait_for_messages', { since_cursor: 2, timeout: 1 }))
      const lines = served()
        .logged.slice(before)
        .map((line) => JSON.parse(line))
      expect(lines.map(({ level, message, outcome }) => `${level} ${message} ${outcome}`)).toEqual([
        'debug rooms.post_message ok',
        'debug rooms.post_message invalid_request',
        'debug rooms.wait_for_messages ok',
      ])
      for (const { ms } of lines) expect(ms).toBeWithin(0, 5_000)
      expect(lines[2].ms).toBeGreaterThan(900)
    })
  })
  behind({}, (call, served) => {
    test('logs no call', async () => {
      const { bea } = await room(call)
      await done(bea('post_message', { content: { text: 'hello' } }))
      expect(served().logged.filter((line) => line.includes('debug'))).toEqual([])
    })
  })

  const metadata = { title: 'New', reason: 'scope' }

  behind({ CONVENER_ONLY: 'conclude' }, (call) => {
    test('[A49] only the convener concludes, and anybody renames', async () => {
      const { alex, bea } = await room(call)
      await refused(bea('conclude_session', { summary_section: 'x' }), 'forbidden')
      expect((await done(bea('get_session'))).status).toBe('active')
      await done(bea('update_session_metadata', metadata))
      await done(alex('conclude_session', { summary_section: 'x' }))
    })
  })

  behind({ CONVENER_ONLY: 'metadata' }, (call) => {
    test('[A62] only the convener renames, and anybody concludes', async () => {
      const { alex, bea } = await room(call)
      await refused(bea('update_session_metadata', metadata), 'forbidden')
      await done(alex('update_session_metadata', metadata))
      await done(bea('conclude_session', { summary_section: 'x' }))
    })
  })

  for (const both of ['both', 'metadata, conclude'])
    behind({ CONVENER_ONLY: both }, (call, served) => {
      test('only the convener does either, and so may people', async () => {
        const { id, alex, bea } = await room(call)
        await refused(bea('update_session_metadata', metadata), 'forbidden')
        await refused(bea('conclude_session', { summary_section: 'x' }), 'forbidden')
        const person = await cookieOf(served(), { name: 'Robin', role: 'person' })
        await done(viaRest(served())('update_session_metadata', { session_id: id, ...metadata }, { person }))
        await done(viaRest(served())('conclude_session', { session_id: id, summary_section: 'x' }, { person }))
        await done(alex('conclude_session', { summary_section: 'x' }))
      })
    })

  behind({ ONE_SESSION_PER_TEAM: 'true' }, (call, served) => {
    test('[A37] a team that is at work elsewhere is refused under its name, until it leaves or falls silent', async () => {
      const name = `Cleo ${crypto.randomUUID()}`
      const [first, second] = [await opened(call, `A ${name}`), await opened(call, `B ${name}`)]
      const cleo = seat(call, await done(call('join_session', { session_id: first, team_name: name })))
      await refused(call('join_session', { session_id: second, team_name: name }), 'conflict')
      await refused(call('join_session', { session_id: second, team_name: ` ${name.toUpperCase()} ` }), 'conflict')
      await done(cleo('leave_session'))
      const again = seat(call, await done(call('join_session', { session_id: second, team_name: name })))
      await refused(call('join_session', { session_id: first, team_name: name }), 'conflict')
      await served().database.query(
        `update participants set last_seen_at = now() - interval '2 minutes', polling_until = null where team_id = $1`,
        [again.handle],
      )
      await done(call('join_session', { session_id: first, team_name: name }))
    })

    test('of ten joins at once to ten sessions one is granted', async () => {
      const name = `Ärzte ${crypto.randomUUID()}`
      const sessions = await Promise.all(Array.from({ length: 10 }, (_, i) => opened(call, `${i} ${name}`)))
      const answers = await Promise.all(sessions.map((session_id) => call('join_session', { session_id, team_name: name })))
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
      await refused(call('join_session', { session_id: await opened(call, `11 ${name}`), team_name: name.toUpperCase() }), 'conflict')
    })

    const opened = async (on: Call, creator_team_name: string): Promise<string> =>
      (await done(on('create_session', { title: 'T', description: '', creator_team_name }))).session_id
  })

  behind({ METADATA_MIN_INTERVAL: '1800' }, (call, served) => {
    test('[A62] a second change comes too soon, and says when it may be tried again', async () => {
      const { id, alex, bea } = await room(call)
      await done(alex('update_session_metadata', { title: 'One', reason: 'r' }))
      const error = await refused(bea('update_session_metadata', { title: 'Two', reason: 'r' }), 'rate_limited')
      expect(error.details.retry_after).toBeGreaterThan(1_700)
      expect(error.details.retry_after).toBeLessThanOrEqual(1_800)
      await served().database.query(`update sessions set updated_at = now() - interval '31 minutes' where id = $1`, [id])
      await done(bea('update_session_metadata', { title: 'Two', reason: 'r' }))
    })
  })

  behind({ MAX_WAITS: '1' }, (call, served) => {
    test('a wait past MAX_WAITS is 503 and told when to come again, and one that need not be held passes', async () => {
      const { alex, bea } = await room(call)
      const waiting = alex('wait_for_messages', { since_cursor: 1, timeout: 20 })
      await soon('one is held', () => served().services.waits.held === 1)
      const error = await refused(bea('wait_for_messages', { since_cursor: 1, timeout: 20 }), 'unavailable')
      expect(error.details.retry_after).toBeGreaterThan(0)
      await done(bea('wait_for_messages', { since_cursor: 0, timeout: 20 }))
      await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0 }))
      await done(bea('post_message', { content: 'end' }))
      await done(waiting)
    })
  })

  behind({ IDLE_AFTER: '1000', DISCONNECTED_AFTER: '2000' }, (call, served) => {
    test('the seconds of the roster are those of the configuration', async () => {
      const { id, alex, bea } = await room(call)
      for (const [silent, status] of [
        [990, 'active'],
        [1_010, 'idle'],
        [2_010, 'disconnected'],
      ] as const) {
        await served().database.query(
          `update participants set last_seen_at = now() - $2::float8 * interval '1 s' where session_id = $1 and team_id = $3`,
          [id, silent, bea.handle],
        )
        expect((await done(alex('list_participants'))).participants[1].status).toBe(status)
      }
    })
  })

  describe('ACCESS_TOKEN', () => {
    let served: Served
    beforeAll(async () => {
      served = await parley().beside({ ACCESS_TOKEN })
    })

    test.each(['/mcp', '/api/mcp', '/mcp/rooms', '/api/sessions', '/api/sessions/x/messages', '/api/openapi.json', '/api/nothing'])(
      'without it %s is 401 in JSON',
      async (path) => {
        for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: ACCESS_TOKEN }, { 'x-team-id': ACCESS_TOKEN }]) {
          const response = await served.send(path, { method: 'POST', body: '{}', headers: headers as Record<string, string> })
          expect(response.status).toBe(401)
          expect(response.headers.get('www-authenticate')).toBe('Bearer')
          expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } })
        }
      },
    )

    test('with it agents work over REST and over MCP, and still need their team’s token', async () => {
      const authorization = `Bearer ${ACCESS_TOKEN}`
      for (const via of [viaRest, viaMcp]) {
        const call: Call = (name, input, as = {}) => via(served)(name, input, { ...as, headers: { authorization, ...as.headers } })
        const { id, alex } = await room(call)
        await done(alex('post_message', { content: 'hello' }))
        await refused(call('get_session', { session_id: id }), 'unauthorized')
      }
    })

    test('health checks need none, and metrics do', async () => {
      expect((await served.send('/healthz')).status).toBe(200)
      expect((await served.send('/readyz')).status).toBe(200)
      expect((await served.send('/metrics')).status).toBe(401)
      expect((await served.send('/metrics', { headers: { authorization: `Bearer ${ACCESS_TOKEN}` } })).status).toBe(200)
    })

    test('a signed-in person’s page calls REST with its cookie, and MCP it does not open', async () => {
      const cookie = await cookieOf(served, { name: 'Robin', role: 'person' })
      expect((await served.send('/api/config', { headers: { cookie } })).status).toBe(200)
      expect((await served.send('/mcp', { method: 'POST', body: '{}', headers: { cookie } })).status).toBe(401)
    })
  })

  test('the sign-in page says what is open without the key', async () => {
    const says = async (env: Record<string, string>) => (await (await parley().beside(env)).send('/sign-in')).text()
    expect(await says({})).toContain('Reading is open')
    expect(await says({ ACCESS_TOKEN })).toContain('This server is private')
    expect(await says({ ACCESS_TOKEN, VIEWER_PASSWORD })).toContain('Operator key or password')
  })

  describe('VIEWER_PASSWORD', () => {
    let served: Served
    beforeAll(async () => {
      served = await parley().beside({ VIEWER_PASSWORD })
    })

    test('closes streams and metrics to strangers, and opens them to its cookie and to the session’s teams', async () => {
      const { id, bea } = await room(viaRest(served))
      const stream = `/api/sessions/${id}/stream`
      const status = async (path: string, headers: Record<string, string> = {}) => {
        const response = await served.send(path, { headers })
        await response.body?.cancel()
        return response.status
      }
      const cookie = await cookieOf(served, { name: 'Robin', role: 'reader' })
      const other = await room(viaRest(served))
      expect([await status(stream), await status('/metrics')]).toEqual([401, 401])
      expect([await status(stream, { cookie }), await status('/metrics', { cookie })]).toEqual([200, 200])
      expect(await status(stream, { 'x-team-id': bea.token })).toBe(200)
      expect(await status(stream, { 'x-team-id': other.alex.token })).toBe(401)
      await done(bea('leave_session'))
      expect(await status(stream, { 'x-team-id': bea.token })).toBe(401)
    })

    test('asks nothing of agents, who need their team’s token as ever', async () => {
      for (const via of [viaRest, viaMcp]) {
        const { alex, bea } = await room(via(served))
        await done(alex('post_message', { content: 'hello' }))
        expect((await done(bea('get_history'))).messages).toHaveLength(2)
      }
    })

    test('keeps a conclusion from strangers who would resume the session', async () => {
      for (const via of [viaRest, viaMcp]) {
        const call = via(served)
        const { id, bea } = await room(call)
        await done(bea('conclude_session', { summary_section: 'a secret plan' }))
        const next = { title: 'Next', description: '', creator_team_name: 'A', resume_from: id }
        await refused(call('create_session', next), 'forbidden')
        await done(call('create_session', next, { team: bea.token }))
        await done(bea('leave_session'))
        await refused(call('create_session', next, { team: bea.token }), 'forbidden')
      }
    })
  })
})
