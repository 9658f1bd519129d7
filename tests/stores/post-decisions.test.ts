// The optimistic append (src/log/log-heads.ts) decides about a post by what this process knew when the log ended where it still ends. So
// every fact that decides about a post may change only together with the log's end, while the session takes posts at all.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { controlScene, controlWith } from '../support/control-scene.ts'
import { keyOf } from '../support/keys.ts'
import { said } from '../support/played-runner.ts'
import { ACTION, DECISION, recordsScene } from '../support/records-scene.ts'
import { participants, sessions } from '../../db/schema.ts'
import { cookieOf, done, operations, room, say, seat, startParley, viaRest, type Parley, type Seat } from '../support/parley.ts'

// What each column means for a post. A new column must be listed. If it decides whether a post is written, or as what: write an event in
// the transaction that changes it, and add an operation that changes it to the script below.
const DECIDES = 'decides, and changes only with an event'
const NO = 'does not decide'
type Meaning = typeof DECIDES | typeof NO

const SESSIONS: Record<keyof typeof sessions.$inferSelect, Meaning> = {
  id: DECIDES,
  title: DECIDES, // a change of it is news to a post with expected_cursor
  description: DECIDES,
  status: DECIDES,
  createdByTeamId: NO,
  openedBy: NO,
  convenerTeamId: NO,
  createdAt: NO,
  updatedAt: NO,
  closedAt: NO,
  archivedAt: DECIDES,
  purgedAt: NO,
  expectedTeams: NO,
  lastSequence: NO, // it is the log's end
  lastConversationSequence: NO,
  lastEventAt: NO, // the statement reads it
  activeHour: NO, // made of that
  turn: DECIDES,
  turnHolder: DECIDES,
  turnEvents: DECIDES,
  parentSessionId: NO,
  forkedFromSessionId: NO,
  forkedAtSequence: NO,
  resumedFromSessionId: NO,
  seriesId: NO,
  agenticTool: NO,
  agentStatus: NO, // as long as posts do not depend on it
  permissionMode: NO,
  worktreeId: NO,
  source: NO,
}
const PARTICIPANTS: Record<keyof typeof participants.$inferSelect, Meaning> = {
  sessionId: DECIDES,
  teamId: DECIDES,
  tokenHash: DECIDES, // a token's team is remembered
  teamName: DECIDES, // posts are written with the name that was seen last
  hue: NO,
  joinedAt: NO,
  leftAt: DECIDES,
  lastSeenAt: NO,
  pollingUntil: NO,
  lastSeenCursor: NO,
  deliveredCursor: NO,
  addressedCursor: NO,
  sleptAt: NO,
  sleepingUntil: NO,
  wokenCursor: NO,
  seenHour: NO,
  invitationId: NO, // what it passes is asked of the row before the post is looked at, and never changes
  verified: NO, // never changes
}

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const deciding = (table: Record<string, Meaning>) =>
  Object.keys(table)
    .filter((field) => table[field] === DECIDES)
    .map(columnOf)
    .join(', ')

let parley: Parley
beforeAll(async () => void (parley = await startParley()))
afterAll(() => parley?.close())

test.each([
  ['sessions', SESSIONS],
  ['participants', PARTICIPANTS],
])('each column of %s is listed with what it means for a post', async (table, listed) => {
  const rows = await parley.database.query<{ name: string }>(
    'select column_name as name from information_schema.columns where table_name = $1',
    [table],
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(listed).map(columnOf).toSorted())
})

/** Notes the deciding facts of every session that takes posts, and tells of those that are others than before at the same end of its log.
 *  One that is closed or archived takes none: teams join and leave it without an event, and the event that opens it again moves the end. */
const witness = () => {
  const facts = new Map<string, string>()
  return async (): Promise<string[]> => {
    const { query } = parley.database
    const open = await query<{ id: string; last_sequence: number }>(
      `select last_sequence, ${deciding(SESSIONS)} from sessions where status = 'active' and archived_at is null`,
    )
    const teams = await query<{ session_id: string }>(`select ${deciding(PARTICIPANTS)} from participants order by team_id`)
    return open.flatMap((session) => {
      const end = `${session.id} at ${session.last_sequence}`
      const now = JSON.stringify([session, teams.filter(({ session_id }) => session_id === session.id)])
      const before = facts.get(end) ?? now
      facts.set(end, now)
      return before === now ? [] : [`${end}: ${before} became ${now}`]
    })
  }
}

describe('every operation that changes what decides about a post moves the end of the log', () => {
  const used = new Set<string>()

  test('through a session’s life, closed and reopened', async () => {
    const call = viaRest(parley)
    const violations = witness()
    const operator = await cookieOf(parley, { name: 'Robin', role: 'person' })
    let [alex, bea]: Seat[] = []
    let id = ''
    const step = async (name: string, run: () => Promise<unknown>) => {
      await run()
      used.add(name)
      expect(await violations(), name).toEqual([])
    }
    const join = async (team_name: string) => seat(call, await done(call('join_session', { session_id: id, team_name })))
    const as = (team: Seat | undefined, name: string, input = {}) => step(name, () => done(team!(name, input)))
    const asPerson = (name: string, input = {}) => step(name, () => done(call(name, { session_id: id, ...input }, { person: operator })))

    await step('create_session', async () => ({ id, alex, bea } = await room(call)))
    await step('join_session', () => join('Cleo'))
    await step('post_message', () => Promise.all([say(alex!, 'one'), say(bea!, 'two')]))
    await asPerson('post_message', { content: 'three' })
    await as(bea, 'ack_messages', { cursor: 2 })
    await as(alex, 'append_to_session_doc', { text: '- one' })
    await as(bea, 'update_session_doc', { content: '- two', expected_version: 1 })
    await as(alex, 'update_session_metadata', { title: 'Another title', reason: 'It is about something else.' })
    await as(alex, 'transfer_convener', { to: bea!.handle })
    await as(alex, 'plan_work', { items: [{ title: 'Build the lexer' }] })
    const { item_id } = (await done(alex!('list_work'))).items[0]
    await as(bea, 'claim_work', { item_id })
    await as(bea, 'update_work', { item_id, status: 'done' })
    await asPerson('share_session')
    await asPerson('unshare_session')
    await asPerson('release_session')
    await asPerson('create_invitation')
    const { invitations } = await done(call('list_invitations', { session_id: id }, { person: operator }))
    await asPerson('revoke_invitation', { invitation_id: invitations[0].invitation_id })
    await as(alex, 'leave_session')
    await step('join_session', async () => (alex = await join("Alex's Team")))
    await as(bea, 'conclude_session', { summary_section: 'The end.' })
    let late: Seat | undefined
    await step('join_session', async () => (late = await join('Too Late')))
    await as(alex, 'leave_session')
    await asPerson('reopen_session', { reason: 'There is more.' })
    await as(late, 'post_message', { content: 'four' })
    await as(late, 'leave_session')
    await as(bea, 'conclude_session', { summary_section: 'The very end.' })
  }, 180_000)

  test('through the life of one that an agent works in', async () => {
    const violations = witness()
    const { runner, call, session_id } = await controlScene(parley)
    const person = { person: await cookieOf(parley, { name: 'Robin', role: 'person' }) }
    const step = async (name: string, run: () => Promise<unknown>) => {
      await run()
      used.add(name)
      expect(await violations(), name).toEqual([])
    }
    const steered = (name: string, input: object = {}) => step(name, () => done(call(name, { session_id, ...input })))
    const told = (name: string, input: object = {}) => step(name, () => done(runner.call(name, { runner_id: runner.id, ...input })))
    await steered('send_prompt', { prompt: 'Go.' })
    const { task_id } = await runner.takeOne()
    await told('add_task_events', { task_id, events: [{ key: '1', ...said('Looking.') }] })
    await told('ask_permission', { task_id, request_id: 'r', tool_name: 'Bash', text: 'npm test', timeout: 0 })
    await step('answer_permission', () =>
      done(viaRest(parley)('control.answer_permission', { session_id, request_id: 'r', allow: true }, person)),
    )
    await steered('interrupt_session')
    await told('finish_task', { task_id, status: 'interrupted', answer: 'So far.' })
    await steered('update_session', { title: 'Another', permission_mode: 'plan' })
    const naming = controlWith(parley, await keyOf(parley, 'sess', session_id))
    await step('set_session_name', () => done(naming('set_session_name', { name: 'A third' })))
    await step('add_worktree', async () => {
      const wanted = { title: 'Branch', repo_full_name: runner.repo, branch: 'feature/x' }
      const made = await done(call('create_session', wanted))
      await done(
        runner.call('add_worktree', { runner_id: runner.id, session_id: made.session_id, path: '/code/x', branch: 'x', head: null }),
      )
    })
    await steered('manage_session', { action: 'delete' })
    await steered('manage_session', { action: 'start' })
    await step('unregister_runner', () => done(runner.call('unregister_runner', { runner_id: runner.id })))
    await step('register_runner', () => done(runner.call('register_runner', { name: runner.name, agents: [], worktrees: [] })))
  })

  test('through proposals and what becomes of them', async () => {
    const violations = witness()
    const { alex, nora } = await recordsScene(viaRest(parley), parley)
    const step = async (name: string, run: () => Promise<unknown>) => {
      const answer = await run()
      used.add(name)
      expect(await violations(), name).toEqual([])
      return answer as any
    }
    const propose = async (name: string, input: object) => (await step(name, () => done(alex(name, { ...input })))).id as string
    const asPerson = (name: string, input: object) => step(name, () => done(nora(`records.${name}`, { ...input })))
    const decision = await propose('propose_decision', DECISION)
    const item = await propose('propose_action_item', ACTION)
    const { record } = await asPerson('resolve_approval', { proposal_id: decision, action: 'approve' })
    await asPerson('withdraw_record', { record_id: record.decision_id, reason: 'It was wrong.' })
    await parley.database.query(`update proposals set expires_at = now() - interval '1 second' where id = $1`, [item])
    await asPerson('renew_approval', { proposal_id: item })
    await asPerson('cancel_approval', { proposal_id: item })
    const again = await propose('propose_action_item', ACTION)
    await step('cancel_proposal', () => done(alex('cancel_proposal', { proposal_id: again })))
  })

  test('and none is left out', () => {
    const changing = operations.filter(({ effect }) => effect !== 'read').map(({ name }) => name)
    expect(changing.filter((name) => !used.has(name))).toEqual([])
  })

  test('a fact that changes without an event would be noticed', async () => {
    const { id, bea } = await room(viaRest(parley))
    const violations = witness()
    await violations()
    await parley.database.query('update participants set left_at = now() where session_id = $1 and team_id = $2', [id, bea.handle])
    expect(await violations()).toHaveLength(1)
    await parley.database.query(`update sessions set turn_holder = 'somebody' where id = $1`, [id])
    expect(await violations()).toHaveLength(1)
  })
})
