// The board: what is planned, claimed, done, and what is refused.
import { describe, expect, test } from 'bun:test'
import { claim, itemOf, plan, threeTeams, update } from '../../support/board-scene.ts'
import { done, refused, room, throughBothDoors } from '../../support/parley.ts'

const LEXER = { title: 'Write the lexer' }

throughBothDoors((call) => {
  describe('plan_work', () => {
    test('an item has what was said of it, and what it is now', async () => {
      const { alex, bea } = await room(call)
      const [lexer, parser] = await plan(alex, [
        {
          title: '  Write the lexer ',
          description: 'All tokens.',
          priority: 'high',
          paths: ['./src/lexer/', '**/*.snap'],
          owner: bea.handle,
        },
        { title: 'Write the parser', depends_on: ['#1', '#1'], owner: "ALEX's team" },
      ])
      const named = (name: string) => ({ person_id: expect.any(String), name, kind: 'team', verified: false })
      expect(lexer).toEqual({
        item_id: expect.any(String),
        kind: 'work',
        title: 'Write the lexer',
        description: 'All tokens.',
        status: 'open',
        ready: true,
        priority: 'high',
        depends_on: [],
        paths: ['src/lexer', '**/*.snap'],
        owner: named("Bea's Team"),
        planned_by: named("Alex's Team"),
        claimed_by: null,
        claim_expires_at: null,
        note: null,
        result: null,
        created_at: expect.any(String),
        updated_at: lexer.created_at,
      })
      expect(parser).toMatchObject({
        ready: false,
        priority: 'medium',
        description: '',
        paths: [],
        owner: named("Alex's Team"),
        depends_on: [{ item_id: lexer.item_id, title: 'Write the lexer', status: 'open' }],
      })
      expect(Object.keys(parser.depends_on[0])).toEqual(['item_id', 'title', 'status'])
    })

    test('an owner named by a handle is the team of that handle, and not one that took it for its name', async () => {
      const { alex, bea, id } = await room(call)
      await done(bea('leave_session'))
      await done(call('join_session', { session_id: id, team_name: bea.handle }))
      const [item] = await plan(alex, [{ title: 'Write the lexer', owner: bea.handle.toUpperCase() }])
      expect(item.owner).toMatchObject({ name: "Bea's Team" })
    })

    test('items may wait for later ones of the same call, and for those that were there', async () => {
      const { alex } = await room(call)
      const [first] = await plan(alex, ['The first item'])
      const [second, third] = await plan(alex, [
        { title: 'The second item', depends_on: ['#2', first.item_id.toUpperCase()] },
        { title: 'The third item' },
      ])
      expect(second.depends_on.map(({ item_id }: any) => item_id)).toEqual([third.item_id, first.item_id])
    })

    const BAD: [string, Record<string, unknown>[], string][] = [
      ['a title of four characters', [{ title: 'Lex ' }], 'items.0.title'],
      ['a title of 201', [{ title: 'x'.repeat(201) }], 'items.0.title'],
      ['a blank title', [{ title: '        ' }], 'items.0.title'],
      ['a title of two lines', [{ title: 'Write\nthe lexer' }], 'items.0.title'],
      ['a description of 4,001', [{ ...LEXER, description: 'x'.repeat(4_001) }], 'items.0.description'],
      ['an unknown priority', [{ ...LEXER, priority: 'urgent' }], 'items.0.priority'],
      ['an unknown field', [{ ...LEXER, deadline: 'now' }], 'items.0.deadline'],
      ['itself', [{ ...LEXER, depends_on: ['#1'] }], 'items.0.depends_on'],
      [
        'a circle',
        [
          { ...LEXER, depends_on: ['#3'] },
          { ...LEXER, depends_on: ['#1'] },
          { ...LEXER, depends_on: ['#2'] },
        ],
        'items.0.depends_on',
      ],
      ['an item that the call does not have', [LEXER, { ...LEXER, depends_on: ['#3'] }], 'items.1.depends_on'],
      ['#0', [{ ...LEXER, depends_on: ['#0'] }], 'items.0.depends_on'],
      ['an item that the session does not have', [{ ...LEXER, depends_on: [crypto.randomUUID()] }], 'items.0.depends_on'],
      ['a word', [{ ...LEXER, depends_on: ['the lexer'] }], 'items.0.depends_on'],
      ['an owner whom nobody knows', [LEXER, { ...LEXER, owner: 'Dana' }], 'items.1.owner'],
      ['a path upwards', [{ ...LEXER, paths: ['src', '../x'] }], 'items.0.paths.1'],
      ['a path from the root', [{ ...LEXER, paths: ['/src'] }], 'items.0.paths.0'],
      ['21 paths', [{ ...LEXER, paths: Array.from({ length: 21 }, (_, i) => `p${i}`) }], 'items.0.paths'],
      ['no item', [], 'items'],
      ['51 items', Array.from({ length: 51 }, () => LEXER), 'items'],
    ]
    test.each(BAD)('%s is refused, and nothing is planned', async (_, items, field) => {
      const { alex } = await room(call)
      const { details, message } = await refused(alex('plan_work', { items }), 'invalid_request')
      expect(details.field).toBe(field)
      expect(message).toContain(field.split('.').findLast((part) => !/^\d+$/.test(part))!)
      expect((await done(alex('list_work'))).items).toEqual([])
    })

    test('a title that is a token is refused', async () => {
      const { alex } = await room(call)
      await refused(alex('plan_work', { items: [{ title: alex.token }] }), 'secret_in_text')
    })

    test('an item of another session is none of this one', async () => {
      const [here, there] = [await room(call), await room(call)]
      const [other] = await plan(there.alex, ['Somewhere else'])
      await refused(here.alex('plan_work', { items: [{ ...LEXER, depends_on: [other.item_id] }] }), 'invalid_request')
      await refused(here.alex('claim_work', { item_id: other.item_id }), 'not_found')
      await refused(here.alex('update_work', { item_id: other.item_id, note: 'x' }), 'not_found')
      await refused(here.alex('list_work', { item_id: other.item_id }), 'not_found')
      await refused(here.alex('list_work', { item_id: 'no id' }), 'not_found')
    })

    test('with claim all items of the call are claimed, or none is planned', async () => {
      const { alex, bea } = await room(call)
      const [reserved] = await plan(alex, [{ title: 'Keep off the lexer', paths: ['src/lexer'] }], { claim: true })
      expect(reserved).toMatchObject({ status: 'claimed', ready: false, claimed_by: { team_id: alex.handle, team_name: alex.team } })
      const items = [{ title: 'Something else' }, { title: 'The lexer again', paths: ['src'] }]
      const overlapping = await refused(bea('plan_work', { items, claim: true }), 'conflict')
      expect(overlapping.details).toEqual({ overlaps: [{ item_id: reserved.item_id, path: 'src/lexer', team_name: alex.team }] })
      expect(overlapping.message).toContain('Nothing was planned') // plan_work itself takes no allow_overlap
      const waiting = [{ title: 'Wait for the lexer', depends_on: [reserved.item_id] }]
      const blocked = await refused(bea('plan_work', { items: waiting, claim: true }), 'conflict')
      expect(blocked.details).toEqual({ blocked_by: [{ item_id: reserved.item_id, title: 'Keep off the lexer' }] })
      expect((await done(bea('list_work'))).counts).toEqual({ open: 0, ready: 0, claimed: 1, done: 0, dropped: 0 })
    })

    test('what is claimed with its planning comes whole too, with the results that it builds on', async () => {
      const { alex } = await room(call)
      const [lexer] = await plan(alex, [LEXER], { claim: true })
      const result = 'r'.repeat(2_000)
      await update(alex, lexer, { status: 'done', result })
      const parser = { title: 'Write the parser', description: 'd'.repeat(4_000), depends_on: [lexer.item_id] }
      const built = { item_id: lexer.item_id, title: lexer.title, status: 'done' }
      const [first, ...others] = await plan(
        alex,
        Array.from({ length: 50 }, () => parser),
        { claim: true },
      )
      expect(first).toMatchObject({ status: 'claimed', description: parser.description, depends_on: [{ ...built, result }] })
      expect(first.truncated).toBeUndefined()
      const last = others.at(-1) // all of them are too much for one answer
      expect(last).toMatchObject({ status: 'claimed', description: 'd'.repeat(200), truncated: true })
      expect(last.depends_on).toEqual([built])
    })

    test('a session takes 500 items', async () => {
      const { alex } = await room(call)
      const fifty = Array.from({ length: 50 }, (_, i) => `Item number ${i}`)
      for (let n = 0; n < 10; n++) await plan(alex, fifty)
      await refused(alex('plan_work', { items: [LEXER] }), 'conflict')
    })
  })

  describe('list_work', () => {
    test('lists in the order of planning, by status, by whose they are, in pages that stay put while items come', async () => {
      const { alex, bea } = await room(call)
      const titles = Array.from({ length: 5 }, (_, i) => `Item number ${i}`)
      const items = await plan(
        alex,
        titles.map((title, i) => ({ title, ...(i === 3 && { owner: bea.handle }) })),
      )
      await claim(bea, items[1])
      await claim(alex, items[2])
      await update(alex, items[2], { status: 'dropped' })
      const listed = async (more: object) =>
        (await done(bea('list_work', { ...more }))).items.map(({ title }: any) => Number(title.slice(-1)))
      expect(await listed({})).toEqual([0, 1, 2, 3, 4])
      expect(await listed({ status: 'open' })).toEqual([0, 3, 4])
      expect(await listed({ status: 'dropped' })).toEqual([2])
      expect(await listed({ mine: true })).toEqual([1, 3])
      expect(await listed({ mine: true, status: 'claimed' })).toEqual([1])
      const first = await done(alex('list_work', { limit: 2 }))
      expect([first.items.length, first.has_more]).toEqual([2, true])
      await plan(bea, ['Item number 5'])
      const second = await done(alex('list_work', { limit: 50, cursor: first.next_cursor }))
      expect(second.items.map(({ title }: any) => title)).toEqual([...titles.slice(2), 'Item number 5'])
      expect([second.has_more, second.next_cursor]).toEqual([false, null])
      await refused(alex('list_work', { cursor: first.next_cursor, status: 'open' }), 'invalid_request')
      await refused(alex('list_work', { cursor: 'next' }), 'invalid_request')
      const there = await room(call)
      await refused(there.alex('list_work', { cursor: first.next_cursor }), 'invalid_request')
    })

    test.each([0, 51, 1.5])('a limit of %p is refused', async (limit) => {
      const { alex } = await room(call)
      await refused(alex('list_work', { limit }), 'invalid_request')
    })

    test('rows have 200 characters of each text, and one item all of them', async () => {
      const { alex } = await room(call)
      const [item] = await plan(alex, [{ title: 'A long story', description: '😀'.repeat(300) }])
      expect(item).toMatchObject({ description: '😀'.repeat(200), truncated: true })
      await claim(alex, item)
      const done_ = await update(alex, item, { status: 'done', result: 'r'.repeat(2_000), note: 'n'.repeat(1_000) })
      expect([done_.description.length, done_.result.length, done_.note.length, done_.truncated]).toEqual([600, 2_000, 1_000, undefined])
      const [row] = (await done(alex('list_work'))).items
      expect([row.result, row.note, row.truncated]).toEqual(['r'.repeat(200), 'n'.repeat(200), true])
      expect(await itemOf(alex, item)).toEqual(done_)
    })
  })

  describe('claim_work', () => {
    test('gives what is one’s own first, then what no team here owns, by priority and age', async () => {
      const { alex, bea, cleo } = await threeTeams(call)
      await plan(alex, [
        { title: 'Low and old', priority: 'low' },
        'Medium and old',
        { title: 'Of Alex, high', priority: 'high', owner: alex.handle },
        { title: 'Of Bea, low', priority: 'low', owner: bea.handle },
        { title: 'High and young', priority: 'high' },
        { title: 'Of Cleo', priority: 'high', owner: cleo.handle },
      ])
      const got = async (who: typeof bea) => (await claim(who))?.title
      expect([await got(bea), await got(bea), await got(bea), await got(bea), await got(bea)]).toEqual([
        'Of Bea, low',
        'High and young',
        'Medium and old',
        'Low and old',
        undefined,
      ])
      await done(cleo('leave_session'))
      expect([await got(bea), await got(bea), await got(alex), await got(alex)]).toEqual(['Of Cleo', undefined, 'Of Alex, high', undefined])
    })

    test('an item comes with the results of what it builds on; its own again is the same answer', async () => {
      const { alex, bea } = await room(call)
      const [lexer, parser] = await plan(alex, [LEXER, { title: 'Write the parser', depends_on: ['#1'], description: 'd'.repeat(4_000) }])
      expect((await claim(bea)).title).toBe(lexer.title)
      const blocked = await refused(bea('claim_work', { item_id: parser.item_id }), 'conflict')
      expect(blocked.details).toEqual({ blocked_by: [{ item_id: lexer.item_id, title: lexer.title, status: 'claimed' }] })
      expect(await claim(alex)).toBeNull()
      await update(bea, lexer, { status: 'done', result: 'In src/lexer.' })
      const got = await claim(bea)
      expect(got.depends_on).toEqual([{ item_id: lexer.item_id, title: lexer.title, status: 'done', result: 'In src/lexer.' }])
      expect(got.description).toHaveLength(4_000)
      const { claim_expires_at, ...again } = await claim(bea, parser)
      expect(again).toEqual(Object.fromEntries(Object.entries(got).filter(([field]) => field !== 'claim_expires_at')) as any)
      expect(Date.parse(claim_expires_at)).toBeGreaterThanOrEqual(Date.parse(got.claim_expires_at))
    })

    test('what another team holds is refused with its name and until when', async () => {
      const { alex, bea } = await room(call)
      const [item] = await plan(alex, [LEXER])
      const { claim_expires_at, claimed_by } = await claim(bea, item)
      const taken = await refused(alex('claim_work', { item_id: item.item_id }), 'conflict')
      expect(taken.details).toEqual({ claimed_by, claim_expires_at })
      expect(taken.message).toContain("Bea's Team")
      await update(bea, item, { status: 'done' })
      expect((await refused(alex('claim_work', { item_id: item.item_id }), 'conflict')).details).toEqual({ status: 'done', claimed_by })
    })

    test('what overlaps another team’s claim is passed over, refused by name, and taken knowingly', async () => {
      const { alex, bea } = await room(call)
      const [lexer, docs, all] = await plan(alex, [
        { ...LEXER, paths: ['src/lexer', 'README.md'] },
        { title: 'Write the docs', paths: ['docs/**'], priority: 'low' },
        { title: 'Rename it all', paths: ['src', '*.md'] },
      ])
      await claim(bea, lexer)
      expect((await claim(alex)).title).toBe(docs.title)
      expect(await claim(alex)).toBeNull()
      const overlaps = ['src/lexer', 'README.md'].map((path) => ({ item_id: lexer.item_id, path, team_name: bea.team }))
      expect((await refused(alex('claim_work', { item_id: all.item_id }), 'conflict')).details).toEqual({ overlaps })
      expect(await claim(alex, undefined, { allow_overlap: true })).toMatchObject({ title: all.title, status: 'claimed' })
      const [own] = await plan(bea, [{ title: 'More of the lexer', paths: ['src/lexer/a.ts'] }])
      expect((await refused(bea('claim_work', { item_id: own.item_id }), 'conflict')).details.overlaps).toEqual([
        { item_id: all.item_id, path: 'src', team_name: alex.team },
      ])
      await update(alex, all, { status: 'open' })
      expect(await claim(bea, own)).toMatchObject({ status: 'claimed' }) // its own claims overlap as they like
    })
  })

  describe('update_work', () => {
    test('says what came of it, and what that makes ready', async () => {
      const { alex, bea } = await room(call)
      const [lexer] = await plan(alex, [LEXER, { title: 'Write the parser', depends_on: ['#1'] }])
      await claim(bea, lexer)
      const item = await update(bea, lexer, { status: 'done', result: 'In src/lexer.', note: 'Unicode too.' })
      expect(item).toMatchObject({
        status: 'done',
        result: 'In src/lexer.',
        note: 'Unicode too.',
        claim_expires_at: null,
        claimed_by: { team_id: bea.handle },
      })
      expect(await update(bea, lexer, { status: 'done', result: 'In src/lexer.' })).toEqual(item) // a retry
      expect((await done(bea('list_work'))).counts).toEqual({ open: 1, ready: 1, claimed: 0, done: 1, dropped: 0 })
    })

    test('only its holder moves an item, and those who may take it back', async () => {
      const { alex, bea, cleo } = await threeTeams(call)
      const [item] = await plan(bea, [LEXER])
      for (const status of ['done', 'open', 'dropped'] as const) {
        const answer = bea('update_work', { item_id: item.item_id, status })
        if (status === 'open') await done(answer) // it is open
        else if (status === 'done') expect((await refused(answer, 'conflict')).details).toMatchObject({ status: 'open', claimed_by: null })
        else expect((await refused(answer, 'forbidden')).message).toStartWith('Insufficient permissions')
      }
      await claim(cleo, item)
      expect((await refused(bea('update_work', { item_id: item.item_id, status: 'done' }), 'conflict')).details).toMatchObject({
        status: 'claimed',
        claimed_by: { team_id: cleo.handle, team_name: cleo.team },
        claim_expires_at: expect.any(String),
      })
      await refused(bea('update_work', { item_id: item.item_id, status: 'open' }), 'forbidden')
      expect(await update(alex, item, { status: 'open' })).toMatchObject({ status: 'open', claimed_by: null })
      await claim(bea, item)
      expect(await update(bea, item, { status: 'dropped', note: 'Not needed.' })).toMatchObject({ status: 'dropped', claimed_by: null })
      await refused(alex('update_work', { item_id: item.item_id, status: 'done' }), 'conflict')
      expect(await update(alex, item, { status: 'open' })).toMatchObject({ status: 'open', ready: true })
      expect(await update(alex, item, { status: 'done' })).toMatchObject({ status: 'done', claimed_by: { team_id: alex.handle } })
    })

    test('a planner drops its own item, though it waits for another, by the way that each refusal says', async () => {
      const { bea } = await threeTeams(call)
      const [, wrong] = await plan(bea, [LEXER, { title: 'Write the docs twice', depends_on: ['#1'] }])
      const { item_id } = wrong
      expect((await refused(bea('update_work', { item_id, status: 'dropped' }), 'forbidden')).message).toContain('claim_work it first')
      expect((await refused(bea('claim_work', { item_id }), 'conflict')).message).toContain('depends_on by update_work')
      expect(await update(bea, wrong, { depends_on: [] })).toMatchObject({ ready: true })
      await claim(bea, wrong)
      expect(await update(bea, wrong, { status: 'dropped' })).toMatchObject({ status: 'dropped' })
    })

    test('its holder and its planner say what it is; others may not', async () => {
      const { bea, cleo, alex } = await threeTeams(call)
      const [item, other] = await plan(bea, [LEXER, 'Another item'])
      const edits = {
        title: 'Write the tokenizer',
        description: 'Tokens.',
        priority: 'high',
        depends_on: [other.item_id],
        paths: ['src'],
        owner: cleo.team,
      }
      expect((await refused(cleo('update_work', { item_id: item.item_id, title: 'Mine now' }), 'forbidden')).message).toContain('holder')
      expect(await update(bea, item, edits)).toMatchObject({
        ...edits,
        owner: { name: cleo.team },
        depends_on: [{ item_id: other.item_id, result: null }],
      })
      expect(await update(bea, item, { owner: '', depends_on: [], paths: [], description: '', note: 'x' })).toMatchObject({
        owner: null,
        depends_on: [],
        paths: [],
        description: '',
        note: 'x',
      })
      await claim(cleo, item)
      expect(await update(cleo, item, { note: '', result: 'half of it' })).toMatchObject({
        note: null,
        result: 'half of it',
        status: 'claimed',
      })
      expect(await update(alex, item, { note: 'hurry' })).toMatchObject({ note: 'hurry' }) // the convener
    })

    test.each([
      ['nothing', {}, 'Send at least one'],
      ['an unknown status', { status: 'claimed' }, 'status'],
      ['a note of 1,001', { note: 'x'.repeat(1_001) }, 'note'],
      ['a result of 2,001', { result: 'x'.repeat(2_001) }, 'result'],
      ['an unknown owner', { owner: 'Dana' }, 'Owner not found'],
      ['a place of the call that made it', { depends_on: ['#1'] }, 'plan_work'],
      ['a path upwards', { paths: ['a/../../b'] }, 'no ..'],
    ])('%s is refused', async (_, changes, says) => {
      const { alex } = await room(call)
      const [item] = await plan(alex, [LEXER])
      expect((await refused(alex('update_work', { item_id: item.item_id, ...changes }), 'invalid_request')).message).toContain(says)
      expect(await itemOf(alex, item)).toMatchObject({ title: LEXER.title, note: null, paths: [] })
    })

    test('no edit makes an item wait for itself, and none widens a live claim over another team’s', async () => {
      const { alex, bea } = await room(call)
      const [a, b, c] = await plan(alex, [
        'Item number a',
        { title: 'Item number b', depends_on: ['#1'] },
        { title: 'Item number c', depends_on: ['#2'] },
      ])
      for (const depends_on of [[a.item_id], [c.item_id]])
        expect((await refused(alex('update_work', { item_id: a.item_id, depends_on }), 'invalid_request')).details.field).toBe('depends_on')
      const [mine] = await plan(bea, [{ title: 'Keep off src', paths: ['src'] }], { claim: true })
      await claim(alex, a)
      expect((await refused(alex('update_work', { item_id: a.item_id, paths: ['src/x'] }), 'conflict')).details.overlaps).toEqual([
        { item_id: mine.item_id, path: 'src', team_name: bea.team },
      ])
      expect(await update(alex, a, { paths: ['docs'] })).toMatchObject({ paths: ['docs'] })
      expect(b.item_id).not.toBe(c.item_id)
    })
  })

  test('an overlap that was taken knowingly allows no other, and stands in nobody’s way', async () => {
    const { alex, bea } = await room(call)
    const [pa, pc] = await plan(alex, ['pa', 'pc'].map((path) => ({ title: `Work in ${path}`, paths: [path] })), { claim: true }) // prettier-ignore
    const [both] = await plan(bea, [{ title: 'Work in both', paths: ['pa'] }])
    await claim(bea, both, { allow_overlap: true })
    const wider = bea('update_work', { item_id: both.item_id, paths: ['pa', 'pc/x.ts'] })
    const { message, details } = await refused(wider, 'conflict')
    expect(details.overlaps).toEqual([{ item_id: pc.item_id, path: 'pc', team_name: alex.team }])
    expect(message).toContain('plan it as an item of its own')
    expect(await update(bea, both, { paths: ['pa/a.ts', 'pb'] })).toMatchObject({ paths: ['pa/a.ts', 'pb'] })
    expect(await update(alex, pa, { paths: ['pa/**', 'docs'] })).toMatchObject({ paths: ['pa/**', 'docs'] })
  })

  test('more paths than can be compared count as overlapping where nothing plain parts them, and the refusal says so', async () => {
    const { alex, bea } = await room(call)
    const slow = (end: string) =>
      Array.from({ length: 50 }, (_, i) => ({
        title: `Item ${i} that ends in ${end}`,
        paths: Array.from({ length: 20 }, (__, n) => `*a*a*a*a*a*${'a'.repeat(40)}${1_000 * (i + 10) + n}${end}`),
      }))
    const [first] = await plan(alex, slow('b'), { claim: true })
    const { message, details } = await refused(bea('plan_work', { items: slow('c'), claim: true }), 'conflict')
    expect(message).toContain(`${alex.team} holds`)
    expect(message).toContain('too many paths with * to compare them all')
    expect(details.overlaps[0]).toEqual({ item_id: first.item_id, path: expect.any(String), team_name: alex.team })
    const [plain] = await plan(bea, [{ title: 'Something plain', paths: ['docs/a.md'] }], { claim: true })
    expect(plain).toMatchObject({ status: 'claimed' })
  })

  test('in a concluded session the board is read, and nothing moves; reopened, it goes on', async () => {
    const { alex, bea } = await room(call)
    const [item] = await plan(alex, [LEXER])
    await claim(bea, item)
    await done(alex('conclude_session', { summary_section: 'Enough.' }))
    expect((await itemOf(bea, item)).claimed_by.team_id).toBe(bea.handle)
    await refused(bea('update_work', { item_id: item.item_id, status: 'done' }), 'session_closed')
    await refused(bea('claim_work'), 'session_closed')
    await refused(bea('plan_work', { items: [LEXER] }), 'session_closed')
    await done(alex('reopen_session', { reason: 'more' }))
    expect(await update(bea, item, { status: 'done' })).toMatchObject({ status: 'done' })
  })

  test('a repeated key gives the same answer and does nothing again', async () => {
    const { alex, bea } = await room(call)
    const key = crypto.randomUUID()
    const planned = await done(alex('plan_work', { items: [LEXER, { title: 'Another item' }] }, { key }))
    expect(await done(alex('plan_work', { items: [LEXER, { title: 'Another item' }] }, { key }))).toEqual(planned)
    const got = await done(bea('claim_work', {}, { key }))
    expect(await done(bea('claim_work', {}, { key }))).toEqual(got)
    expect((await done(bea('list_work'))).counts).toEqual({ open: 1, ready: 1, claimed: 1, done: 0, dropped: 0 })
    await refused(bea('claim_work', { item_id: got.item.item_id }, { key }), 'idempotency_mismatch')
  })

  test('a team of another session is nobody here', async () => {
    const [here, there] = [await room(call), await room(call)]
    const [item] = await plan(here.alex, [LEXER])
    const stranger = { session_id: here.id }
    for (const [name, input] of [
      ['plan_work', { items: [LEXER] }],
      ['claim_work', {}],
      ['update_work', { item_id: item.item_id, note: 'x' }],
    ] as const)
      await refused(call(name, { ...stranger, ...input }, { team: there.alex.token }), 'unauthorized')
  })
})
