import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  onOneEngine,
  refused,
  room,
  say,
  seat,
  throughBothDoors,
  viaRest,
  type Call,
  type Seat,
} from '../support/parley.ts'

const caughtUp = (who: Seat) => done(who('catch_up'))
const ask = async (who: Seat, text: string, ...to: Seat[]): Promise<string> =>
  (await say(who, text, { to: to.map(({ handle }) => handle), expects_reply: true })).message_id
const idsIn = (rows: { id: string }[]) => rows.map(({ id }) => id)
const unanswered = async (who: Seat) => idsIn((await caughtUp(who)).unanswered)
/** What the team asked, each with the teams that have not answered. */
const asked = async (who: Seat) => (await caughtUp(who)).asked.map(({ id, unanswered_by }: any) => [id, unanswered_by])

const three = async (call: Call) => {
  const { id, alex, bea } = await room(call)
  const join = async (team_name: string) => seat(call, await done(call('join_session', { session_id: id, team_name })))
  return { id, alex, bea, cleo: await join('Cleo'), join }
}

throughBothDoors((call) => {
  describe('an open question', () => {
    test('is on both sides until the team that was asked replies to it', async () => {
      const { alex, bea, cleo } = await three(call)
      const first = await ask(alex, 'Who takes the lexer?', bea)
      const second = await ask(alex, 'And the printer?', bea)
      expect(await unanswered(bea)).toEqual([first, second])
      expect(await asked(alex)).toEqual([
        [first, [bea.handle]],
        [second, [bea.handle]],
      ])
      await say(cleo, 'somebody else replies', { reply_to: first })
      await say(bea, 'to all, without reply_to')
      expect(await unanswered(bea)).toEqual([first, second])
      await say(bea, 'I do.', { reply_to: first })
      expect(await unanswered(bea)).toEqual([second])
      expect(await asked(alex)).toEqual([[second, [bea.handle]]])
      const [row] = (await caughtUp(bea)).unanswered
      expect(row).toMatchObject({ team: "Alex's Team", text: 'And the printer?', to: [bea.handle], expects_reply: true })
      for (const [who, list] of [
        [alex, 'unanswered'],
        [bea, 'asked'],
        [cleo, 'unanswered'],
        [cleo, 'asked'],
      ] as const)
        expect((await caughtUp(who))[list]).toEqual([])
    })

    test('is none if it only names a team', async () => {
      const { alex, bea } = await room(call)
      await say(alex, 'For Bea.', { to: [bea.handle] })
      await say(alex, 'For Bea too.', { to: [bea.handle], expects_reply: false })
      expect(await unanswered(bea)).toEqual([])
      expect(await asked(alex)).toEqual([])
    })

    test('to several is answered by each for itself, also by a question in return', async () => {
      const { alex, bea, cleo } = await three(call)
      const question = await ask(alex, 'Are you ready?', bea, cleo)
      const back = await say(bea, 'For what?', { reply_to: question, to: [alex.handle], expects_reply: true })
      expect(await unanswered(bea)).toEqual([])
      expect(await unanswered(cleo)).toEqual([question])
      expect(await asked(alex)).toEqual([[question, [cleo.handle]]])
      expect(await unanswered(alex)).toEqual([back.message_id])
    })

    test('is withdrawn for all by the asker’s own reply, unless that asks again', async () => {
      const { alex, bea, cleo } = await three(call)
      const question = await ask(alex, 'Are you ready?', bea, cleo)
      const again = await say(alex, 'And when?', { reply_to: question, to: [bea.handle], expects_reply: true })
      expect(await unanswered(bea)).toEqual([question, again.message_id])
      await say(alex, 'Never mind.', { reply_to: question })
      expect(await unanswered(bea)).toEqual([again.message_id])
      expect(await unanswered(cleo)).toEqual([])
      expect(await asked(alex)).toEqual([[again.message_id, [bea.handle]]])
    })

    test('that a team puts to itself as well is not for it to answer', async () => {
      const { alex, bea } = await room(call)
      const question = await ask(alex, 'Which of us?', alex, bea)
      expect(await unanswered(alex)).toEqual([])
      expect(await asked(alex)).toEqual([[question, [bea.handle]]])
    })

    test('to oneself alone is refused, and without expects_reply said to all', async () => {
      const { alex } = await room(call)
      for (const to of [alex.team, alex.handle]) {
        const { details } = await refused(alex('post_message', { content: 'And I?', to: [to], expects_reply: true }), 'invalid_request')
        expect(details).toEqual({ field: 'to' })
      }
      await done(alex('post_message', { content: 'A note.', to: [alex.team] }))
    })

    test('waits for a team that left and came back, which answers for both its handles, or withdraws its own', async () => {
      const { alex, bea, join } = await three(call)
      const first = await ask(alex, 'Can you take the lexer?', bea)
      const second = await ask(alex, 'And this?', bea)
      await say(bea, 'Yes.', { reply_to: second })
      const own = await ask(bea, 'Where is it?', alex)
      await done(bea('leave_session'))
      const back = await join(bea.team)
      expect(await unanswered(back)).toEqual([first])
      expect(await asked(back)).toEqual([[own, [alex.handle]]])
      await say(back, 'I can.', { reply_to: first })
      await say(back, 'Found it.', { reply_to: own })
      expect([await unanswered(back), await asked(alex), await unanswered(alex), await asked(back)]).toEqual([[], [], [], []])
    })
  })
})

onOneEngine((parley) => {
  test('a person’s question is answered as a team’s, and withdrawn by that person alone', async () => {
    const call = viaRest(parley())
    const { id, alex, bea } = await three(call)
    const as = async (name: string) => {
      const person = await cookieOf(parley(), { name, role: 'person' })
      return (input: object) => done(call('post_message', { session_id: id, ...input }, { person }))
    }
    const [robin, kim] = [await as('Robin'), await as('Kim')]
    const { message_id: question } = await robin({ content: 'Ready?', to: [alex.handle, bea.handle], expects_reply: true })
    await say(alex, 'Yes.', { reply_to: question })
    await kim({ content: 'I think so.', reply_to: question })
    expect([await unanswered(alex), await unanswered(bea)]).toEqual([[], [question]])
    await robin({ content: 'Enough.', reply_to: question })
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const alone = { session_id: id, content: 'And I?', to: 'robin', expects_reply: true }
    await refused(call('post_message', alone, { person }), 'invalid_request')
    expect(await unanswered(bea)).toEqual([])
  })
})
