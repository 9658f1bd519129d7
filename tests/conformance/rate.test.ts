// RATE_LIMIT: whose requests are counted together, and what inventing names gains.
import { describe, expect } from 'bun:test'
import { newSecret } from '../../src/core/ids.ts'
import { Allowance } from '../../src/doors/http/allowance.ts'
import { test } from '../support/foreign.ts'
import { onOneEngine, room, viaRest } from '../support/parley.ts'

const LIMIT = 3
const TEAMS_AN_ADDRESS = 20

const invented = () => `${crypto.randomUUID()}.${newSecret()}`

onOneEngine((parley) => {
  const limited = async () => {
    const served = await parley().beside({ RATE_LIMIT: String(LIMIT) })
    const ask = (address: string, team?: string, path = '/api/config') =>
      served.send(path, { address, headers: team === undefined ? {} : { 'x-team-id': team } })
    /** How many of so many calls are granted. */
    const granted = async (calls: number, call: () => Promise<Response>) => {
      let passed = 0
      for (let n = 0; n < calls; n++) if ((await call()).status !== 429) passed++
      return passed
    }
    return { ask, granted }
  }

  test('an address has its own, and is told when to come again', async () => {
    const { ask, granted } = await limited()
    expect(await granted(LIMIT + 2, () => ask('10.0.0.1'))).toBe(LIMIT)
    const response = await ask('10.0.0.1')
    expect(response.status).toBe(429)
    const seconds = Number(response.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limited', details: { retry_after: expect.any(Number) } } })
    expect(await granted(LIMIT + 2, () => ask('10.0.0.2'))).toBe(LIMIT)
  })

  test('teams behind one address each have their own with their token, also when the address has spent its', async () => {
    const { ask, granted } = await limited()
    const { id, alex, bea } = await room(viaRest(parley()))
    await granted(LIMIT + 2, () => ask('10.0.0.1'))
    for (const { token } of [alex, bea]) expect(await granted(LIMIT + 2, () => ask('10.0.0.1', token, `/api/sessions/${id}`))).toBe(LIMIT)
  })

  test('a team that goes on past its own takes nothing from the others', async () => {
    const { ask, granted } = await limited()
    const [eager, calm] = [invented(), invented()]
    expect(await granted(LIMIT * TEAMS_AN_ADDRESS * 2, () => ask('10.0.0.1', eager))).toBe(LIMIT)
    expect(await granted(LIMIT, () => ask('10.0.0.1', calm))).toBe(LIMIT)
  })

  test('while one address floods, fifty teams elsewhere post, and each hears the other of its room', async () => {
    const served = await parley().beside({ RATE_LIMIT: '60' })
    const rooms = await Promise.all(Array.from({ length: 25 }, () => room(viaRest(parley()))))
    const flood = { over: false, calls: 0, refused: 0 }
    const flooding = Array.from({ length: 20 }, async () => {
      for (; !flood.over; flood.calls++) {
        if ((await served.send('/api/sessions', { address: '10.0.0.1' })).status === 429) flood.refused++
        await Bun.sleep(1) // without a socket between them, calls would leave nobody a turn
      }
    })
    const ask = async (path: string, team: string, body?: string) => {
      const response = await served.send(path, { address: '10.0.0.2', headers: { 'x-team-id': team }, ...(body && { body }) })
      expect(response.status).toBe(200)
      return (await response.json()) as { messages: { content: { text: string } }[] }
    }
    for (let round = 0; round < 3; round++)
      await Promise.all(
        rooms.map(async ({ id, alex, bea }) => {
          const since = 1 + 2 * round // bea's joining, and two posts a round
          await ask(`/api/sessions/${id}/messages`, alex.token, `from Alex ${round}`)
          await ask(`/api/sessions/${id}/messages`, bea.token, `from Bea ${round}`)
          const { messages } = await ask(`/api/sessions/${id}/wait?since_cursor=${since}&timeout=20`, alex.token)
          expect(messages.map(({ content }) => content.text)).toEqual([`from Alex ${round}`, `from Bea ${round}`])
        }),
      )
    flood.over = true
    await Promise.all(flooding)
    expect([flood.refused > 50, flood.calls - flood.refused]).toEqual([true, 60])
    await served.close()
  }, 180_000)

  test('what has not the shape of a token counts as its address', async () => {
    const { ask, granted } = await limited()
    let n = 0
    expect(await granted(LIMIT * 5, () => ask('10.0.0.1', `team ${n++}`))).toBe(LIMIT)
  })

  test('whoever invents a token for each call has so many times its allowance, and spends no other address’s', async () => {
    const { ask, granted } = await limited()
    const most = LIMIT * TEAMS_AN_ADDRESS
    expect(await granted(most * 3, () => ask('10.0.0.1', invented()))).toBe(most)
    const response = await ask('10.0.0.1', invented())
    expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await granted(LIMIT, () => ask('10.0.0.2', invented()))).toBe(LIMIT)
  })

  test('whoever invents tokens spends nobody else’s, however many one request has', async () => {
    const served = await parley().beside({ RATE_LIMIT: String(LIMIT) })
    const { granted } = await limited()
    const { id, alex } = await room(viaRest(parley()))
    const message = () => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_session', arguments: { session_id: id, team_id: invented() } },
    })
    const send = async (messages: number) => {
      const body = JSON.stringify(Array.from({ length: messages }, message))
      return (await served.send('/mcp', { method: 'POST', body, address: '10.0.0.1', headers: { accept: 'application/json' } })).status
    }
    const most = LIMIT * TEAMS_AN_ADDRESS
    expect([await send(most), await send(1)]).toEqual([200, 429]) // each message is one of the address's
    for (let n = 0; n < 5; n++) expect([400, 429]).toContain(await send(25_000)) // more names than all of RATE_LIMIT's counters
    const ask = (address: string, team?: string) =>
      served.send('/api/config', { address, headers: team === undefined ? {} : { 'x-team-id': team } })
    expect(await granted(LIMIT, () => ask('10.0.0.1', alex.token))).toBe(0) // and takes nothing from the team
    expect(await granted(LIMIT, () => ask('10.0.0.2', alex.token))).toBe(LIMIT)
    expect(await granted(LIMIT, () => ask('10.0.0.3'))).toBe(LIMIT)
    await served.close()
  })

  test('the public half of a token spends nothing of its team’s', async () => {
    const { ask, granted } = await limited()
    const { alex } = await room(viaRest(parley()))
    await granted(LIMIT * 2, () => ask('10.0.0.1', `${alex.handle}.${newSecret()}`))
    await granted(LIMIT * 2, () => ask('10.0.0.1', `${alex.handle}.${'x'.repeat(32)}`))
    expect(await granted(LIMIT + 1, () => ask('10.0.0.2', alex.token))).toBe(LIMIT)
  })

  test('over MCP a team has its own by its argument too, and each message of a batch is counted', async () => {
    const served = await parley().beside({ RATE_LIMIT: String(LIMIT) })
    const { granted } = await limited()
    const { id, alex, bea } = await room(viaRest(parley()))
    const message = (team_id?: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_session', arguments: { session_id: id, team_id } },
    })
    const ask = (body: unknown, address = '10.0.0.1') =>
      served.send('/mcp', { method: 'POST', body: JSON.stringify(body), address, headers: { accept: 'application/json' } })
    for (const team of [alex.token, bea.token, undefined]) expect(await granted(LIMIT + 2, () => ask(message(team)))).toBe(LIMIT)
    const refused = await ask(message(alex.token))
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(
      (
        await ask(
          Array.from({ length: LIMIT }, () => message(alex.token)),
          '10.0.0.2',
        )
      ).status,
    ).toBe(429)
    expect(
      (
        await ask(
          Array.from({ length: LIMIT }, () => message()),
          '10.0.0.2',
        )
      ).status,
    ).toBe(200)
    expect((await ask(message(), '10.0.0.2')).status).toBe(429)
    for (const team of [alex.token, bea.token]) expect(await granted(LIMIT + 2, () => ask(message(`${team}\n`), '10.0.0.3'))).toBe(0)
  })

  test('over MCP, too, a team that goes on past its own takes nothing from the others', async () => {
    const served = await parley().beside({ RATE_LIMIT: String(LIMIT) })
    const { granted } = await limited()
    const [eager, calm] = [invented(), invented()]
    const ask = (team_id: string) => {
      const params = { name: 'leave_session', arguments: { session_id: crypto.randomUUID(), team_id } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      return served.send('/mcp', { method: 'POST', body, address: '10.0.0.1', headers: { accept: 'application/json' } })
    }
    expect(await granted(LIMIT * TEAMS_AN_ADDRESS * 2, () => ask(eager))).toBe(LIMIT)
    expect(await granted(LIMIT, () => ask(calm))).toBe(LIMIT)
    await served.close()
  })

  test('a batch is counted by its messages under whatever header it comes', async () => {
    const served = await parley().beside({ RATE_LIMIT: String(LIMIT) })
    const { id, alex, bea } = await room(viaRest(parley()))
    const batch = async (messages: number, header: string, team_id?: string) => {
      const message = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'get_session', arguments: { session_id: id, team_id } },
      }
      const body = JSON.stringify(Array.from({ length: messages }, () => message))
      const headers = { accept: 'application/json', 'x-team-id': header }
      return (await served.send('/mcp', { method: 'POST', body, address: '10.0.0.1', headers })).status
    }
    expect([await batch(LIMIT + 1, alex.token), await batch(LIMIT + 2, 'x', bea.token)]).toEqual([429, 429])
    expect(await batch(LIMIT + 2, invented(), alex.token)).toBe(429)
    await served.close()
  })

  test('health checks are left alone', async () => {
    const { ask, granted } = await limited()
    for (const path of ['/healthz', '/readyz']) expect(await granted(LIMIT * 2, () => ask('10.0.0.1', undefined, path))).toBe(LIMIT * 2)
  })

  test('is off unless asked for', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => parley().send('/api/config')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('an allowance', () => {
  test('keeps no more than 100,000 names: further ones share one count, and those that are known keep theirs', () => {
    const allowance = new Allowance(2)
    for (let n = 0; n < 100_000; n++) allowance.take(`name ${n}`)
    const late = Array.from({ length: 1_000 }, (_, n) => allowance.take(`late ${n}`))
    expect(late.filter((wait) => wait === 0)).toHaveLength(2)
    expect(allowance.take('name 7')).toBe(0)
    expect(allowance.take('name 7')).toBeGreaterThan(0)
  })
})
