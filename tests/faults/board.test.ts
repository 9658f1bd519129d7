// Many at the board at once, through two instances, and a server that is killed: nobody does the same work twice, nothing is half written.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { claim, itemOf, plan, silentFor, threeTeams, workEvents } from '../support/board-scene.ts'
import { done, room, seat, startParley, viaRest, type Call, type Parley, type Seat, type Served } from '../support/parley.ts'
import { startServer } from '../support/server.ts'
import { FULL } from '../support/full.ts'
import { databaseOf, HERE } from './engines.ts'
import { call as send } from './rooms.ts'

const ROUNDS = FULL ? 20 : 2
const KILLS = FULL ? 20 : 1
const CLAIMANTS = FULL ? 50 : 20
const LEASE_S = 1_800

const LONG_MS = 180_000

describe.each(HERE)('on %s, through two instances', (engine) => {
  let parley: Parley
  let other: Served
  beforeAll(async () => {
    parley = await startParley({ engine })
    other = await parley.beside({})
  }, LONG_MS)
  afterAll(() => parley?.close())

  /** A team that calls this instance or the other. */
  const at = (n: number, who: Seat, id: string): Seat =>
    seat(viaRest(n % 2 === 0 ? parley : other), { session_id: id, team_id: who.token, handle: who.handle, team_name: who.team, cursor: 0 })

  const crowd = async () => {
    const call: Call = viaRest(parley)
    const { id, alex } = await room(call)
    const teams: Seat[] = []
    for (let n = 0; n < CLAIMANTS; n++)
      teams.push(at(n, seat(call, await done(call('join_session', { session_id: id, team_name: `Team ${n}` }))), id))
    return { id, alex, teams }
  }

  test(
    `${CLAIMANTS} claimants of one item: one has it, and the others are told who`,
    async () => {
      const { alex, teams } = await crowd()
      for (let round = 0; round < ROUNDS; round++) {
        const [item] = await plan(alex, [`Item of round ${round}`])
        const answers = await Promise.all(teams.map((who) => who('claim_work', { item_id: item.item_id })))
        const winners = teams.filter((_, n) => answers[n]!.ok)
        expect(winners).toHaveLength(1)
        const [{ handle, team }] = winners as [Seat]
        for (const { ok, body } of answers)
          if (!ok) expect(body).toMatchObject({ code: 'conflict', details: { claimed_by: { team_id: handle, team_name: team } } })
      }
    },
    LONG_MS,
  )

  test(
    `${CLAIMANTS} claimants of ${CLAIMANTS} items get different ones`,
    async () => {
      const { id, alex, teams } = await crowd()
      await plan(
        alex,
        Array.from({ length: CLAIMANTS }, (_, n) => ({ title: `Item number ${n}`, paths: [`src/${n}/**`] })),
      )
      const items = await Promise.all(teams.map((who) => claim(who)))
      expect(new Set(items.map(({ item_id }) => item_id)).size).toBe(CLAIMANTS)
      expect(await claim(alex)).toBeNull()
      expect((await workEvents(parley, id)).filter(({ event }) => event === 'work_claimed')).toHaveLength(CLAIMANTS)
    },
    LONG_MS,
  )

  /** What became of one item: its events in the order of the log. */
  const story = async (id: string, item: { item_id: string }) =>
    (await workEvents(parley, id))
      .filter(({ item_id }) => item_id === item.item_id)
      .map(({ event, by, team, reason }) => `${event.slice(5)} ${event === 'work_released' ? `${team} ${reason}` : by}`)

  test(
    'a claim against the expiry of another, and against its done: one team has the item, or it is done, never both',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { id, alex, bea, cleo } = await threeTeams(viaRest(parley))
        const [item] = await plan(alex, ['Write the lexer'])
        await claim(bea, item)
        await silentFor(parley, id, bea, LEASE_S - 0.01)
        const [done_, claimed] = await Promise.all([
          at(round, bea, id)('update_work', { item_id: item.item_id, status: 'done' }),
          at(round + 1, cleo, id)('claim_work', { item_id: item.item_id }),
        ])
        expect([done_.ok, claimed.ok].filter(Boolean).length).toBeLessThanOrEqual(1)
        const told = [`claimed ${bea.team}`]
        if (done_.ok) expect(await story(id, item)).toEqual([...told, `done ${bea.team}`])
        else if (claimed.ok) {
          expect(await story(id, item)).toEqual([...told, `released ${bea.team} lease_expired`, `claimed ${cleo.team}`])
          if (done_.body.details.claimed_by) expect(done_.body.details.claimed_by.team_id).toBe(cleo.handle)
        }
      }
    },
    LONG_MS,
  )

  test(
    'a claim against the leaving of who has it: refused before, given after',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { id, alex, bea, cleo } = await threeTeams(viaRest(parley))
        const [item] = await plan(alex, ['Write the lexer'])
        await claim(bea, item)
        const [claimed, left] = await Promise.all([
          at(round, cleo, id)('claim_work', { item_id: item.item_id }),
          at(round + 1, bea, id)('leave_session'),
        ])
        expect(left.ok).toBe(true)
        const told = [`claimed ${bea.team}`, `released ${bea.team} left`, ...(claimed.ok ? [`claimed ${cleo.team}`] : [])]
        expect(await story(id, item)).toEqual(told)
        expect((await itemOf(alex, item)).status).toBe(claimed.ok ? 'claimed' : 'open')
      }
    },
    LONG_MS,
  )

  test(
    'two edits at once make no circle',
    async () => {
      const { id, alex, bea } = await room(viaRest(parley))
      for (let round = 0; round < ROUNDS; round++) {
        const items = await plan(alex, ['Item number a', 'Item number b'])
        const [a, b] = items as [any, any]
        const own = [at(round, alex, id), at(round + 1, alex, id)] as const
        const answers = await Promise.all([
          own[0]('update_work', { item_id: a.item_id, depends_on: [b.item_id] }),
          own[1]('update_work', { item_id: b.item_id, depends_on: [a.item_id] }),
        ])
        expect(answers.map(({ ok }) => ok).toSorted()).toEqual([false, true])
        expect(answers.find(({ ok }) => !ok)!.body).toMatchObject({ code: 'invalid_request', details: { field: 'depends_on' } })
      }
      expect((await done(bea('list_work'))).counts.ready).toBe(ROUNDS)
    },
    LONG_MS,
  )

  test('a plan of 50 whose last is invalid writes nothing, and its key can be used again', async () => {
    const { id, alex } = await room(viaRest(parley))
    const items = Array.from({ length: 50 }, (_, n) => ({ title: `Item number ${n}`, owner: n === 49 ? 'Nobody' : alex.team }))
    const key = crypto.randomUUID()
    expect((await alex('plan_work', { items }, { key })).body).toMatchObject({
      code: 'invalid_request',
      details: { field: 'items.49.owner' },
    })
    expect(await workEvents(parley, id)).toEqual([])
    expect((await done(alex('list_work'))).items).toEqual([])
    expect((await done(alex('plan_work', { items: items.slice(0, 49) }, { key }))).items).toHaveLength(49)
  })

  test(
    'a session concluded while items are claimed takes nothing more, and says nothing more',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { id, alex, bea, cleo } = await threeTeams(viaRest(parley))
        const [one, two] = await plan(alex, ['Write the lexer', 'Write the parser'])
        await claim(bea, one)
        const [finished, claimed] = await Promise.all([
          at(round, bea, id)('update_work', { item_id: one.item_id, status: 'done' }),
          at(round + 1, cleo, id)('claim_work', { item_id: two.item_id }),
          done(alex('conclude_session', { summary_section: 'Enough.' })),
        ])
        for (const { ok, body } of [finished, claimed]) if (!ok) expect(body.code).toBe('session_closed')
        expect((await itemOf(alex, one)).status).toBe(finished.ok ? 'done' : 'claimed')
        expect((await itemOf(alex, two)).status).toBe(claimed.ok ? 'claimed' : 'open')
        const rows = await parley.database.query<{ event: string }>(
          `select content->>'event' as event from events where session_id = $1 order by sequence`,
          [id],
        )
        expect(rows.at(-1)!.event).toBe('session_concluded')
        await silentFor(parley, id, bea, LEASE_S + 1)
        expect((await itemOf(alex, one)).status).toBe(finished.ok ? 'done' : 'open')
      }
    },
    LONG_MS,
  )
})

test.each(HERE)(
  'on %s a server killed between a claim and its answer: the retry with its key gives the item, which is claimed once',
  async (engine) => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    try {
      const api = (path: string, body: unknown, team?: string, key?: string) =>
        send(server.url, 'POST', `/api/sessions${path}`, { team, body, ...(key && { key }) })
      const made = await api('', { title: 'Shipping the parser', description: '', creator_team_name: 'Alex' })
      const [id, team] = [made.body.session_id, made.body.team_id]
      await api(`/${id}/work`, { items: Array.from({ length: KILLS }, (_, n) => ({ title: `Item number ${n}` })) }, team)
      for (let n = 0; n < KILLS; n++) {
        const key = crypto.randomUUID()
        const lost = api(`/${id}/work/claim`, {}, team, key).catch(() => undefined)
        await Bun.sleep(Math.random() * 25)
        await server.kill()
        const first = await lost
        await server.restart()
        const { status, body } = await api(`/${id}/work/claim`, {}, team, key)
        expect(status).toBe(200)
        if (first?.status === 200) expect(first.body).toEqual(body)
        const { body: board } = await send(server.url, 'GET', `/api/sessions/${id}/work?status=claimed`, { team })
        expect(board.items).toHaveLength(n + 1)
        expect(board.items.map(({ item_id }: any) => item_id)).toContain(body.item.item_id)
      }
      const { body: feed } = await send(server.url, 'GET', `/api/sessions/${id}/wait?since_cursor=0&timeout=0&include_trace=true`, { team })
      const claims = feed.messages
        .filter(({ content }: any) => content?.event === 'work_claimed')
        .map(({ content }: any) => content.item_id)
      expect([claims.length, new Set(claims).size]).toEqual([KILLS, KILLS])
    } finally {
      await server.remove()
      await drop()
    }
  },
  LONG_MS,
)
