import { isOpen } from '../../src/operations/operation.ts'
import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  feedOf,
  onOneEngine,
  operationNamed,
  operations,
  refused,
  room,
  seat,
  throughBothDoors,
  viaMcp,
  viaRest,
} from '../support/parley.ts'

/** A call of each operation that would succeed, or be refused for something else, with a good credential. */
const inputs: Record<string, Record<string, unknown>> = {
  leave_session: {},
  list_participants: {},
  get_session: {},
  wait_for_messages: { since_cursor: 0, timeout: 0 },
  post_message: { content: { text: 'hello' } },
  get_history: {},
  read_session_doc: {},
  update_session_doc: { content: 'x', expected_version: 0 },
  append_to_session_doc: { text: 'x' },
  update_session_metadata: { title: 'x', reason: 'x' },
  conclude_session: { summary_section: 'x' },
  ack_messages: { cursor: 0 },
  peek: {},
  catch_up: {},
  reopen_session: { reason: 'x' },
  transfer_convener: { to: 'x' },
  get_doc_history: {},
  release_session: {},
  share_session: {},
  unshare_session: {},
  create_invitation: {},
  list_invitations: {},
  revoke_invitation: { invitation_id: 'x' },
  plan_work: { items: [{ title: 'Build the lexer' }] },
  claim_work: {},
  update_work: { item_id: 'x', note: 'x' },
}
// control/keys.test.ts has those of control, which take keys, and records/roles.test.ts those of records, whose team_id names the session;
// board/roles.test.ts has list_work, which teams of other sessions may call where pages are open.
const ELSEWHERE = ['control', 'records', 'list_work']
const guarded = operations
  .filter((operation) => !isOpen(operation) && !ELSEWHERE.includes(operation.toolset) && !ELSEWHERE.includes(operation.name))
  .map(({ fullName }) => fullName)

test('every operation that needs a credential stands in this matrix', () => {
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(guarded))
})

throughBothDoors((call, parley, transport) => {
  const reachable = guarded.filter((name) => transport === 'REST' || !operationNamed(name).restOnly)

  test.each(reachable)('[A67 A68] %s answers every bad credential with one and the same 401, and does nothing', async (name) => {
    const { id, alex, bea } = await room(call)
    const other = await room(call)
    const left = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
    await done(left('leave_session'))
    const before = await feedOf(alex)
    const [handle, secret] = bea.token.split('.') as [string, string]
    const input = inputs[name]!
    const swapped = `${secret[0] === 'A' ? 'B' : 'A'}${secret.slice(1)}`
    const bad: [string, string, string | undefined][] = [
      ['none', id, undefined],
      ['garbage', id, 'garbage'],
      ['what stands for a seat inside', id, 'seat'],
      ['a bare handle', id, handle],
      ['a handle with a dot', id, `${handle}.`],
      ['a wrong secret', id, `${handle}.${swapped}`],
      ["Alex's handle with Bea's secret", id, `${alex.handle}.${secret}`],
      ["another session's token", id, other.alex.token],
      ['the token of a team that left', id, left.token],
      ['no session', '00000000-0000-4000-8000-000000000000', bea.token],
      ['no uuid', 'no-such-session', bea.token],
      ['300 characters', 'x'.repeat(300), bea.token],
    ]
    const answers = await Promise.all(
      bad.map(
        async ([label, session_id, team]) =>
          [label, await refused(call(name, { session_id, ...input }, { team }), 'unauthorized')] as const,
      ),
    )
    for (const [label, answer] of answers) expect(answer, label).toEqual(answers[0]![1])
    expect(await feedOf(alex)).toEqual(before)
    expect((await done(alex('read_session_doc'))).version).toBe(0)
    expect((await done(alex('get_session'))).status).toBe('active')
  })

  test('what is wrong with the arguments is told only to those who bring a credential', async () => {
    const { id } = await room(call)
    await refused(call('post_message', { session_id: id }), 'unauthorized')
    await refused(call('post_message', { session_id: id }, { team: 'garbage' }), 'invalid_request')
    await refused(call('post_message', { session_id: 'x'.repeat(301), content: 'x' }, { team: 'garbage' }), 'invalid_request')
  })

  test('a token that is sent as the name of an argument does not come back', async () => {
    const { id, alex, bea } = await room(call)
    const error = await refused(
      call('post_message', { session_id: id, content: 'x', [bea.token]: 1 }, { team: alex.token }),
      'invalid_request',
    )
    expect(error.details.field).toBe(`${bea.handle}…`)
    expect(JSON.stringify(error)).not.toContain(bea.token.split('.')[1]!)
  })

  test('a token that is sent for a session id does not come back', async () => {
    const { alex } = await room(call)
    const [api, page] = ['/api/sessions', '/sessions'].map((path) => `${path}/${alex.token}`)
    for (const path of [`${api}/stream`, `${api}/handoff.md`, page, `${page}/turns`, `${page}/events/1.txt`]) {
      const { error } = await (await parley().send(path!)).json()
      expect([error.code, error.details.session_id.replace('…', '')]).toEqual(['not_found', alex.handle])
    }
    const client = await parley().client()
    const failure = await client.readResource({ uri: `parley://sessions/${alex.token}/doc` }).catch((error) => error)
    expect(failure.data).toEqual({ uri: `parley://sessions/${alex.handle}…/doc` })
  })

  test('an id is taken however it was copied: in capitals, with blanks, or within the link of its page', async () => {
    const { id, alex } = await room(call)
    for (const session_id of [id.toUpperCase(), ` ${id}\n`, `http://127.0.0.1:7423/sessions/${id}#m1`]) {
      const next = { title: 'Next', description: '', creator_team_name: 'A', resume_from: session_id }
      const made = seat(call, await done(call('create_session', next)))
      expect((await done(made('get_session'))).genealogy.resumed_from_session_id).toBe(id)
      if (transport === 'REST' && session_id.includes('/')) continue // in the address it would be another path
      expect((await done(call('get_session', { session_id }, { team: alex.token }))).session_id).toBe(id)
    }
  })

  test('no answer, event, roster row or history row holds anybody’s secret', async () => {
    const { id, alex, bea } = await room(call)
    await done(alex('post_message', { content: 'hello', to: [bea.handle] }))
    await done(bea('append_to_session_doc', { text: 'note' }))
    await done(bea('ack_messages', { cursor: 2 }))
    const answers = await Promise.all([
      feedOf(bea),
      ...['get_history', 'list_participants', 'get_session', 'read_session_doc'].map((name) => done(bea(name))),
    ])
    const text = JSON.stringify(answers)
    for (const { token } of [alex, bea]) expect(text).not.toContain(token.split('.')[1]!)
    expect(text).toContain(alex.handle)
    const stored = await parley().database.query('select * from participants p, idempotency i where p.session_id = $1', [id])
    expect(JSON.stringify(stored)).not.toContain(alex.token.split('.')[1]!)
    expect(parley().logged.join('\n')).not.toContain(alex.token.split('.')[1]!)
  })
})

onOneEngine((parley) => {
  test('an address of a page whose id was copied in capitals leads to the page', async () => {
    const { id } = await room(viaRest(parley()))
    for (const rest of ['', '.md', '/history', '/board?all=1', '/%0d%0aX:1', '/%E6%BC%A2', '/a%2Fb?x=%0A'])
      expect((await parley().send(`/sessions/${id.toUpperCase()}${rest}`)).headers.get('location')).toBe(`/sessions/${id}${rest}`)
    expect((await parley().send('/sessions/NEW')).status).toBe(404)
  })

  describe('where the credential travels', () => {
    test('over REST the argument in a body wins over the header', async () => {
      const call = viaRest(parley())
      const { id, alex, bea } = await room(call)
      await done(call('post_message', { session_id: id, content: 'as Bea', team_id: bea.token }, { team: alex.token }))
      expect((await feedOf(alex)).at(-1).team).toBe("Bea's Team")
      await refused(call('post_message', { session_id: id, content: 'x', team_id: 'garbage' }, { team: alex.token }), 'unauthorized')
    })

    test('over MCP the credential is taken from the argument, or without one from the header', async () => {
      const call = viaMcp(parley())
      const { id, alex, bea } = await room(call)
      const headers = { 'x-team-id': alex.token }
      await done(call('post_message', { session_id: id, content: 'as Alex' }, { headers }))
      await done(call('post_message', { session_id: id, content: 'as Bea' }, { headers, team: bea.token }))
      expect((await feedOf(alex)).slice(-2).map(({ team }) => team)).toEqual(["Alex's Team", "Bea's Team"])
    })

    test('a 401 has the header WWW-Authenticate and the error as JSON', async () => {
      const { id } = await room(viaRest(parley()))
      const response = await parley().send(`/api/sessions/${id}`)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toMatchObject({ error: { code: 'unauthorized', details: {} } })
    })

    test('team operations take no person, and a stranger’s cookie is nobody', async () => {
      const call = viaRest(parley())
      const { id } = await room(call)
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await refused(call('wait_for_messages', { session_id: id, timeout: 0 }, { person }), 'unauthorized')
      await refused(call('leave_session', { session_id: id }, { person }), 'unauthorized')
      const forged = person.replace(/\.(.).*/, '.AAAA')
      await refused(call('get_session', { session_id: id }, { person: forged }), 'unauthorized')
      const reader = await cookieOf(parley(), { name: 'Robin', role: 'reader' })
      await refused(call('post_message', { session_id: id, content: 'x' }, { person: reader }), 'unauthorized')
    })
  })
})
