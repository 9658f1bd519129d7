import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { FULL, shortOf } from '../support/full.ts'
import { done, leaveTrace, onEveryEngine, refused, room, say, seat, throughBothDoors, viaRest, type Seat } from '../support/parley.ts'
import { controlScene } from '../support/control-scene.ts'
import { cpuMsAsync } from '../support/cpu.ts'
import { indexed } from '../support/history.ts'

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const lengthOf = (value: unknown) => JSON.stringify(value).length
const caughtUp = (who: Seat, more: Record<string, unknown> = {}) => done(who('catch_up', more))
const SECTIONS = ['session', 'you', 'participants', 'unanswered', 'asked', 'work', 'doc', 'last_messages']
const HOSTILE = '"\\\n\u0001é😀'

throughBothDoors((call, parley) => {
  describe('catch_up', () => {
    test('tells a team who it is, who is here and where it stands', async () => {
      const { id, alex, bea } = await room(call)
      const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
      await done(cleo('leave_session'))
      await say(alex, 'one')
      const { session, you, participants } = await caughtUp(bea)
      const { created_at } = await done(alex('get_session'))
      expect(session).toEqual({
        session_id: id,
        title: 'Shipping the parser',
        description: 'Decide what goes out.',
        status: 'active',
        archived_at: null,
        created_at,
      })
      expect(you).toEqual({
        handle: bea.handle,
        team_name: "Bea's Team",
        is_convener: false,
        cursor: 1,
        unread: 3,
        addressed: 0,
        last_cursor: 4,
      })
      expect(participants).toMatchObject([
        { team_id: alex.handle, team_name: "Alex's Team", is_convener: true },
        { team_id: bea.handle, team_name: "Bea's Team" },
        { team_id: cleo.handle, team_name: 'Cleo', status: 'left' },
      ])
    })

    test('tells what the agent of the session has to do, the oldest first, and how it stands', async () => {
      const { session, start, runner } = await controlScene(parley())
      const team = seat(call, session)
      expect(await caughtUp(team)).not.toHaveProperty('tasks')
      const first = await start('Add a test.')
      await runner.takeOne()
      const second = await start(HOSTILE.repeat(2_000))
      const { tasks } = await caughtUp(team)
      expect(tasks).toMatchObject([
        { task_id: first.task_id, status: 'running', prompt: 'Add a test.', prompted_by: { kind: 'key' } },
        { task_id: second.task_id, status: 'queued', prompt: expect.stringMatching(/…$/) },
      ])
      expect(lengthOf(await caughtUp(team, { max_chars: 2_000 }))).toBeLessThanOrEqual(2_000)
      await runner.finish(first.task_id, 'Done.')
      expect((await caughtUp(team)).tasks).toMatchObject([{ task_id: second.task_id }])
    })

    test('tells what changed in the doc since the team’s cursor, by whom, and what is gone', async () => {
      const { alex, bea } = await room(call)
      const write = (content: string, expected_version: number) => done(alex('update_session_doc', { content, expected_version }))
      await write('# S\n\n## Goals\n\nship\n\n## Notes\n\na\n\n## Old\n\nx\n', 0)
      const { cursor } = await say(alex, 'written')
      await done(bea('wait_for_messages', { since_cursor: cursor, timeout: 0 }))
      const outline = [
        { section: 'S', level: 1, chars: 44 },
        { section: 'Goals', level: 2, chars: 15 },
        { section: 'Notes', level: 2, chars: 12 },
        { section: 'Old', level: 2, chars: 10 },
      ]
      expect((await caughtUp(bea)).doc).toEqual({ version: 1, since_version: 1, changed_by: [], outline })
      await write('# S\n\n## Goals\n\nship\n\n## Notes\n\na and b\n\n## New\n\n```\n## Old\n```\n', 1)
      const { doc } = await caughtUp(bea)
      expect(doc).toMatchObject({ version: 2, since_version: 1, changed_by: ["Alex's Team"], removed: ['Old'] })
      expect(doc.outline.map(({ section, change }: any) => [section, change])).toEqual([
        ['S', undefined],
        ['Goals', undefined],
        ['Notes', 'changed'],
        ['New', 'added'],
      ])
    })

    test('tells what changed in the doc where the clock was set back too', async () => {
      const { id, alex, bea } = await room(call)
      await parley().database.query(`update sessions set last_event_at = now() + interval '1 hour' where id = $1`, [id])
      const { cursor } = await say(alex, 'one')
      await done(bea('wait_for_messages', { since_cursor: cursor, timeout: 0 }))
      await done(alex('update_session_doc', { content: '## Plan\n', expected_version: 0 }))
      await say(alex, 'two')
      expect((await caughtUp(bea)).doc).toMatchObject({ version: 1, since_version: 0 })
    })

    test('ends with what was said last, in order, with ids that read it whole', async () => {
      const { id, alex, bea } = await room(call)
      const long = HOSTILE.repeat(2_000)
      const { message_id } = await say(alex, long)
      await done(alex('update_session_metadata', { title: 'Renamed', reason: 'scope' }))
      await leaveTrace(parley(), id, 'tool_call', 'not said')
      await say(bea, 'last', { reply_to: message_id })
      const { last_messages } = await caughtUp(bea)
      expect(last_messages.map(({ sequence }: any) => sequence)).toEqual([1, 2, 3, 5])
      expect(last_messages).toMatchObject([
        { event: 'team_joined', team: "Bea's Team" },
        { id: message_id, team: "Alex's Team", truncated: { chars: long.length } },
        { event: 'session_metadata_updated', by: "Alex's Team", changed: ['title'], reason: 'scope' },
        { team: "Bea's Team", text: 'last', reply_to: message_id },
      ])
      expect((await done(bea('get_history', { message_id }))).messages[0].content.text).toBe(long)
    })

    test('consumes nothing', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'one', { to: [bea.handle] })
      const before = await done(bea('peek'))
      const { you } = await caughtUp(bea)
      expect(await done(bea('peek'))).toEqual(before)
      const { messages } = await done(bea('wait_for_messages', { since_cursor: you.cursor, timeout: 0 }))
      expect(messages).toHaveLength(you.unread)
    })

    test('is for teams, and takes no less than 2,000 characters', async () => {
      const { alex } = await room(call)
      for (const max_chars of [0, 1_999, 2_000.5]) {
        expect((await refused(alex('catch_up', { max_chars }), 'invalid_request')).details.field).toBe('max_chars')
      }
    })

    test('has a third of its room for the description, and says where that was cut', async () => {
      const description = `${'The goal, at some length. '.repeat(120)}END`
      const { alex, bea } = await room(call, { description })
      const { session } = await caughtUp(bea)
      expect(session.description).toStartWith(description.slice(0, 2_600))
      expect(session.description).toMatch(/…$/)
      expect(session.truncated).toEqual({ description: description.length })
      expect((await done(alex('get_session'))).description).toBe(description)
      const { session: whole } = await caughtUp(bea, { max_chars: 9_400 })
      expect(whole.description).toBe(description)
      expect(whole).not.toHaveProperty('truncated')
    })

    test('keeps within its budget when every text is as long and as awkward as it may be', async () => {
      const title = HOSTILE.repeat(50).slice(0, 200).toWellFormed()
      const name = `${'"\\'.repeat(49)}`
      const { id, alex, bea } = await room(call, { title, description: HOSTILE.repeat(1_400), creator_team_name: name })
      for (const n of range(1, 8)) await done(call('join_session', { session_id: id, team_name: `${n}${name}` }))
      for (const n of range(1, 10)) await say(alex, `${n}${HOSTILE.repeat(500)}`, { to: [bea.handle, alex.handle], expects_reply: true })
      await say(bea, HOSTILE.repeat(500), { to: [alex.handle], expects_reply: true })
      await done(alex('update_session_metadata', { description: HOSTILE.repeat(1_000), reason: HOSTILE.repeat(200) }))
      const doc = range(1, 300).map((n) => `${'#'.repeat((n % 6) + 1)} ${HOSTILE.replace('\n', '').repeat(20)} ${n}\n\ntext\n`)
      await done(alex('update_session_doc', { content: doc.join('\n'), expected_version: 0 }))
      for (const max_chars of [2_000, 2_001, 3_000, 5_000, 8_000, 20_000, 100_000]) {
        const answer = await caughtUp(bea, { max_chars })
        expect(lengthOf(answer), `asked for ${max_chars}`).toBeLessThanOrEqual(max_chars)
        expect(Object.keys(answer)).toEqual(expect.arrayContaining(SECTIONS))
      }
    })
  })
})

onEveryEngine((parley, engine) => {
  if (engine === 'pglite' && !FULL) return // so many posts take ten times as long there: in the long form
  test('of a session of 2,000 events it holds every section within the budget, and soon', async () => {
    const call = viaRest(parley())
    const { id, alex, bea } = await room(call)
    const others = await Promise.all(range(1, 10).map((n) => done(call('join_session', { session_id: id, team_name: `Team ${n}` }))))
    const teams = [alex, bea, ...others.map((one) => seat(call, one))]
    const sections = (version: number) =>
      range(1, 60)
        .map((n) => `## Part ${n}\n\n${n % 7 === version ? 'changed ' : ''}${'words of the part '.repeat(40)}\n`)
        .join('\n')
    await done(alex('update_session_doc', { content: sections(1), expected_version: 0 }))
    for (const batch of range(0, 19)) {
      await Promise.all(
        range(1, 100).map((n) => {
          const who = teams[(batch + n) % teams.length]!
          return say(
            who,
            `${batch}.${n} ${'something said at some length '.repeat(n % 12)}`,
            n % 10 === 0 ? { to: [who === bea ? alex.handle : bea.handle], expects_reply: true } : {},
          )
        }),
      )
    }
    await done(bea('wait_for_messages', { since_cursor: 1_500, timeout: 0 }))
    await done(alex('update_session_doc', { content: sections(2), expected_version: 1 }))
    const last = (await done(alex('get_session'))).last_sequence
    expect(last).toBeGreaterThanOrEqual(2_000)
    await indexed(parley()) // indexing takes processor time too
    for (const max_chars of shortOf([undefined, 2_000, 32_000, 4_000, 8_000], 3)) {
      let answer!: Awaited<ReturnType<typeof caughtUp>>
      const took = await cpuMsAsync(async () => (answer = await caughtUp(bea, { max_chars })))
      expect(lengthOf(answer)).toBeLessThanOrEqual(max_chars ?? 8_000)
      expect(lengthOf(answer), 'and is not spent on little').toBeGreaterThan((max_chars ?? 8_000) * 0.6)
      expect(took).toBeLessThan(1_000)
      for (const name of SECTIONS.filter((one) => one !== 'asked')) expect(lengthOf(answer[name]), name).toBeGreaterThan(40)
      expect(answer.you).toMatchObject({ handle: bea.handle, cursor: 1_500, last_cursor: last })
      expect(answer.last_messages.at(-1).sequence).toBe(last)
      expect(answer.doc).toMatchObject({ version: 2, since_version: 1 })
      expect(answer.doc.outline.some(({ change }: any) => change === 'changed')).toBe(true)
      expect(answer.omitted.unanswered + answer.unanswered.length).toBeGreaterThan(150)
      for (const { id: message_id } of [...answer.unanswered, ...answer.last_messages].slice(0, 3))
        expect((await done(bea('get_history', { message_id }))).messages).toHaveLength(1)
    }
  }, 180_000)
})
