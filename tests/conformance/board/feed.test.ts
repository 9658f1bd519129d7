// What a session hears of its board: what others must act on wakes them, and nothing else does.
import { describe, expect, test } from 'bun:test'
import { eventKinds } from '../../../src/board/event-kinds.ts'
import { claim, plan, threeTeams, update, workEvents } from '../../support/board-scene.ts'
import { fewestStatements } from '../../support/fewest-statements.ts'
import { cookieOf, done, feedOf, onOneEngine, room, seat, soon, viaRest, type Seat } from '../../support/parley.ts'

/** Follows the feed as the guide says, and counts the answers that had something in them. */
const follow = (who: Seat, cursor: number) => {
  const over = new AbortController()
  const seen: any[][] = []
  const run = async () => {
    for (let since = cursor; !over.signal.aborted;) {
      const answer = await who('wait_for_messages', { since_cursor: since, timeout: 30, only: 'others' }, { signal: over.signal })
      if (answer.body.messages?.length > 0) seen.push(answer.body.messages)
      since = answer.body.next_cursor ?? since
    }
  }
  const ended = run().catch(() => {})
  return { seen, ids: () => seen.flat().map(({ event, item_id, id }) => `${event}/${item_id ?? id}`), end: () => (over.abort(), ended) }
}

onOneEngine((parley) => {
  test('a plan of 12 items and 5 teams: one wake-up a team for the plan, one for each item done or released, none for claims and notes', async () => {
    const call = viaRest(parley())
    const { id, alex, bea } = await room(call)
    const teams = [alex, bea]
    for (const name of ["Cleo's Team", "Dana's Team", "Eli's Team"])
      teams.push(seat(call, await done(call('join_session', { session_id: id, team_name: name }))))
    const { last_sequence } = await done(alex('get_session'))
    const following = teams.map((who) => follow(who, last_sequence))
    await soon('all wait', () => parley().services.waits.held >= teams.length)
    const quiet = async (what: number, who: Seat) => {
      const others = following.filter((_, i) => teams[i] !== who)
      await soon('the others have heard', () => others.every(({ seen }) => seen.flat().length >= what))
      await soon('all wait again', () => parley().services.waits.held >= teams.length)
    }
    await plan(
      alex,
      Array.from({ length: 12 }, (_, i) => ({ title: `Item number ${i}`, ...(i > 8 && { depends_on: ['#1'] }), paths: [`src/${i}`] })),
    )
    await quiet(1, alex)
    expect(following.map(({ seen }) => seen.length)).toEqual([0, 1, 1, 1, 1])
    const items: any[] = []
    for (const who of teams) {
      const item = await claim(who)
      items.push(item)
      await update(who, item, { note: 'half-way' })
      await update(who, item, { paths: [`lib/${item.item_id}`] })
    }
    expect(following.map(({ seen }) => seen.length)).toEqual([0, 1, 1, 1, 1]) // a claim would have come by the next event
    await update(bea, items[1], { status: 'done', result: 'in lib' })
    await soon('alex has heard', () => following[0]!.seen.length === 1)
    await update(alex, items[0], { status: 'open', note: 'too hard for me' })
    await soon('bea has heard', () => following[1]!.seen.length === 2)
    await soon('the third has heard', () => following.slice(2).every(({ seen }) => seen.flat().length === 3))
    expect(following.map(({ seen }) => seen.length).every((wakes, i) => wakes <= (i < 2 ? 2 : 3))).toBe(true)
    for (const { seen } of following) expect(seen.flat().every(({ type }) => type === 'system')).toBe(true)
    expect(following[2]!.ids().map((name) => name.split('/')[0])).toEqual(['work_planned', 'work_done', 'work_released'])
    for (const each of following) await each.end()
  })

  test('claims, edits and notes are in the trace, and in no conversation', async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    const [item] = await plan(alex, ['Write the lexer'])
    await claim(bea, item)
    await update(bea, item, { note: 'Half of it.', title: 'Write the tokenizer' })
    await update(bea, item, { result: 'A third of it.' })
    for (const owner of [alex.team, alex.handle]) await update(bea, item, { owner })
    await update(bea, item, { result: 'A third of it.', owner: alex.team }) // says nothing new
    await update(bea, item, { note: '' })
    await update(bea, item, { status: 'done', note: 'See the branch.', result: 'All of it.' }) // whose event has the result alone
    const told = (events: any[]) => events.filter(({ type }) => type === 'runtime').map(({ content }) => content)
    expect(told(await feedOf(bea))).toEqual([])
    expect((await done(bea('peek'))).unread).toBe(0)
    expect((await done(bea('get_history'))).messages.map(({ event }: any) => event)).toEqual(['team_joined', 'work_planned', 'work_done'])
    expect(told(await feedOf(bea, { include_trace: true }))).toMatchObject([
      {
        event: 'work_claimed',
        item_id: item.item_id,
        title: 'Write the lexer',
        by: bea.team,
        text: "Bea's Team claimed “Write the lexer”",
      },
      { event: 'work_edited', title: 'Write the tokenizer', fields: ['title'] },
      { event: 'work_noted', note: 'Half of it.' },
      { event: 'work_noted', result: 'A third of it.' },
      { event: 'work_edited', fields: ['owner'] },
      { event: 'work_noted', note: null },
      { event: 'work_noted', note: 'See the branch.' },
    ])
    expect((await workEvents(parley(), id)).length).toBe(9)
  })

  test('the fields of each kind are listed as answers have them', async () => {
    const { alex, bea, cleo } = await threeTeams(viaRest(parley()))
    const [lexer, parser] = await plan(alex, [
      { title: 'Write the lexer', owner: bea.team },
      { title: 'Write the parser', depends_on: ['#1'] },
    ])
    await claim(bea, lexer)
    await update(alex, lexer, { status: 'open' })
    await claim(cleo, lexer).catch(() => {})
    await claim(bea, lexer).catch(() => {})
    await update(alex, lexer, { status: 'done' })
    await claim(cleo, parser)
    await update(alex, parser, { status: 'dropped' })
    const events = (await feedOf(cleo)).filter(({ event }) => event.startsWith('work_'))
    const fields = Object.fromEntries(events.map(({ id: _, sequence: __, type: ___, at: ____, event, ...own }) => [event, own]))
    expect(Object.fromEntries(Object.entries<any>(fields).map(([event, own]) => [event, Object.keys(own)]))).toEqual(
      Object.fromEntries(eventKinds.map(({ name, fields: declared }) => [name, Object.keys(declared)])),
    )
    expect(fields.work_planned).toMatchObject({ by: alex.team, to: [bea.handle] })
    expect(fields.work_done.ready).toEqual([{ item_id: parser.item_id, title: parser.title }])
    expect(fields.work_released).toMatchObject({ reason: 'taken_back', by: alex.team, team: bea.team, to: [bea.handle] })
  })

  test('what came of an item is told with its end, though it was said before; an empty text takes it back', async () => {
    const { alex, bea } = await room(viaRest(parley()))
    const told = async (last: Record<string, unknown>) => {
      const [item] = await plan(alex, ['Write the lexer'])
      await claim(bea, item)
      await update(bea, item, { result: 'In src/lexer.' })
      const { result } = await update(bea, item, { status: 'done', ...last })
      const event = (await feedOf(alex)).findLast(({ event }) => event === 'work_done')
      return [result, event.result]
    }
    expect(await told({})).toEqual(['In src/lexer.', 'In src/lexer.'])
    expect(await told({ result: 'In src/tokens.' })).toEqual(['In src/tokens.', 'In src/tokens.'])
    expect(await told({ result: '' })).toEqual([null, null])
  })

  test('who owns some of a plan, and who loses an item, hear of it also while they listen only for what is addressed to them', async () => {
    const { alex, bea, cleo } = await threeTeams(viaRest(parley()))
    const heard = async (who: Seat) =>
      (await done(who('wait_for_messages', { timeout: 0, only: 'addressed', since_cursor: 0 }))).messages.map(({ event }: any) => event)
    const [item] = await plan(alex, [
      { title: 'Write the lexer', owner: bea.team },
      { title: 'By the planner', owner: alex.team },
    ])
    await claim(cleo, item)
    await update(alex, item, { status: 'open' })
    expect([await heard(alex), await heard(bea), await heard(cleo)]).toEqual([[], ['work_planned'], ['work_released']])
    expect((await done(bea('catch_up'))).unanswered).toEqual([]) // nobody owes it an answer
    for (const status of ['dropped', 'done']) {
      const [held] = await plan(alex, [`To be ${status}`])
      await claim(cleo, held)
      await update(alex, held, { status })
    }
    const [own] = await plan(alex, ['Her own'])
    await claim(cleo, own)
    await update(cleo, own, { status: 'done' })
    expect(await heard(cleo)).toEqual(['work_released', 'work_dropped', 'work_done'])
  })

  test('reading costs the same number of queries for one item and for fifty', async () => {
    const { alex } = await room(viaRest(parley()))
    const reads = async (item_id: string, enough: number[] = []) => {
      const calls: [string, object][] = [
        ['list_work', { limit: 50 }],
        ['list_work', { item_id }],
        ['list_participants', {}],
        ['catch_up', {}],
        ['join_session', { team_name: alex.team }],
      ]
      const counts: number[] = []
      for (const [i, [name, input]] of calls.entries())
        counts.push(await fewestStatements(parley().database, () => done(alex(name, { ...input })), enough[i]))
      return counts
    }
    const [first] = await plan(alex, ['Item number 1'])
    const few = await reads(first.item_id)
    await plan(
      alex,
      Array.from({ length: 49 }, (_, n) => ({ title: `Item number ${n + 2}`, depends_on: [first.item_id], paths: [`src/${n}`] })),
    )
    expect(await reads(first.item_id, few)).toEqual(few)
  })

  describe('is told where one looks', () => {
    const scene = async () => {
      const teams = await threeTeams(viaRest(parley()))
      const [lexer, parser, docs, over] = await plan(teams.alex, [
        { title: 'Write the *lexer*', paths: ['src/lexer'] },
        { title: 'Write the parser', depends_on: ['#1'], priority: 'high' },
        { title: 'Write the docs', owner: teams.bea.team },
        'Already over',
      ])
      await claim(teams.bea, lexer)
      await claim(teams.cleo, over)
      await update(teams.cleo, over, { status: 'done' })
      return { ...teams, lexer, parser, docs }
    }

    test('roster: what each holds, since when', async () => {
      const { id, alex, bea, lexer } = await scene()
      const { participants } = await done(alex('list_participants'))
      const held = [[], [{ item_id: lexer.item_id, title: lexer.title, since: expect.any(String) }], []]
      expect(participants.map(({ holds }: any) => holds)).toEqual(held)
      expect(bea.handle).toBe(participants[1].team_id)
      const joined = await done(viaRest(parley())('join_session', { session_id: id, team_name: "Dana's Team" }))
      expect(joined.participants.map(({ holds }: any) => holds)).toEqual([...held, []])
    })

    test('catch_up: mine, what is ready, the counts', async () => {
      const { bea, cleo, lexer, docs } = await scene()
      const { work } = await done(bea('catch_up'))
      expect(work).toEqual({
        mine: [
          { item_id: lexer.item_id, title: lexer.title, status: 'claimed', claim_expires_at: expect.any(String), paths: ['src/lexer'] },
          { item_id: docs.item_id, title: docs.title, status: 'open' },
        ],
        ready: [],
        counts: { open: 2, ready: 1, claimed: 1, done: 1, dropped: 0 },
      })
      expect((await done(cleo('catch_up'))).work).toMatchObject({ mine: [], ready: [{ item_id: docs.item_id, priority: 'medium' }] })
      await plan(
        cleo,
        Array.from({ length: 50 }, (_, i) => `${'x'.repeat(150)} ${i}`),
      )
      const short = await done(cleo('catch_up', { max_chars: 2_000 }))
      expect(JSON.stringify(short).length).toBeLessThanOrEqual(2_000)
      expect(short.work.ready.length + short.omitted.work).toBe(51)
    })

    test('handoff, export, and the document of a session that goes on from there', async () => {
      const { id, alex } = await scene()
      await done(alex('conclude_session', { summary_section: 'Enough.' }))
      const lines = [
        "- “Write the \\*lexer\\*”: Bea's Team is at it",
        '- “Write the parser”, high priority: waits for “Write the \\*lexer\\*”',
        '- “Write the docs”: nobody is at it',
      ].join('\n')
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const page = async (path: string) => (await parley().send(path, { headers: { cookie: person } })).text()
      expect(await page(`/api/sessions/${id}/handoff.md`)).toContain(`## Open work\n\n${lines}\n`)
      expect(await page(`/sessions/${id}.md`)).toEndWith(`\n## Open work\n\n${lines}\n`)
      const next = await done(
        viaRest(parley())(
          'create_session',
          { title: 'On', description: '', creator_team_name: 'Dana', resume_from: id },
          { team: alex.token },
        ),
      )
      const { content } = await done(seat(viaRest(parley()), next)('read_session_doc'))
      expect(content).toContain(`What was left unfinished there:\n\n${lines}\n\n## Goals`)
    })
  })
})
