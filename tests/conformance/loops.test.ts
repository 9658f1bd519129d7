import { describe, expect } from 'bun:test'
import type { Options } from '../../src/process/services.ts'
import { test } from '../support/foreign.ts'
import {
  cookieOf,
  done,
  NEVER_MS,
  onOneEngine,
  refused,
  room,
  say,
  seat,
  soon,
  startParley,
  throughBothDoors,
  viaRest,
  type Call,
  type Seat,
} from '../support/parley.ts'

const LINES = ['I wait for your review of the lexer.', 'And I wait for your answer to my question.']

/** The two teams say the same in turn, until they are held back. */
const storm = async ([one, two]: [Seat, Seat], posts: number) => {
  for (let i = 0; i < posts; i++) {
    const { ok, body } = await (i % 2 ? two : one)('post_message', { content: LINES[i % 2]! })
    if (!ok) return void expect(body.code).toBe('loop_suspected')
  }
}
const needsPerson = async (who: Seat) => (await done(who('get_session'))).needs_person
const marked = (who: Seat) => soon('the session is marked', async () => (await needsPerson(who)) !== null)
const unmarked = (who: Seat) => soon('the mark is taken away', async () => (await needsPerson(who)) === null)
const looping = async (call: Call) => {
  const seats = await room(call)
  await storm([seats.alex, seats.bea], 16)
  await marked(seats.alex)
  return seats
}

const FAST = { intervals: { loops: 50 } }
const severalLooks = () => Bun.sleep(300)

throughBothDoors(
  (call) => {
    test('a storm of two teams marks the session, and with warn hinders nobody', async () => {
      const { alex, bea } = await looping(call)
      expect(await needsPerson(bea)).toEqual({ reason: 'loop_suspected', since: expect.any(String) })
      await say(alex, LINES[0]!)
    })

    test('a change of subject takes the mark away by itself', async () => {
      const { alex, bea } = await looping(call)
      await say(alex, 'Let us stop this. I take the lexer file by file.')
      await say(bea, 'Then the printer is mine, and the tests of both.')
      await unmarked(alex)
    })

    test('a lively exchange is not marked', async () => {
      const { alex, bea } = await room(call)
      for (let i = 0; i < 30; i++) await say(i % 2 ? bea : alex, `Finding ${i}: ${crypto.randomUUID()} is ${crypto.randomUUID()}`)
      await severalLooks()
      expect(await needsPerson(alex)).toBeNull()
    })
  },
  {},
  FAST,
)

onOneEngine(
  (parley) => {
    const begin = async (env: Record<string, string> = {}, options: Options = {}) => {
      const served = await parley().beside({ LOOP_GUARD: 'slow', ...env }, {}, options)
      const call = viaRest(served)
      const person = await cookieOf(served, { name: 'Robin', role: 'person' })
      return { served, call, person }
    }

    describe('with slow', () => {
      test('a repeated text is refused for a while, with Retry-After; a new one is not', async () => {
        const { served, call } = await begin()
        const { id, alex, bea } = await looping(call)
        const error = await refused(alex('post_message', { content: LINES[0] }), 'loop_suspected')
        expect(error.details.retry_after).toBeWithin(1, 61)
        const headers = { 'x-team-id': bea.token }
        const response = await served.send(`/api/sessions/${id}/messages`, { method: 'POST', headers, body: LINES[1]! })
        expect([response.status, Number(response.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
        await refused(alex('post_message', { content: `${LINES[0]}!` }), 'loop_suspected')
        await say(alex, 'Something else: the printer needs a review too.')
        await say(bea, LINES[0]!) // what the other team says over and over is new from this one
      })

      test('a person may say anything, and a person’s word ends it', async () => {
        const { call, person } = await begin()
        const { id, alex } = await looping(call)
        await refused(alex('post_message', { content: LINES[0] }), 'loop_suspected')
        await done(call('post_message', { session_id: id, content: LINES[0] }, { person }))
        await unmarked(alex)
        await say(alex, LINES[0]!)
      })

      test('a retry of what was posted gets its answer, not the refusal', async () => {
        const { served, call } = await begin({}, { intervals: { loops: NEVER_MS } }) // it sweeps when it is told to
        const { alex, bea } = await room(call)
        await storm([alex, bea], 14)
        const key = crypto.randomUUID()
        const first = await done(alex('post_message', { content: LINES[0] }, { key }))
        await storm([bea, alex], 1)
        await served.services.loops.sweep() // the mark may come from a look that saw less
        await marked(alex)
        await refused(alex('post_message', { content: LINES[0] }), 'loop_suspected')
        expect(await done(alex('post_message', { content: LINES[0] }, { key }))).toEqual(first)
      })

      test('a person releases it: at once, through another instance too, and what was said before counts no more', async () => {
        const { call, person } = await begin()
        const { id, alex, bea } = await looping(call)
        await refused(bea('release_session'), 'forbidden')
        expect(await done(viaRest(parley())('release_session', { session_id: id }, { person }))).toEqual({ released: true })
        expect(await needsPerson(alex)).toBeNull()
        await storm([alex, bea], 8)
        await severalLooks()
        expect(await needsPerson(alex)).toBeNull()
        await storm([alex, bea], 8)
        await marked(alex)
        expect(await done(call('release_session', { session_id: id }, { person }))).toEqual({ released: true })
        expect(await done(call('release_session', { session_id: id }, { person }))).toEqual({ released: false })
      })
    })

    test('a saved setting holds at once', async () => {
      const { served, call } = await begin({ LOOP_GUARD: 'off' })
      await served.services.changeSetting('loop_guard', JSON.stringify({ mode: 'warn', posts: 6, likeness: 0.9 }))
      const { alex, bea } = await room(call)
      await storm([alex, bea], 16) // the last of a burst may be too few for a look of their own
      await marked(alex)
      await served.services.changeSetting('loop_guard', undefined)
      await served.close() // off again, it would take the next test's mark away
    })

    // Last: where it is off, an instance takes the marks of all sessions away, and that may be a moment later.
    test('with slow, switched off, it takes every mark away', async () => {
      const { served, call } = await begin()
      const { id, alex } = await looping(call)
      await served.services.changeSetting('loop_guard', JSON.stringify({ mode: 'off', posts: 12, likeness: 0.9 }))
      await unmarked(alex)
      await storm([alex, seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))], 16)
      await severalLooks()
      expect(await needsPerson(alex)).toBeNull()
      await served.services.changeSetting('loop_guard', undefined)
    }, 180_000)

    test('off: nothing is looked at', async () => {
      const { call } = await begin({ LOOP_GUARD: 'off' })
      const { alex, bea } = await room(call)
      await storm([alex, bea], 20)
      await severalLooks()
      expect(await needsPerson(alex)).toBeNull()
    })
  },
  {},
  FAST,
)

test('a team that talks alone, however fast, is not read again and again, and a storm that follows is seen', async () => {
  const one = await startParley({ env: { LOOP_GUARD: 'warn' } })
  try {
    const { alex, bea } = await room(viaRest(one))
    const alone = (posts: number) => Promise.all(Array.from({ length: posts }, () => say(alex, LINES[0]!)))
    const readsOfALook = async () => {
      const before = one.database.statements()
      await one.services.loops.sweep()
      return one.database.statements() - before
    }
    await alone(8)
    await soon('it was read once', async () => (await readsOfALook()) === 0)
    // The instance's own look may come in the middle of a burst, and other jobs send statements too: the fewest is what such a look reads.
    let fewest = Infinity
    for (let n = 0; n < 10 && fewest > 0; n++) {
      await alone(100)
      fewest = Math.min(fewest, await readsOfALook())
    }
    expect(fewest).toBe(0)
    await storm([bea, alex], 16)
    await marked(alex)
  } finally {
    await one.close()
  }
}, 180_000) // it begins with a database of its own

test('two teams that speak through two instances are seen together', async () => {
  const one = await startParley({ engine: 'postgres' })
  try {
    const other = await one.beside({})
    const { id, alex, bea } = await room(viaRest(one))
    const far = seat(viaRest(other), { session_id: id, team_id: bea.token, handle: bea.handle, team_name: bea.team, cursor: 0 })
    await storm([alex, far], 16)
    await marked(alex)
  } finally {
    await one.close()
  }
})
