// `missed` of a post's answer: from memory where nobody spoke or a team goes on without reading, else counted by the database.
import { describe, expect, spyOn, test } from 'bun:test'
import { cookieOf, done, feedOf, onOneEngine, room, say, seat, soon, viaRest, type Parley, type Seat } from '../support/parley.ts'

const waited = (who: Seat, more: Record<string, unknown> = {}) => done(who('wait_for_messages', { timeout: 0, ...more }))

/** How many statements that count what was missed `run` makes. */
const counting = async ({ database }: Parley, run: () => Promise<unknown>): Promise<number> => {
  const query = spyOn(database, 'query')
  try {
    await run()
    return query.mock.calls.filter(([text]) => String(text).includes('as missed')).length
  } finally {
    query.mockRestore()
  }
}

onOneEngine((parley, engine) => {
  describe('what a post missed', () => {
    test('costs no statement while nobody else speaks', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      const talk = async () => {
        for (let n = 0; n < 10; n++) {
          const { next_cursor } = await waited(bea)
          await say(bea, `${n}`)
          await say(bea, 'and more')
          await waited(alex, { since_cursor: next_cursor })
          await say(alex, `${n}`)
        }
      }
      expect(await counting(parley(), talk)).toBe(0)
    })

    test('is counted once for a team that goes on without reading', async () => {
      await soon('nobody has answered its hello', () => !parley().services.mayHavePeers())
      const { alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      expect(await counting(parley(), () => say(bea, 'two'))).toBe(1)
      const talk = async () => {
        for (let n = 0; n < 100; n++) await Promise.all([say(alex, `${n}`), say(bea, `${n}`)])
      }
      expect(await counting(parley(), talk)).toBe(0)
      expect(await say(bea, 'last')).toMatchObject({ missed: 101 })
    })

    test('is counted anew behind what was no post', async () => {
      const { id, alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      expect(await say(bea, 'two')).toMatchObject({ missed: 1 })
      await done(viaRest(parley())('join_session', { session_id: id, team_name: 'Cleo' }))
      expect(await say(bea, 'three')).toMatchObject({ missed: 1 })
    })

    test('a team’s posts at once do not count for each other', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      for (let n = 0; n < 3; n++) {
        const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => say(bea, `${i}`)))
        expect(answers.map(({ missed }) => missed)).toEqual(answers.map(() => 1))
      }
    })

    test('a question to a person does not count for what the team posts while people are told of it', async () => {
      await soon('nobody has answered its hello', () => !parley().services.mayHavePeers())
      const { id, alex, bea } = await room(viaRest(parley()))
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await done(viaRest(parley())('post_message', { session_id: id, content: 'I am here.' }, { person }))
      await waited(bea)
      await say(bea, 'one')
      const { database } = parley()
      const { query } = database
      const { promise: told, resolve: tell } = Promise.withResolvers<void>()
      const telling = spyOn(database, 'query').mockImplementation(async (text: string, params?: unknown[]) => {
        if (text.includes('insert into notices')) await told
        return query(text, params) as Promise<any[]>
      })
      const asking = say(bea, 'Ship it?', { to: ['Robin'], expects_reply: true })
      await soon('it is asked', async () => (await feedOf(alex)).at(-1).expects_reply === true)
      const { missed } = await say(bea, 'I would.')
      tell()
      const asked = await asking
      telling.mockRestore()
      expect([missed, asked.missed]).toEqual([undefined, undefined])
    })

    test('what was delivered is not missed when the process has forgotten that the team polled', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await say(bea, 'zero') // who Bea is, is remembered from now on
      await say(alex, 'one')
      await waited(bea, { since_cursor: 1 })
      for (let n = 0; n < 2; n++) parley().services.presence.drain()
      expect(parley().services.presence.of(bea.handle)).toBeUndefined()
      expect(await say(bea, 'two')).not.toHaveProperty('missed')
    })

    test('a post is acknowledged although the count fails', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await say(alex, 'one')
      const { database } = parley()
      const { query } = database
      const failing = spyOn(database, 'query').mockImplementation((text: string, params?: unknown[]) =>
        text.includes('as missed') ? Promise.reject(new Error('no')) : query(text, params),
      )
      const answer = await say(bea, 'two')
      failing.mockRestore()
      expect(Object.keys(answer)).toEqual(['message_id', 'cursor', 'at'])
      expect(await say(bea, 'three')).toMatchObject({ missed: 1 })
    })

    if (engine === 'postgres')
      test('is not what another instance has delivered', async () => {
        const other = await parley().beside({})
        const { id, alex, bea } = await room(viaRest(parley()))
        const there = seat(viaRest(other), { session_id: id, team_id: bea.token, handle: bea.handle })
        await say(alex, 'one')
        await say(bea, 'two')
        await say(alex, 'three')
        expect((await waited(there)).messages).toHaveLength(3)
        expect(await say(bea, 'four')).not.toHaveProperty('missed')
        await say(alex, 'five')
        expect(await say(there, 'six')).toMatchObject({ missed: 1 })
        expect(await say(bea, 'seven')).toMatchObject({ missed: 1 })
        await other.close()
      })
  })
})
