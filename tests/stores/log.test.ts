import { describe, expect, test } from 'bun:test'
import { appendEvents, type Appended, type Draft } from '../../src/log/append.ts'
import { parseToken, uuid7 } from '../../src/core/ids.ts'
import { chat, NEVER_MS, cookieOf, done, onEveryEngine, room, say, seat, soon, viaRest } from '../support/parley.ts'

interface Row {
  sequence: number
  turn: number
  ordinal: number
  type: string
  at: string
}

onEveryEngine((parley, engine) => {
  const rowsOf = (id: string) =>
    parley().database.query<Row>('select sequence, turn, ordinal, type, at from events where session_id = $1 order by sequence', [id])
  const places = async (id: string) => (await rowsOf(id)).map(({ type, turn, ordinal }) => [type, turn, ordinal])
  /** Until each draft is decided, as the group commit does it: a draft whose session moved meanwhile is appended again. */
  const append = async (drafts: Draft[]): Promise<Appended[]> => {
    const answers = await appendEvents(parley().database, drafts)
    return Promise.all(answers.map(async (answer, i) => answer ?? (await append([drafts[i]!]))[0]!))
  }
  const prompt = (sessionId: string, name: string, text: string): Draft => ({
    sessionId,
    type: 'user_input',
    author: 'person',
    authorName: name,
    holder: `person:${name}`,
    content: { text },
  })

  describe('turns and ordinals', () => {
    test('a turn opens with each prompt and with each chat of another author, and system events fall into the open turn', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await say(alex, 'a1')
      await say(alex, 'a2')
      await say(bea, 'b1')
      await done(viaRest(parley())('join_session', { session_id: id, team_name: 'Cleo' }))
      await say(bea, 'b2')
      await say(alex, 'a3')
      await append([prompt(id, 'Robin', 'do this')])
      await append([prompt(id, 'Robin', 'and this')])
      await say(alex, 'a4')
      await done(alex('conclude_session', { summary_section: 'end' }))
      expect(await places(id)).toEqual([
        ['system', 1, 1],
        ['chat', 1, 2],
        ['chat', 1, 3],
        ['chat', 2, 1],
        ['system', 2, 2],
        ['chat', 2, 3],
        ['chat', 3, 1],
        ['user_input', 4, 1],
        ['user_input', 5, 1],
        ['chat', 6, 1],
        ['system', 6, 2],
      ])
    })

    test('one batch of several authors is numbered as if each had come alone', async () => {
      const call = viaRest(parley())
      const one = await room(call)
      const other = await room(call)
      const script = (id: string, a: string, b: string): Draft[] => [
        chat(id, a, '1'),
        chat(id, a, '2'),
        chat(id, b, '3'),
        prompt(id, 'Robin', '4'),
        chat(id, b, '5'),
        chat(id, b, '6'),
        chat(id, a, '7'),
      ]
      await append(script(one.id, one.alex.handle, one.bea.handle))
      for (const draft of script(other.id, other.alex.handle, other.bea.handle)) await append([draft])
      expect(await places(one.id)).toEqual(await places(other.id))
    })

    test('a batch of several sessions gives each its own numbers', async () => {
      const call = viaRest(parley())
      const rooms = await Promise.all([1, 2, 3].map(() => room(call)))
      const drafts = [0, 1, 2, 3].flatMap((n) => rooms.map(({ id, alex }) => chat(id, alex.handle, `${n}`)))
      const answers = await append(drafts)
      expect(answers.map((answer) => answer.outcome === 'appended' && answer.event.sequence)).toEqual([2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5])
      for (const { id } of rooms) expect((await rowsOf(id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
    })

    test('the turn of a person is another’s than that of a team', async () => {
      const call = viaRest(parley())
      const { id, alex } = await room(call)
      const person = await cookieOf(parley(), { name: "Alex's Team", role: 'person' })
      await say(alex, 'one')
      await done(call('post_message', { session_id: id, content: 'two' }, { person }))
      await done(call('post_message', { session_id: id, content: 'three' }, { person }))
      expect(await places(id)).toEqual([
        ['system', 1, 1],
        ['chat', 1, 2],
        ['chat', 2, 1],
        ['chat', 2, 2],
      ])
    })

    test('a system event is no author: who held the turn before it holds it after it', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      await done(bea('update_session_metadata', { title: 'New', reason: 'r' }))
      await say(alex, 'two')
      expect((await places(id)).map(([, turn]) => turn)).toEqual([1, 1, 1, 1])
    })

    test('the session’s counters say where its log stands', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      await say(bea, 'two')
      const [row] = await parley().database.query(
        'select last_sequence, last_conversation_sequence, turn, turn_holder, turn_events from sessions where id = $1',
        [id],
      )
      expect(row).toEqual({ last_sequence: 3, last_conversation_sequence: 3, turn: 2, turn_holder: bea.handle, turn_events: 1 })
    })
  })

  describe('appending', () => {
    test('20 posts at once get 20 numbers, and at never runs against sequence', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await Promise.all(Array.from({ length: 20 }, (_, n) => say(n % 2 ? alex : bea, `${n}`)))
      const rows = await rowsOf(id)
      expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1))
      expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted())
      const places = rows.map(({ turn, ordinal }) => turn * 1_000 + ordinal)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
      expect(new Set(places).size).toBe(21)
    })

    test('20 writers beside the group commit leave no gap either', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? append([chat(id, alex.handle, `${n}`)]) : say(bea, `${n}`))))
      const rows = await rowsOf(id)
      expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1))
      expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted())
    })

    test('at never runs against sequence though the clock was set back', async () => {
      const { id, alex } = await room(viaRest(parley()))
      await parley().database.query(`update sessions set last_event_at = now() + interval '1 hour' where id = $1`, [id])
      await say(alex, 'one')
      await parley().database.query(`update sessions set last_event_at = last_event_at where id = $1`, [id])
      await say(alex, 'two')
      const [, one, two] = await rowsOf(id)
      expect(Date.parse(one!.at)).toBeGreaterThan(Date.now() + 3_500_000)
      expect(two!.at >= one!.at).toBe(true)
    })

    test('a draft that may not be written leaves no number unused', async () => {
      const call = viaRest(parley())
      const { id, alex, bea } = await room(call)
      const closed = await room(call)
      await done(closed.alex('conclude_session', { summary_section: 'end' }))
      await done(bea('leave_session'))
      const answers = await append([
        chat(id, alex.handle, 'one'),
        chat(id, bea.handle, 'left'),
        chat(id, uuid7(), 'stranger'),
        chat(uuid7(), alex.handle, 'nowhere'),
        chat(closed.id, closed.alex.handle, 'closed'),
        chat(id, alex.handle, 'two'),
      ])
      expect(answers.map(({ outcome }) => outcome)).toEqual([
        'appended',
        'unauthorized',
        'unauthorized',
        'unauthorized',
        'closed',
        'appended',
      ])
      expect((await rowsOf(id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
      expect(await rowsOf(closed.id)).toHaveLength(1 + 1)
    })

    test('what an append answers is what the log holds', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const [answer] = await append([chat(id, alex.handle, 'x', { to: [alex.handle] })])
      expect(answer!.outcome).toBe('appended')
      const { messages } = await done(alex('wait_for_messages', { since_cursor: 1, timeout: 0 }))
      expect(messages).toEqual([(answer as any).event])
    })

    test('texts with quotes, backslashes and every script come back as they were', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const text = `it's "quoted" \\ \\u0041 {} [] null $1 ; drop table events; -- ${String.fromCodePoint(0x1f99c)} \u200f`
      await append([chat(id, alex.handle, text)])
      const [row] = await parley().database.query<{ text: string; size: number }>(
        `select content->>'text' as text, size from events where session_id = $1 and sequence = 2`,
        [id],
      )
      expect(row).toEqual({ text, size: Buffer.byteLength(JSON.stringify({ text })) })
    })
  })

  describe('lookups', () => {
    const ASKED = 15
    test('members asked for at the same time share a statement, and each gets its own answer', async () => {
      const call = viaRest(parley())
      const statementsOf = async () => {
        const rooms = await Promise.all(Array.from({ length: 5 }, () => room(call)))
        const asked = rooms.flatMap(({ id, alex, bea }, n) => {
          const stranger = rooms[(n + 1) % 5]!.alex
          return [alex, bea, stranger].map(({ handle, token }) => ({
            id,
            handle,
            token: parseToken(token)!,
            theirs: handle !== stranger.handle,
          }))
        })
        const before = parley().database.statements()
        const members = await Promise.all(asked.map(({ id, token }) => parley().services.memberOf(id, token)))
        const sent = parley().database.statements() - before
        members.forEach((member, n) => {
          const { id, handle, theirs } = asked[n]!
          if (theirs) expect(member).toMatchObject({ teamId: handle, session: { id, closed: false }, left: false })
          else expect(member).toBeUndefined()
        })
        return sent
      }
      // Jobs in the background send statements too: the fewest of some tries, each of teams that nobody has looked up.
      let fewest = Infinity
      for (let n = 0; n < 10 && fewest >= ASKED / 2; n++) fewest = Math.min(fewest, await statementsOf())
      expect(fewest).toBeWithin(1, ASKED / 2)
    })

    test('a poll costs no write of its own', async () => {
      const { alex } = await room(viaRest(parley()))
      await soon('presence is at rest', () => parley().services.presence.drain().length === 0)
      await parley().services.indexer.run()
      // The background has statements of its own, which may come between.
      await soon('a poll costs two statements at most', async () => {
        const before = parley().database.statements()
        await done(alex('wait_for_messages', { since_cursor: 1, timeout: 0 }))
        return parley().database.statements() - before <= 2
      })
    })

    test('two services on one database see each other’s posts', async () => {
      const sweep = engine === 'postgres' ? NEVER_MS : 50 // nobody notifies an embedded database: the sweep finds it
      const other = await parley().beside({}, {}, { intervals: { sweep } })
      const { id, alex, bea } = await room(viaRest(parley()))
      const elsewhere = seat(viaRest(other), {
        session_id: id,
        team_id: bea.token,
        handle: bea.handle,
        team_name: bea.team,
        cursor: 1,
      })
      const waiting = elsewhere('wait_for_messages', { since_cursor: 1, timeout: 20 })
      while (other.services.waits.held === 0) await Bun.sleep(5)
      await say(alex, 'over there?')
      expect((await done(waiting)).messages).toMatchObject([{ content: { text: 'over there?' } }])
    })
  })

  describe('settings', () => {
    test('of many changes every instance ends with the last', async () => {
      const other = await parley().beside({}, {}, { intervals: { settings: NEVER_MS } })
      for (let n = 1; n <= 20; n++) await parley().services.changeSetting('mcp_url', `https://number-${n}.example/mcp`)
      expect(parley().services.setting('mcp_url')).toBe('https://number-20.example/mcp')
      if (engine === 'postgres')
        await soon('the other has heard', () => other.services.setting('mcp_url') === 'https://number-20.example/mcp')
    })

    if (engine === 'postgres')
      test('one whose notification got lost is read again by every instance in the background', async () => {
        const other = await parley().beside({}, {}, { intervals: { settings: 50 } })
        await parley().database.query(`update settings set value = 'https://untold.example/mcp' where name = 'mcp_url'`)
        await soon('it is known', () => other.services.setting('mcp_url') === 'https://untold.example/mcp')
      })
  })
})
