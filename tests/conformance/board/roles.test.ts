// Who may do what on a board: every cell of the table, made from it, over both doors, with pages open and closed.
import { describe, expect, test } from 'bun:test'
import { mayDo, ROLES, type Act, type Role } from '../../../src/records/who-may.ts'
import { addSeat } from '../../../src/stores/control/seats.ts'
import { claim, plan, threeTeams } from '../../support/board-scene.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, refused, viaMcp, viaRest, type As, type Parley } from '../../support/parley.ts'

const READING = 'read the board' // which every role may
const ACTS = {
  [READING]: { name: 'list_work', input: () => ({}) },
  'plan work': { name: 'plan_work', input: () => ({ items: [{ title: 'More to be done' }] }) },
  'claim work': { name: 'claim_work', input: () => ({}) },
  'take work back': { name: 'update_work', input: (item: string) => ({ item_id: item, status: 'open' }) },
} satisfies Partial<Record<Act | typeof READING, unknown>>
const mayTry = (role: Role, act: keyof typeof ACTS) => (act === READING ? 'yes' : mayDo(role, act))

/** Where Bea's Team holds an item, and who each role is. */
const scene = async (parley: Parley) => {
  const { id, alex, bea, cleo } = await threeTeams(viaRest(parley))
  const [item] = await plan(alex, ['Write the lexer'])
  await plan(alex, ['Write the parser'])
  const as: Record<Role, As> = {
    reader: { headers: bearer(await keyOf(parley, 'read')) },
    team: { team: cleo.token },
    convener: { team: alex.token },
    'full key': { headers: bearer(await keyOf(parley, 'full')) },
    person: { person: await cookieOf(parley, { name: 'Robin', role: 'person' }) },
  }
  return { id, item: item.item_id as string, as, alex, bea }
}

for (const env of [{}, { VIEWER_PASSWORD: 'a password of some length' }])
  describe(`with ${Object.keys(env)[0] ?? 'pages open'}`, () => {
    onOneEngine(
      (parley) => {
        let made: ReturnType<typeof scene> | undefined
        const same = () => (made ??= scene(parley()))
        for (const [act, { name, input }] of Object.entries(ACTS) as [keyof typeof ACTS, (typeof ACTS)[keyof typeof ACTS]][])
          for (const role of ROLES)
            for (const [door, via] of role === 'person'
              ? ([['REST', viaRest]] as const)
              : ([
                  ['REST', viaRest],
                  ['MCP', viaMcp],
                ] as const))
              test(`${act}: ${role}, over ${door}: ${mayTry(role, act)}`, async () => {
                const { id, item, as, alex, bea } = await same()
                await plan(alex, ['Something to claim'])
                await claim(bea, { item_id: item })
                const answer = via(parley())(name, { session_id: id, ...input(item) }, as[role])
                if (mayTry(role, act) === 'yes') return void (await done(answer))
                expect((await refused(answer, 'forbidden')).message).toStartWith('Insufficient permissions')
              })

        test('nobody is let in, nor a key of another kind', async () => {
          const { id, item } = await same()
          for (const { name, input } of Object.values(ACTS)) {
            const given = { session_id: id, ...input(item) }
            expect((await refused(viaRest(parley())(name, given), 'unauthorized')).message).toStartWith('Not authenticated')
            for (const key of [await keyOf(parley(), 'sess', id), await keyOf(parley(), 'run')])
              expect((await refused(viaRest(parley())(name, given, { headers: bearer(key) }), 'forbidden')).message).toStartWith(
                'Insufficient permissions',
              )
          }
        })

        test('people and full keys plan and take back, and what they do names them; a session that is not there is not found', async () => {
          const { id, item, as, bea } = await same()
          for (const [role, kind, name] of [
            ['person', 'person', 'Robin'],
            ['full key', 'key', 'a full key'],
          ] as const) {
            const call = viaRest(parley())
            const { items } = await done(call('plan_work', { session_id: id, items: [{ title: `Planned by a ${kind}` }] }, as[role]))
            expect(items[0].planned_by).toMatchObject({ name, kind })
            await claim(bea, { item_id: item })
            const back = await done(call('update_work', { session_id: id, item_id: item, status: 'open', note: 'Not now.' }, as[role]))
            expect(back.item).toMatchObject({ status: 'open', claimed_by: null })
            await refused(call('plan_work', { session_id: id, items: [{ title: 'For nobody' }], claim: true }, as[role]), 'forbidden')
            await refused(call('list_work', { session_id: crypto.randomUUID() }, as[role]), 'not_found')
            await refused(call('plan_work', { session_id: 'x', items: [{ title: 'For nobody' }] }, as[role]), 'not_found')
          }
        })

        test('a team_id that is null was left out: the key itself plans, whether or not it has a team in the session', async () => {
          const { id, as } = await same()
          const opened = await done(viaRest(parley())('control.create_session', { title: 'Parser' }, as['full key']))
          for (const session_id of [id, opened.session_id])
            for (const via of [viaRest, viaMcp]) {
              const given = { session_id, items: [{ title: 'Write the lexer' }], team_id: null }
              const { items } = await done(via(parley())('plan_work', given, as['full key']))
              expect(items[0].planned_by).toMatchObject({ name: 'a full key', kind: 'key' })
            }
        })

        test('an agent’s key of the session is that team: it plans, claims and finishes without a team_id', async () => {
          const { id, bea, cleo } = await threeTeams(viaRest(parley()))
          await addSeat(parley().database, { holder: id, sessionId: id, teamId: bea.handle })
          const agent = { headers: bearer(await keyOf(parley(), 'agent', id)) }
          const call = viaRest(parley())
          const { items } = await done(call('plan_work', { session_id: id, items: [{ title: 'Write the lexer' }] }, agent))
          expect(items[0].planned_by).toMatchObject({ name: bea.team, kind: 'team' })
          const { item } = await done(call('claim_work', { session_id: id }, agent))
          expect(item).toMatchObject({ item_id: items[0].item_id, claimed_by: { team_id: bea.handle } })
          expect((await done(call('list_work', { session_id: id, mine: true }, agent))).items).toHaveLength(1)
          await refused(cleo('update_work', { item_id: item.item_id, status: 'open' }), 'forbidden')
          await done(call('update_work', { session_id: id, item_id: item.item_id, status: 'done' }, agent))
          await refused(call('claim_work', { session_id: (await same()).id }, agent), 'unauthorized')
        })

        test('a retry of what hands an item back, or drops it, with a note, changes nothing more and succeeds', async () => {
          const { alex, bea, cleo } = await threeTeams(viaRest(parley()))
          for (const status of ['open', 'dropped']) {
            const [item] = await plan(alex, ['Write the lexer'])
            await claim(bea, item)
            const back = { item_id: item.item_id, status, note: 'Half done.' }
            const [first, again] = [await done(bea('update_work', back)), await done(bea('update_work', back))]
            expect(again).toEqual(first)
            await refused(cleo('update_work', { ...back, note: 'All done.' }), 'forbidden')
          }
        })

        test('a team of another session reads where pages are open, and is nobody elsewhere', async () => {
          const [here, there] = [await same(), await threeTeams(viaRest(parley()))]
          const read = viaRest(parley())('list_work', { session_id: here.id }, { team: there.alex.token })
          if (Object.keys(env).length === 0) expect((await done(read)).items.length).toBeGreaterThan(1)
          else await refused(read, 'unauthorized')
          const write = viaRest(parley())('claim_work', { session_id: here.id }, { team: there.alex.token })
          await refused(write, 'unauthorized')
        })
      },
      env as Record<string, string>,
    )
  })
