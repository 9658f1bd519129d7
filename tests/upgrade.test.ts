// A database of an earlier version, with sessions, credentials and idempotency keys that were used, agents at work and proposals that wait,
// goes on with this one.
//   FULL=1 bun test tests/upgrade.test.ts    each on both engines; otherwise one of each schema, embedded the oldest and the newest
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signInAs } from '../src/process/sign-ins.ts'
import { controlWith } from './support/control-scene.ts'
import { beforeOf, DUMPS, restored, schemaOf } from './support/dumps.ts'
import { FULL } from './support/full.ts'
import { bearer, enterByLink } from './support/keys.ts'
import { cookieOf, done, refused, seat, startParley, viaRest, type Parley, type Seat } from './support/parley.ts'
import { personAt, recordsOf } from './support/records-scene.ts'

const ofEachSchema = DUMPS.filter((dump, n) => n === 0 || schemaOf(dump) !== schemaOf(DUMPS[n - 1]!))
const CASES = [
  ...(FULL ? DUMPS : [DUMPS[0]!, DUMPS.at(-1)!]).map((dump) => ['pglite', dump] as const),
  ...(FULL ? DUMPS : ofEachSchema).map((dump) => ['postgres', dump] as const),
]

const withoutTimes = ({ created_at: _, updated_at: __, claim_expires_at: ___, ...item }: any) => item

describe.each(CASES)('on %s, a database of %s', (engine, dump) => {
  const before = beforeOf(dump)
  let parley: Parley
  beforeAll(async () => void (parley = await startParley({ engine, opened: await restored(engine, dump) })), 180_000)
  afterAll(() => parley?.close(), 180_000)

  const call = () => viaRest(parley)
  const person = () => cookieOf(parley, { name: 'Robin', role: 'person' })
  const seatOf = (session_id: string, token: string): Seat =>
    seat(call(), { session_id, team_id: token, handle: token.split('.')[0], team_name: '', cursor: 0 })

  test('has the same feeds and documents, and its tokens open them', async () => {
    for (const { session_id, team, feed, doc } of before.rooms) {
      const page = await done(call()('wait_for_messages', { session_id, since_cursor: 0, timeout: 0 }, { team }))
      expect(page.messages).toMatchObject(feed)
      expect(await done(call()('read_session_doc', { session_id }, { team }))).toMatchObject(doc)
    }
  })

  test('has the same transcripts, settings and operator key', async () => {
    const { imported, trace, settings } = before
    const events = await parley.database.query('select id, sequence, turn, type from events where session_id = $1 order by sequence', [
      imported.session_id,
    ])
    expect(events).toEqual(trace)
    expect(parley.services.setting('mcp_url')).toBe(settings.mcp_url)
    expect(parley.services.setting('loop_guard')).toBe(settings.loop_guard)
  })

  test.each(before.kept.map(({ name, ...rest }, n) => [`${n + 1}: ${name}`, { name, ...rest }] as const))(
    'replays the answer of each idempotency key that was used, credentials and all; %s',
    async (_, { name, input, as, answer }) => {
      const count = () => parley.database.query<{ events: number }>('select count(*)::int as events from events')
      const events = await count()
      const { team, key } = as
      const headers = as.bearer ? bearer(as.bearer) : {}
      const replay = await call()(name, input, { team, key, person: as.person ? await person() : undefined, headers })
      expect(replay).toEqual({ ok: true, body: answer, replayed: true })
      expect(await count()).toEqual(events)
    },
  )

  test('replays an import under its key', async () => {
    const body = readFileSync(join(import.meta.dir, 'data/codex.jsonl'))
    const headers = { 'idempotency-key': 'a key of an import, used before' }
    const response = await parley.send('/api/traces?name=codex.jsonl', { body, headers })
    expect(await response.json()).toEqual(before.imported)
    expect(response.headers.get('idempotency-replayed')).toBe('true')
  })

  test('is searched as before', async () => {
    const { data } = await done(call()('history.search_sessions', { query: 'quixotic' }))
    expect(data.results.map(({ session }: { session: { id: string } }) => session.id)).toEqual([`session:${before.rooms[0]!.session_id}`])
  })

  test('takes posts with the next numbers', async () => {
    const { session_id, team, feed } = before.rooms[0]!
    const posted = await done(call()('post_message', { session_id, content: { text: 'We go on.' } }, { team }))
    expect(posted.cursor).toBe(feed.at(-1)!.sequence + 1)
    const again = await done(call()('post_message', { session_id, content: { text: 'And on.' } }, { team }))
    expect(again.cursor).toBe(posted.cursor + 1)
  })

  describe.skipIf(!before.awake)('with keys, people and a team that sleeps', () => {
    const { session_id, keys, vera, link, invitation, question, after, alex, bea } = before.awake ?? {}

    test('its keys open what they did, the revoked one nothing; its invitation lets an agent in', async () => {
      const closed = await parley.beside({ ACCESS_TOKEN: 'an-access-token-of-some-length' })
      const statusOf = async (key: string, body?: string) =>
        (await closed.send('/api/sessions', { headers: bearer(key), ...(body && { body }) })).status
      const body = JSON.stringify({ title: 'By a program', description: '', creator_team_name: 'A' })
      expect(await Promise.all([keys.full, keys.read, keys.revoked].map((key) => statusOf(key, body)))).toEqual([200, 403, 401])
      const reads = await closed.send(`/sessions/${session_id}.md`, { headers: bearer(keys.read) })
      expect(reads.status).toBe(200)
      const join = (headers: Record<string, string>) => viaRest(closed)('join_session', { session_id, team_name: 'Dana' }, { headers })
      await refused(join({}), 'unauthorized')
      expect((await done(join({ 'x-invite': invitation.code }))).session_id).toBe(session_id)
      await closed.close()
    })

    test('its people are signed in as before, under names that are theirs; a link that was not used signs in once', async () => {
      const posted = await done(call()('post_message', { session_id, content: 'I am still here.' }, { person: vera }))
      const page = await done(call()('wait_for_messages', { session_id, since_cursor: posted.cursor - 1, timeout: 0 }, { team: bea }))
      expect(page.messages).toMatchObject([{ author: 'person', team: 'Vera' }])
      await expect(signInAs(parley.services, { name: 'Vera', role: 'person' })).rejects.toThrow('a link of their own')
      const enters = async () => (await enterByLink(parley, link)).headers.get('set-cookie') ?? ''
      expect([await enters(), await enters()]).toEqual([expect.stringContaining('parley_person='), ''])
    })

    test('its sleeping team is woken by what it had not read, and answers what it was asked', async () => {
      const [asking, sleeper] = [seatOf(session_id, alex), seatOf(session_id, bea)]
      expect(await done(sleeper('peek', { timeout: 20, after }))).toMatchObject({ wake: true, addressed: 1 })
      expect((await done(sleeper('catch_up'))).unanswered).toMatchObject([{ id: question.message_id }])
      await done(sleeper('post_message', { content: 'I do.', reply_to: question.message_id }))
      expect((await done(asking('catch_up'))).asked).toEqual([])
    })
  })

  describe.skipIf(!before.control)('with agents at work', () => {
    const { runner, full, agent, session_id, log, ask, other, queued, running } = before.control ?? {}
    const control = (name: string, input: object) => controlWith(parley, full)(name, input)
    const asRunner = (name: string, input: object) => controlWith(parley, runner.key)(name, { runner_id: runner.id, ...input })
    const logNow = async () =>
      (
        (await (
          await parley.send(`/api/sessions/${session_id}/messages?include_trace=true&limit=500`, { headers: bearer(full) })
        ).json()) as any
      ).messages

    test('has the log of the task that was done, and of the one that runs', async () => {
      expect(await logNow()).toMatchObject(log)
      const { tasks } = await done(control('list_tasks', { session_id }))
      expect(tasks.map(({ task_id, status }: any) => [task_id, status])).toEqual([
        [running, 'running'],
        [before.control.done, 'completed'],
      ])
      expect((await done(control('get_task', { task_id: before.control.done }))).task.answer.text).toBe('The test is there.')
    })

    test('the teams of its agents and programs are known by their keys', async () => {
      const { meeting } = await done(viaRest(parley)('records.get_meeting_details', { meeting_id: session_id }, { headers: bearer(full) }))
      expect(meeting.attendees.map(({ kind, verified }: any) => [kind, verified])).toEqual([
        ['team', true],
        ['team', true],
      ])
    })

    test('its runner goes on with the running task, hears what a person permits, and gets the task that waited', async () => {
      const taken = await done(asRunner('take_tasks', { running: [running], timeout: 10 }))
      expect(taken.tasks.map(({ task_id }: any) => task_id)).toEqual([queued])
      expect(await done(asRunner('ask_permission', { ...ask, timeout: 0 }))).toEqual({ waiting: true })
      const nora = await personAt(parley, 'Robin')
      await done(nora('control.answer_permission', { session_id, request_id: ask.request_id, allow: true }))
      expect(await done(asRunner('ask_permission', { ...ask, timeout: 0 }))).toMatchObject({ allow: true })
      for (const task_id of [running, queued])
        await done(asRunner('finish_task', { task_id, status: 'completed', answer: `Done: ${task_id}` }))
      for (const task_id of [running, queued])
        expect((await done(control('get_task', { task_id }))).task).toMatchObject({
          status: 'completed',
          answer: { text: `Done: ${task_id}` },
        })
    })

    test('its agent’s key ended with the task, and both sessions take prompts again', async () => {
      await refused(controlWith(parley, agent)('get_session', { session_id }), 'unauthorized')
      const { task_id } = await done(control('send_prompt', { session_id, prompt: 'Go on.' }))
      await done(control('send_prompt', { session_id: other, prompt: 'And you.' }))
      const { tasks } = await done(asRunner('take_tasks', { running: [], timeout: 10 }))
      expect(tasks.map((task: any) => task.task_id)).toContain(task_id)
      expect(tasks).toHaveLength(2)
    })
  })

  describe.skipIf(!before.records)('with proposals, records and a board', () => {
    const { session_id, alex, bea, decision, action, pending, lexer, board } = before.records ?? {}
    const [ofAlex, ofBea] = [() => seatOf(session_id, alex), () => seatOf(session_id, bea)]

    test('has the same board, and items are done and claimed after the update', async () => {
      expect((await done(ofAlex()('list_work'))).items.map(withoutTimes)).toEqual(board.items.map(withoutTimes))
      const test = before.records.test as string
      await refused(ofAlex()('claim_work', { item_id: lexer }), 'conflict')
      await done(ofBea()('update_work', { item_id: lexer, status: 'done', result: 'In src/lexer.' }))
      expect((await done(ofAlex()('claim_work', { item_id: test }))).item).toMatchObject({ item_id: test, status: 'claimed' })
    })

    test('what waited is decided, and becomes records beside those that there were', async () => {
      const nora = await personAt(parley, 'Robin')
      for (const proposal_id of Object.values(pending)) await done(nora('records.resolve_approval', { proposal_id, action: 'approve' }))
      const records = recordsOf(call(), ofAlex())
      const titles = async (name: string, field: string) => (await done(records(name)))[field].map(({ title }: any) => title).toSorted()
      expect(await titles('get_decisions', 'decisions')).toEqual(['The lexer keeps comments', decision.title].toSorted())
      expect(await titles('get_action_items', 'action_items')).toEqual(['Measure the printer', action.title].toSorted())
      expect((await done(ofBea()('read_session_doc'))).content).toContain('The lexer keeps comments')
      const found = JSON.stringify(await done(records('search_content', { query: 'lexer keeps' })))
      expect(found).toContain('The lexer keeps comments')
    })
  })
})
