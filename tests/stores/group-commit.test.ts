import { describe, expect, spyOn, test } from 'bun:test'
import { ANSWER_WITHIN_MS } from '../../db/database.ts'
import { BatchWriter } from '../../src/log/batch-writer.ts'
import { GroupCommit } from '../../src/log/group-commit.ts'
import type { Appended, Draft } from '../../src/log/append.ts'
import { holdLock } from '../support/held-lock.ts'
import { signInIdOf } from '../support/keys.ts'
import {
  chat,
  NEVER_MS,
  cookieOf,
  done,
  onEveryEngine,
  refused,
  room,
  say,
  seat,
  soon,
  startParley,
  viaRest,
  type Seat,
} from '../support/parley.ts'

onEveryEngine((parley, engine) => {
  const places = async (id: string) =>
    (
      await parley().database.query<{ sequence: number; turn: number; ordinal: number; author: string; author_name: string; text: string }>(
        `select sequence, turn, ordinal, author, author_name, content->>'text' as text from events
         where session_id = $1 and type <> 'system' order by sequence`,
        [id],
      )
    ).map(({ sequence, turn, ordinal, author, author_name, text }) => [sequence, turn, ordinal, author, author_name, text])

  /** Another process on the same database, as far as appending goes: it hears of nothing. */
  const elsewhere = () => new GroupCommit(parley().database, () => {})
  const sequenceOf = (answer: Appended) => (answer.outcome === 'appended' ? answer.event.sequence : answer.outcome)

  describe('optimistic appends', () => {
    test('are numbered, and open turns, as checked ones are', async () => {
      const call = viaRest(parley())
      const [optimistic, checked] = [await room(call), await room(call)]
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const script = async ({ id, alex, bea }: typeof optimistic, key?: (n: number) => string) => {
        const as = (n: number) => (key ? { key: key(n) } : {})
        await done(alex('post_message', { content: 'a1' }, as(1)))
        await done(alex('post_message', { content: 'a2' }, as(2)))
        await done(bea('post_message', { content: 'b1' }, as(3)))
        await done(call('post_message', { session_id: id, content: 'p1' }, { person, ...as(4) }))
        await done(call('post_message', { session_id: id, content: 'p2' }, { person, ...as(5) }))
        await done(bea('post_message', { content: 'b2' }, as(6)))
        await done(bea('post_message', { content: 'b3' }, as(7)))
      }
      await script(optimistic)
      await script(checked, (n) => `key-${n}`) // with an idempotency key, the database checks each post
      expect(await places(optimistic.id)).toEqual(await places(checked.id))
      expect((await places(optimistic.id)).map(([sequence, turn, ordinal]) => [sequence, turn, ordinal])).toEqual([
        [2, 1, 2],
        [3, 1, 3],
        [4, 2, 1],
        [5, 3, 1],
        [6, 3, 2],
        [7, 4, 1],
        [8, 4, 2],
      ])
    })

    test('many at once, of several sessions and authors, leave no gap', async () => {
      const call = viaRest(parley())
      const rooms = await Promise.all([1, 2, 3, 4].map(() => room(call)))
      for (const { alex, bea } of rooms) await Promise.all([say(alex, 'first'), say(bea, 'first')])
      const posts = rooms.flatMap(({ alex, bea }) => Array.from({ length: 25 }, (_, n) => [n % 3 ? alex : bea, `${n}`] as const))
      await Promise.all(posts.map(([team, text]) => say(team, text)))
      for (const { id } of rooms) {
        const rows = await places(id)
        expect(rows.map(([sequence]) => sequence)).toEqual(Array.from({ length: 27 }, (_, n) => n + 2))
        let before: (string | number)[] | undefined
        for (const row of rows) {
          const opens = before?.[4] !== row[4]
          if (before) expect([row[1], row[2]]).toEqual(opens ? [Number(before[1]) + 1, 1] : [before[1]!, Number(before[2]) + 1])
          before = row
        }
      }
    })

    test('an answer and an addressee go along', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const { message_id } = await say(alex, 'one')
      const other = elsewhere()
      await other.post(chat(id, bea.handle, 'two'))
      await Promise.all([
        other.post(chat(id, bea.handle, 'three', { replyTo: message_id, to: [alex.handle, bea.handle], expectsReply: true })),
        other.post(chat(id, bea.handle, 'four "quoted" \\ {}')),
      ])
      const { messages } = await done(alex('wait_for_messages', { since_cursor: 3, timeout: 0 }))
      expect(messages).toMatchObject([
        { content: { text: 'three' }, reply_to: message_id, to: [alex.handle, bea.handle], expects_reply: true },
        { content: { text: 'four "quoted" \\ {}' } },
      ])
    })

    test('one that comes alone is stored as one that comes with others, of its session or of any', async () => {
      const call = viaRest(parley())
      const [one, another] = [await room(call), await room(call)]
      const { message_id } = await say(one.alex, 'one')
      const text = `it's "quoted" \\ \\u0041 {} [] null, $1 ${String.fromCodePoint(0x1f99c)} \u200f`
      const post = () => chat(one.id, one.bea.handle, text, { replyTo: message_id, to: [one.alex.handle, one.bea.handle] })
      const person = () => ({
        ...chat(one.id, '', text, { author: 'person', authorName: 'Robin "R"' }),
        teamId: undefined,
        holder: 'person:Robin',
      })
      const other = elsewhere()
      const learn = () =>
        Promise.all([other.post(chat(one.id, one.bea.handle, 'mine')), other.post(chat(another.id, another.bea.handle, 'mine'))])
      await learn()
      const batches = [[post()], [person()], [post(), person()], [post(), chat(another.id, another.bea.handle, 'beside'), person()]]
      for (const drafts of batches) {
        const { batches: before } = other
        await Promise.all(drafts.map((draft) => other.post(draft)))
        expect(other.batches).toBe(before + 1)
      }
      const rows = await parley().database.query<Record<string, unknown>>(
        `select author, author_name, type, posted_by_team_id, content, size, reply_to, to_team_ids::text from events
         where session_id = $1 and content->>'text' = $2 order by sequence`,
        [one.id, text],
      )
      const size = Buffer.byteLength(JSON.stringify({ text }))
      const same = { type: 'chat', content: { text }, size }
      const byTeam = { ...same, author: 'team', posted_by_team_id: one.bea.handle, reply_to: message_id }
      const byPerson = { ...same, author: 'person', author_name: 'Robin "R"', posted_by_team_id: null, reply_to: null, to_team_ids: null }
      expect(rows).toMatchObject([byTeam, byPerson, byTeam, byPerson, byTeam, byPerson])
      expect(rows[0]!.to_team_ids).toBe(`{${one.alex.handle},${one.bea.handle}}`)
      for (const row of [rows[2], rows[4]]) expect(row).toEqual(rows[0]!)
    })

    test('a head that another process has moved is noticed: no post is lost, doubled or numbered wrongly', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const other = elsewhere()
      const numbers: unknown[] = []
      for (let n = 0; n < 6; n++) {
        numbers.push((await say(alex, `here ${n}`)).cursor)
        numbers.push(sequenceOf(await other.post(chat(id, bea.handle, `there ${n}`))))
      }
      expect(numbers).toEqual(Array.from({ length: 12 }, (_, n) => n + 2))
      expect((await places(id)).map(([, turn, ordinal]) => [turn, ordinal])).toEqual(
        Array.from({ length: 12 }, (_, n) => (n === 0 ? [1, 2] : [n + 1, 1])),
      )
    })

    test.each([
      ['appended optimistically', 1],
      ['checked', 0],
    ])('a fault of ours behind the commit of a post that is %s does not write it again', async (_, before) => {
      const { id, bea } = await room(viaRest(parley()))
      const { database } = parley()
      let faulty = false
      const query: typeof database.query = async (text, params) => {
        const rows = await database.query<never>(text, params)
        if (faulty) throw new TypeError('The answer cannot be read.')
        return rows
      }
      const groupCommit = new GroupCommit({ ...database, query }, () => {})
      for (let n = 0; n < before; n++) await groupCommit.post(chat(id, bea.handle, `before ${n}`))
      faulty = true
      await expect(groupCommit.post(chat(id, bea.handle, 'once'))).rejects.toThrow(TypeError)
      faulty = false
      await groupCommit.post(chat(id, bea.handle, 'after'))
      expect((await places(id)).map((place) => place[5]).slice(before)).toEqual(['once', 'after'])
    })

    test('two processes at once in one session', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const other = elsewhere()
      const answers = await Promise.all([
        ...Array.from({ length: 40 }, (_, n) => say(alex, `${n}`).then(({ cursor }) => cursor as number)),
        ...Array.from({ length: 40 }, (_, n) => other.post(chat(id, bea.handle, `${n}`)).then(sequenceOf)),
      ])
      expect(answers.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, n) => n + 2))
      const rows = (await places(id)).map(([, turn, ordinal]) => Number(turn) * 1_000 + Number(ordinal))
      expect(rows).toEqual(rows.toSorted((a, b) => a - b))
      expect(new Set(rows).size).toBe(80)
    })

    test('a team that has left through another instance does not post, nor does anybody to a session that was closed there', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const other = await parley().beside({})
      const there = (team: typeof alex) =>
        seat(viaRest(other), { session_id: id, team_id: team.token, handle: team.handle, team_name: team.team, cursor: 1 })
      await say(alex, 'one')
      await say(bea, 'two')
      await done(there(bea)('leave_session'))
      await refused(bea('post_message', { content: 'three' }), 'unauthorized')
      await done(there(alex)('conclude_session', { summary_section: 'end' }))
      await refused(alex('post_message', { content: 'four' }), 'session_closed')
      expect((await places(id)).map(([, , , , , text]) => text)).toEqual(['one', 'two'])
      await other.close()
    })
  })

  if (engine === 'postgres') {
    /** Holds the sessions' locks until it is told otherwise. */
    const lockOf = (...ids: string[]) =>
      // As posts lock a session: what only refers to it, as the index does in the background, does not wait.
      holdLock(parley().database, `select 1 from sessions where id = any('{${ids.join()}}'::uuid[]) for no key update`)
    const waitingForLocks = async () =>
      (
        await parley().database.query<{ n: number }>(
          `select count(*)::int as n from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`, // other tests wait too
        )
      )[0]!.n

    test.each([
      ['without a key', {}],
      ['with one', { key: 'another-key-for-this' }],
    ])('a post of a team that is leaving is refused, or comes before the event that it left (%s)', async (_, as) => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const before = await waitingForLocks()
      const release = await lockOf(id)
      const leaving = bea('leave_session')
      await soon('leaving waits', async () => (await waitingForLocks()) > before)
      const posting = bea('post_message', { content: 'too late' }, as)
      await soon('the post waits too', async () => (await waitingForLocks()) > before + 1)
      await release()
      await done(leaving)
      await refused(posting, 'unauthorized')
      await say(alex, 'still here')
      expect((await places(id)).map(([, , , , , text]) => text)).toEqual(['still here'])
    })

    test('a retry through another instance, while others post, takes no event from whoever waits', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      const second = await parley().beside({})
      const other = viaRest(second)
      let over = false
      const others = (async () => {
        for (let n = 0; !over; n++) await done(other('post_message', { session_id: id, content: `there ${n}` }, { team: alex.token }))
      })()
      for (let round = 0; round < 15; round++) {
        const post = (call: typeof other, n: number) =>
          call('post_message', { session_id: id, content: `${round}.${n}` }, { team: bea.token, key: `round-${round}-${n}` })
        const here = viaRest(parley())
        await Promise.all([0, 1, 2, 3].map((n) => post(here, n).then(() => {})).concat(post(other, 0).then(() => {})))
        const { messages, next_cursor } = await done(alex('wait_for_messages', { since_cursor: 1, timeout: 0 }))
        expect(messages.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
          Array.from({ length: next_cursor - 1 }, (_, n) => n + 2),
        )
      }
      over = true
      await others
      await second.close()
    }, 180_000)

    test('a wait that begins behind what another waiter has read is answered at once, even without a notification', async () => {
      const unswept = await parley().beside({}, {}, { intervals: { sweep: NEVER_MS } })
      const { id, alex, bea } = await room(viaRest(unswept))
      const { cursor } = await say(bea, 'one')
      await done(alex('wait_for_messages', { since_cursor: cursor, timeout: 0 })) // who Alex is, and where the log ends, is known now
      await elsewhere().post(chat(id, bea.handle, 'two')) // as by an instance that ended right after its commit
      await done(bea('wait_for_messages', { since_cursor: cursor, timeout: 0 })) // who was not known is looked up, with the end as it is
      const waiting = bea('wait_for_messages', { since_cursor: cursor + 1, timeout: 25 })
      await soon('it waits', () => unswept.services.waits.held === 1)
      expect((await done(alex('wait_for_messages', { since_cursor: cursor, timeout: 10 }))).messages).toHaveLength(1)
      await say(alex, 'three')
      await done(waiting)
      await unswept.close()
    })

    test('an event without a notification is found by those who wait, and then by a search too', async () => {
      const call = viaRest(parley())
      const { id, alex, bea } = await room(call)
      const waiting = alex('wait_for_messages', { since_cursor: 1, timeout: 25 })
      await soon('it waits', () => parley().services.waits.held === 1)
      const word = `word${crypto.randomUUID().replaceAll('-', '')}`
      await elsewhere().post(chat(id, bea.handle, word))
      expect((await done(waiting)).messages).toHaveLength(1)
      await soon('it is found', async () => (await done(call('history.search_sessions', { query: word }))).data.result_count === 1)
    })

    if (engine === 'postgres')
      test('after the database was replaced by an older copy, events that it lost are not served any more', async () => {
        const { database } = parley()
        const { id, alex, bea } = await room(viaRest(parley()))
        await say(bea, 'one')
        const { cursor } = await say(bea, 'lost')
        await done(alex('wait_for_messages', { since_cursor: cursor - 1, timeout: 0 }))
        await database.query('delete from events where session_id = $1 and sequence = $2', [id, cursor])
        await database.query('update sessions set last_sequence = $2, last_conversation_sequence = $2 where id = $1', [id, cursor - 1])
        const listeners = () =>
          database.query<{ pid: number }>(`select pid from pg_stat_activity where datname = current_database() and query ilike 'listen%'`)
        const before = await listeners()
        await database.query('select pg_terminate_backend($1)', [before[0]!.pid])
        await soon('it listens again', async () => (await listeners()).some(({ pid }) => pid !== before[0]!.pid))
        const served = async () => (await done(alex('wait_for_messages', { since_cursor: cursor - 1, timeout: 0 }))).messages
        await soon('what was lost is served no more', async () => (await served()).length === 0)
        await elsewhere().post(chat(id, bea.handle, 'written instead'))
        const instead = { sequence: cursor, content: { text: 'written instead' } }
        const { messages } = await done(alex('wait_for_messages', { timeout: 0 })) // it was delivered as far before
        expect(messages.at(-1)).toMatchObject(instead)
        expect(await served()).toMatchObject([instead])
      })

    test.each([
      ['one session', 1, {}],
      ['more sessions than there are places for', 10, {}],
      ['sessions that get posts with keys', 3, { key: 'a-key-of-its-own-for-each-' }],
    ])('%s that somebody holds locked: not one post to another waits for it', async (_, count, as: { key?: string }) => {
      const call = viaRest(parley())
      const held = await Promise.all(Array.from({ length: count }, () => room(call)))
      const free = await Promise.all([room(call), room(call)])
      const post = (team: Seat, text: string) => done(team('post_message', { content: text }, as.key ? { key: `${as.key}${text}` } : {}))
      for (const { alex } of [...held, ...free]) await post(alex, 'one')
      const release = await lockOf(...held.map(({ id }) => id))
      let passed = 0
      const waiting: Promise<unknown>[] = []
      let slowest = 0
      for (let n = 0; n < 12; n++) {
        // Always in one batch with those that are held.
        if (n < 6) for (const { alex, bea } of held) for (const team of [alex, bea]) waiting.push(post(team, `${n}`).then(() => passed++))
        const began = performance.now()
        await Promise.all(free.flatMap(({ alex, bea }) => [post(alex, `${n}`), post(bea, `${n}`)]))
        slowest = Math.max(slowest, performance.now() - began)
      }
      expect(passed).toBe(0)
      await release()
      await Promise.all(waiting)
      for (const { id } of held)
        expect((await places(id)).map(([sequence]) => sequence)).toEqual(Array.from({ length: 13 }, (_, n) => n + 2))
      for (const { id } of free) expect(await places(id)).toHaveLength(25)
      expect(slowest).toBeLessThan(15_000) // else it takes until the locks are released: until the request gives up
    })

    test('of a batch with a post that cannot be stored, those of a held session alone are held: the others go on together', async () => {
      const call = viaRest(parley())
      const [held, free] = [await room(call), await room(call)]
      const release = await lockOf(held.id)
      const drafts = [
        chat(held.id, held.alex.handle, 'a'),
        chat(held.id, held.bea.handle, 'b'),
        chat(free.id, free.alex.handle, 'c'),
        chat(free.id, 'no uuid', 'd'),
      ]
      const posts = drafts.map((draft) => ({ draft, since: performance.now() }))
      const outcomes = await new BatchWriter(parley().database).shared(posts)
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(['held', 'held', 'again', 'again'])
      await release()
    })

    test('a post whose sign-in somebody holds goes alone: others are not sent again and again with it', async () => {
      const call = viaRest(parley())
      const [own, free] = [await room(call), await room(call)]
      const signIn = signInIdOf(await cookieOf(parley(), { name: 'Robin', role: 'person' }))
      const groupCommit = elsewhere()
      const robin: Partial<Draft> = {
        author: 'person',
        authorName: 'Robin',
        teamId: undefined,
        holder: 'person:Robin',
        credentialId: signIn,
      }
      const release = await holdLock(parley().database, `select 1 from sign_ins where id = '${signIn}' for update`)
      const posted = [
        groupCommit.post(chat(own.id, own.alex.handle, 'late', robin)),
        groupCommit.post(chat(free.id, free.alex.handle, 'free')),
      ]
      await posted[1]
      await Bun.sleep(500)
      const { batches } = groupCommit
      await release()
      expect((await posted[0]!).outcome).toBe('appended')
      expect(batches).toBeLessThan(5)
    })

    test('however many writes wait for a session that somebody holds, others find a free connection', async () => {
      const call = viaRest(parley())
      const [held, free] = [await room(call), await room(call)]
      const release = await lockOf(held.id)
      const waiting = Promise.all(
        Array.from({ length: 40 }, (_, n) => done(held.alex('append_to_session_doc', { text: `${n}` })).then(({ version }) => version)),
      )
      await done(free.alex('append_to_session_doc', { text: 'here' }))
      await done(free.bea('leave_session'))
      await done(call('join_session', { session_id: free.id, team_name: 'Cleo' }))
      await release() // only now: the others did not wait for it

      expect((await waiting).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
    })

    test('an instance that is alone notifies nobody; one that comes is notified from then on', async () => {
      const alone = await startParley({ engine, intervals: { sweep: engine === 'postgres' ? NEVER_MS : 50 } })
      try {
        const { id, alex, bea } = await room(viaRest(alone))
        await soon('nobody has answered its hello', async () => {
          await alone.services.indexer.run()
          const before = alone.database.statements()
          await say(alex, 'anybody?')
          return alone.database.statements() - before === 1
        })
        const other = await alone.beside({})
        const there = seat(viaRest(other), { session_id: id, team_id: bea.token, handle: bea.handle, team_name: bea.team, cursor: 1 })
        const { next_cursor } = await done(there('wait_for_messages', { since_cursor: 1, timeout: 0 }))
        for (let n = 0; n < 3; n++) {
          const waiting = there('wait_for_messages', { since_cursor: next_cursor + n, timeout: 20 })
          await soon('it waits', () => other.services.waits.held === 1)
          await say(alex, `${n}`)
          expect((await done(waiting)).messages).toMatchObject([{ content: { text: `${n}` } }])
        }
      } finally {
        await alone.close()
      }
    }, 180_000)
  }
})

test('a team that has left elsewhere does not post by a cached head, also after others’ posts with idempotency keys', async () => {
  const parley = await startParley()
  try {
    const { id, alex, bea } = await room(viaRest(parley))
    const groupCommit = new GroupCommit(parley.database, () => {}) // hears of nothing that is not its own
    const post = (team: Seat, text: string, more: Partial<Draft> = {}) =>
      groupCommit.post(chat(id, team.handle, text, more)).then(sequenceOrFailure)
    expect([await post(alex, 'a1'), await post(bea, 'b1'), await post(alex, 'a2')]).toEqual([2, 3, 4])
    await done(bea('leave_session'))
    const idempotency = { caller: alex.handle, keyHash: 'hash', operation: 'post_message', bodyHash: 'body' }
    expect([await post(alex, 'a3', { idempotency }), await post(bea, 'b2')]).toEqual([6, 'unauthorized'])
  } finally {
    await parley.close()
  }
}, 180_000)

test('a post that was queued until its caller was told of a time-out is never written', async () => {
  const parley = await startParley()
  const now = performance.now.bind(performance)
  const clock = spyOn(performance, 'now')
  try {
    const { id, alex } = await room(viaRest(parley))
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let first = true
    const slowOnce: typeof parley.database = {
      ...parley.database,
      query: async (text, params) => {
        if (first) {
          first = false
          await held
        }
        return parley.database.query(text, params)
      },
    }
    const groupCommit = new GroupCommit(slowOnce, () => {})
    const post = (text: string) => groupCommit.post(chat(id, alex.handle, text)).then(sequenceOrFailure, sequenceOrFailure)
    const one = post('one')
    await Bun.sleep(1) // it is being written
    const [two, three] = [post('two'), post('three')]
    clock.mockImplementation(() => now() + ANSWER_WITHIN_MS + 100)
    const late = post('four')
    release()
    expect(await Promise.all([one, two, three, late])).toEqual([2, 'DatabaseTimeout', 'DatabaseTimeout', 3])
    const rows = await parley.database.query<{ text: string }>(
      "select content->>'text' as text from events where session_id = $1 and type = 'chat' order by sequence",
      [id],
    )
    expect(rows.map(({ text }) => text)).toEqual(['one', 'four'])
  } finally {
    clock.mockRestore()
    await parley.close()
  }
}, 180_000)

const sequenceOrFailure = (settled: Appended | Error) =>
  settled instanceof Error ? settled.name : settled.outcome === 'appended' ? settled.event.sequence : settled.outcome
