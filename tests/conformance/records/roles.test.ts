// Every cell of the table of who may do what with proposals and records (src/records/who-may.ts), tried.
import { describe, expect, test } from 'bun:test'
import { records } from '../../../src/records/toolset.ts'
import { MAY, mayDo, ROLES, type Act, type Role } from '../../../src/records/who-may.ts'
import { personIdOf } from '../../../src/stores/records/persons.ts'
import { controlScene } from '../../support/control-scene.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, refused, room, seat, transports, viaRest, type Answer, type As } from '../../support/parley.ts'
import { ACTION, DECISION } from '../../support/records-scene.ts'

interface Who {
  name: string
  role: Role
  as: As
  /** MCP knows it: a key or a team. */
  overMcp: boolean
}

const OF_TABLE = ['propose an action item', 'propose a decision', 'cancel', 'decide'] as const satisfies readonly Act[]
const ACTS = ['read', ...OF_TABLE] as const
const mayTry = (role: Role, act: (typeof ACTS)[number]) => (act === 'read' ? 'yes' : mayDo(role, act))
const WORDS = 'Insufficient permissions'

/** The tools that read, asked about a session where they can be. */
const READING: [name: string, about: (meeting_id: string) => Record<string, unknown>][] = [
  ['get_proposals', (meeting_id) => ({ meeting_id })],
  ['get_meetings', () => ({})],
  ['get_meeting_details', (meeting_id) => ({ meeting_id })],
  ['get_action_items', (meeting_id) => ({ meeting_id })],
  ['get_decisions', (meeting_id) => ({ meeting_id })],
  ['search_content', () => ({ query: DECISION.title })],
  ['get_person_context', () => ({ person_id: personIdOf('team', "Bea's Team") })],
]

for (const env of [{}, { VIEWER_PASSWORD: 'a password for viewers' }] as Record<string, string>[]) {
  const open = env.VIEWER_PASSWORD === undefined
  onOneEngine((parley) => {
    /** A session in which an agent works, and somebody for each role; `strangers` may nothing. */
    const cast = async () => {
      const { session_id, session, runner, start, key } = await controlScene(parley())
      await start()
      const agent_key = (await runner.takeOne()).agent_key as string
      const rest = viaRest(parley())
      const bea = seat(rest, await done(rest('join_session', { session_id, team_name: "Bea's Team" }, { headers: bearer(key) })))
      const foreign = await room(rest)
      await done(rest('records.get_meeting_details', { meeting_id: session_id }, { headers: bearer(key) })) // gives out its persons' ids
      const cookie = (role: 'person' | 'reader') => cookieOf(parley(), { role, name: 'Nora' })
      const keyed = async (scope: 'read' | 'sess' | 'run') => ({ headers: bearer(await keyOf(parley(), scope, session_id)) })
      const nora = { person: await cookie('person') }
      const who: Who[] = [
        { name: 'a team', role: 'team', as: { team: bea.token }, overMcp: true },
        { name: 'the key of the session’s agent', role: 'team', as: { headers: bearer(agent_key) }, overMcp: true },
        { name: 'the convener', role: 'convener', as: { team: session.team_id }, overMcp: true },
        { name: 'a full key', role: 'full key', as: { headers: bearer(key) }, overMcp: true },
        { name: 'a person', role: 'person', as: nora, overMcp: false },
        { name: 'a read key', role: 'reader', as: await keyed('read'), overMcp: true },
        { name: 'a viewer', role: 'reader', as: { person: await cookie('reader') }, overMcp: false },
      ]
      const strangers = { 'a key of a session': await keyed('sess'), 'a runner’s key': await keyed('run') }
      return { session_id: session_id as string, foreign, who, strangers, nora, made: 0 }
    }
    let shared: ReturnType<typeof cast> | undefined
    const scene = () => (shared ??= cast())

    for (const [transport, via] of transports) {
      const call = (...given: Parameters<ReturnType<typeof via>>) => via(parley())(...given)
      const rest = (...given: Parameters<ReturnType<typeof viaRest>>) => viaRest(parley())(...given)
      const callersHere = async () => (await scene()).who.filter(({ overMcp }) => overMcp || transport === 'REST')

      const titled = async (fields: object) => ({
        ...fields,
        title: `Number ${++(await scene()).made}`,
        meeting_id: (await scene()).session_id,
      })
      const proposedBy = async (as: As, type = 'action') => {
        const named = type === 'action' ? 'propose_action_item' : 'propose_decision'
        return (await done(rest(`records.${named}`, await titled(type === 'action' ? ACTION : DECISION), as))).id as string
      }
      const overdue = async (id: string) =>
        void (await parley().database.query(`update proposals set expires_at = now() - interval '1 second' where id = $1`, [id]))

      /** The calls by which somebody tries an act on what is not its own. */
      const tries: Record<(typeof ACTS)[number], (as: As) => Promise<Answer>[]> = {
        read: (as) => [
          ...READING.map(([name, about]) => scene().then(({ session_id }) => call(`records.${name}`, about(session_id), as))),
          ...(transport === 'REST'
            ? [scene().then(({ session_id }) => rest('records.list_approvals', { meeting_id: session_id }, as))]
            : []),
        ],
        'propose an action item': (as) => [titled(ACTION).then((input) => call('records.propose_action_item', input, as))],
        'propose a decision': (as) => [titled(DECISION).then((input) => call('records.propose_decision', input, as))],
        cancel: (as) => {
          const others = async () => proposedBy((await scene()).nora)
          return [
            others().then((proposal_id) => call('records.cancel_proposal', { proposal_id }, as)),
            ...(transport === 'REST' ? [others().then((proposal_id) => rest('records.cancel_approval', { proposal_id }, as))] : []),
          ]
        },
        decide: (as) => {
          if (transport !== 'REST') return [] // no tool decides
          const made = async (type?: string) => proposedBy((await scene()).nora, type)
          const approve = async (id: string, by: As) => rest('records.resolve_approval', { proposal_id: id, action: 'approve' }, by)
          const withdraw = async () => {
            const { record_id } = (await done(approve(await made('decision'), (await scene()).nora))).proposal
            return rest('records.withdraw_record', { record_id, reason: 'No.' }, as)
          }
          return [
            made().then((id) => approve(id, as)),
            made().then((proposal_id) => rest('records.resolve_approval', { proposal_id, action: 'reject' }, as)),
            made().then(async (proposal_id) => (await overdue(proposal_id), rest('records.renew_approval', { proposal_id }, as))),
            withdraw(),
          ]
        },
      }

      describe(`over ${transport}, pages ${open ? 'open' : 'closed'}`, () => {
        for (const act of ACTS)
          test(`${act}: ${ROLES.map((role) => `${role} ${mayTry(role, act)}`).join(', ')} [E11]`, async () => {
            for (const { name, role, as } of await callersHere()) {
              const allowed = mayTry(role, act) === 'yes'
              for (const answer of tries[act](as)) {
                const { ok, body } = await answer
                expect({ name, ok, code: body.code, says: allowed || String(body.message).startsWith(WORDS) }).toEqual({
                  name,
                  ok: allowed,
                  code: allowed ? undefined : 'forbidden',
                  says: true,
                })
              }
            }
          })

        test('cancel: its own [E11]', async () => {
          for (const { name, role, as } of await callersHere()) {
            if (mayDo(role, 'propose an action item') !== 'yes') continue
            const proposal_id = await proposedBy(as)
            expect({ name, ...(await done(call('records.cancel_proposal', { proposal_id }, as))) }).toMatchObject({
              name,
              status: 'cancelled',
            })
          }
        })

        test('a team of another session reads where pages are open, and writes nowhere [E11]', async () => {
          const { session_id, foreign, nora } = await scene()
          const as = { team: foreign.alex.token }
          const proposal_id = await proposedBy(nora)
          for (const [name, about] of READING.filter(([, of]) => 'meeting_id' in of(session_id))) {
            const reading = call(`records.${name}`, about(session_id), as)
            if (open) await done(reading)
            else expect((await refused(reading, 'unauthorized')).message).toStartWith('Not authenticated')
          }
          await refused(call('records.propose_action_item', await titled(ACTION), as), 'unauthorized')
          await refused(call('records.cancel_proposal', { proposal_id }, as), open ? 'forbidden' : 'not_found')
        })

        test('every bad team_id gets one and the same answer [E11]', async () => {
          const { foreign, nora } = await scene()
          const proposal_id = await proposedBy(nora)
          const left = seat(rest, await done(rest('join_session', { session_id: foreign.id, team_name: 'Cleo' })))
          await done(left('leave_session'))
          const { handle, token } = foreign.bea
          const bad = [
            '',
            'x'.repeat(64),
            handle,
            `${handle}.${'A'.repeat(32)}`,
            `${crypto.randomUUID()}.${token.split('.')[1]}`,
            left.token,
          ]
          for (const team of bad)
            for (const [name, input] of [
              ['propose_action_item', ACTION],
              ['cancel_proposal', { proposal_id }],
            ] as const) {
              const { message } = await refused(call(`records.${name}`, { ...input }, { team }), 'unauthorized')
              expect(message).toStartWith('Not authenticated')
            }
        })

        test('the lack of the access token, and a viewer’s cookie in its place, are refused in the same words [E11]', async () => {
          const locked = await parley().beside({
            ACCESS_TOKEN: 'an-access-token-of-some-length',
            VIEWER_PASSWORD: 'a password for viewers',
          })
          const viewer = { person: await cookieOf(locked, { role: 'reader', name: 'Vera' }) }
          for (const as of transport === 'REST' ? [{}, viewer] : [{}]) {
            const answer = via(locked)('records.propose_action_item', await titled(ACTION), as)
            expect((await refused(answer, 'unauthorized')).message).toMatch(/^Not authenticated\. .*access token/)
          }
          await locked.close()
        })

        test('nobody, and keys for something else, may nothing [E11]', async () => {
          const { session_id, strangers, nora } = await scene()
          const proposal_id = await proposedBy(nora)
          const names: [string, object][] = [
            ...READING.map(([name, about]): [string, object] => [name, about(session_id)]),
            ['propose_action_item', await titled(ACTION)],
            ['propose_decision', await titled(DECISION)],
            ['cancel_proposal', { proposal_id }],
            ...(transport === 'REST' ? ([['resolve_approval', { proposal_id, action: 'approve' }]] as [string, object][]) : []),
          ]
          for (const [name, input] of names) {
            const { message } = await refused(call(`records.${name}`, { ...input }), 'unauthorized')
            expect(message).toStartWith('Not authenticated')
            for (const as of Object.values(strangers))
              expect((await refused(call(`records.${name}`, { ...input }, as), 'forbidden')).message).toStartWith(WORDS)
          }
        })
      })
    }
  }, env)
}

test('the table has no act, and records no tool, that is not tried here', () => {
  const proposing = ['propose_action_item', 'propose_decision', 'cancel_proposal']
  const tools = records.operations.filter(({ restOnly }) => !restOnly).map(({ name }) => name)
  expect(tools.toSorted()).toEqual([...proposing, ...READING.map(([name]) => name)].toSorted())
  const board: Act[] = ['plan work', 'claim work', 'take work back']
  expect(Object.keys(MAY).filter((act) => !board.includes(act as Act))).toEqual([...OF_TABLE])
})
