// WAKES_PER_HOUR: how many sleeping teams messages wake in a session without a person's word.
import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { figureIn } from '../support/metrics.ts'
import { FULL } from '../support/full.ts'
import { cookieOf, done, onEveryEngine, room, say, seat, soon, viaRest, type Seat, type Served } from '../support/parley.ts'

const ROBIN = { name: 'Robin', role: 'person' } as const
const watch = (who: Seat, more: Record<string, unknown> = {}) => done(who('peek', { timeout: 20, ...more }))
/** Answers at the end of its time unless something wakes it at once. */
const wakesNow = async (who: Seat, more: Record<string, unknown> = {}) => (await watch(who, { timeout: 0.05, ...more })).wake
const endOf = async (who: Seat): Promise<number> => (await done(who('peek'))).last_cursor
const needOf = async (who: Seat) => (await done(who('get_session'))).needs_person
const metric = async ({ services }: Served, outcome: string) =>
  figureIn(await services.metrics.text(), `parley_wakes_total{outcome="${outcome}"}`)

const PER_HOUR = 3

onEveryEngine(
  (parley) => {
    const begin = async (served: Served = parley(), teams = 2) => {
      const call = viaRest(served)
      const { id, alex, bea } = await room(call)
      const others = await Promise.all(
        Array.from({ length: teams - 2 }, async (_, n) =>
          seat(call, await done(call('join_session', { session_id: id, team_name: `${n}` }))),
        ),
      )
      const robin = await cookieOf(served, ROBIN)
      const speak = (content: string) => done(call('post_message', { session_id: id, content }, { person: robin }))
      const release = () => done(call('release_session', { session_id: id }, { person: robin }))
      const held = (count: number) => soon(`${count} held`, () => served.services.peeks.held === count)
      return { id, call, alex, bea, others, speak, release, held }
    }
    /** Alex's Team wakes Bea's so many times, each time with a new message. */
    const wakeTimes = async (alex: Seat, bea: Seat, times: number) => {
      for (let n = 0; n < times; n++) {
        const after = await endOf(bea)
        await say(alex, `message ${crypto.randomUUID()}`)
        expect(await wakesNow(bea, { after })).toBe(true)
      }
    }
    /** A message that is addressed to nobody wakes nobody. */
    const sleepsThrough = async (alex: Seat, bea: Seat) => {
      const after = await endOf(bea)
      await say(alex, `message ${crypto.randomUUID()}`)
      expect([await wakesNow(bea, { after }), (await done(bea('peek', { after }))).wake]).toEqual([false, false])
    }

    test('past it messages wake nobody, and the session says that it needs a person', async () => {
      const { alex, bea } = await begin()
      await wakeTimes(alex, bea, PER_HOUR - 1)
      expect(await needOf(alex)).toBeNull()
      await wakeTimes(alex, bea, 1)
      expect(await needOf(alex)).toEqual({ reason: 'wakes_used_up', since: expect.any(String) })
      await sleepsThrough(alex, bea)
    })

    test('what a wait of the team brings takes no wake, and its peek is held on', async () => {
      const { alex, bea, held } = await begin()
      const watching = watch(bea)
      await held(1)
      let since_cursor = await endOf(bea)
      for (let n = 0; n < PER_HOUR + 2; n++) {
        const waiting = done(bea('wait_for_messages', { timeout: 20, since_cursor }))
        await soon('it waits', () => parley().services.waits.held === 1)
        await say(alex, `message ${n}`)
        since_cursor = (await waiting).next_cursor
      }
      expect(await needOf(alex)).toBeNull()
      expect(parley().services.peeks.held).toBe(1)
      await say(alex, 'while it works')
      expect(await watching).toMatchObject({ unread: 1, wake: true })
    })

    test('what is addressed to a team wakes it all the same', async () => {
      const { alex, bea } = await begin()
      await wakeTimes(alex, bea, PER_HOUR)
      const mine = await say(bea, 'Who takes the lexer?')
      for (const more of [{ to: [bea.handle] }, { reply_to: mine.message_id }]) {
        const after = await endOf(bea)
        await say(alex, 'to you', more)
        expect(await wakesNow(bea, { after })).toBe(true)
        expect(await wakesNow(bea, { after, only: 'addressed' })).toBe(true)
      }
      await sleepsThrough(alex, bea)
    })

    test('what a person says wakes everybody, takes no wake, and begins the hour anew', async () => {
      const { alex, bea, others, speak, held } = await begin(parley(), PER_HOUR + 4)
      await wakeTimes(alex, bea, PER_HOUR)
      const after = await endOf(bea)
      const watching = [bea, ...others].map((who) => watch(who, { after }))
      await held(watching.length)
      const refused = await metric(parley(), 'refused')
      await say(alex, 'This wakes nobody.')
      await soon('each is refused', async () => (await metric(parley(), 'refused')) >= refused + watching.length) // before the hour begins anew
      await speak('Go on.')
      for (const { unread, wake } of await Promise.all(watching)) expect([unread, wake]).toEqual([2, true])
      expect(await needOf(alex)).toBeNull()
      await wakeTimes(alex, bea, PER_HOUR)
      await sleepsThrough(alex, bea)
    })

    test('a person who releases the session begins the hour anew, and is told whether that was needed', async () => {
      const { alex, bea, release } = await begin()
      expect(await release()).toEqual({ released: false })
      await wakeTimes(alex, bea, PER_HOUR)
      await sleepsThrough(alex, bea)
      expect(await release()).toEqual({ released: true })
      expect(await needOf(alex)).toBeNull()
      expect(await release()).toEqual({ released: false })
      await wakeTimes(alex, bea, PER_HOUR)
      await sleepsThrough(alex, bea)
    })

    test('an hour later there are as many again, and what was held back is told', async () => {
      const { id, alex, bea } = await begin()
      await wakeTimes(alex, bea, PER_HOUR)
      const after = await endOf(bea)
      await say(alex, 'This waits for an hour.')
      expect(await wakesNow(bea, { after })).toBe(false)
      const { query } = parley().database
      const age = (interval: string) => query(`update wakes set since = now() - $2::interval where session_id = $1`, [id, interval])
      await age('59 minutes')
      expect([await wakesNow(bea, { after }), (await needOf(alex))?.reason]).toEqual([false, 'wakes_used_up'])
      await age('61 minutes')
      expect(await needOf(alex)).toBeNull()
      expect(await wakesNow(bea, { after })).toBe(true)
      await wakeTimes(alex, bea, PER_HOUR - 1)
      await sleepsThrough(alex, bea)
    })

    test('a peek that is not held takes none, nor does the same message told again', async () => {
      const { alex, bea } = await begin()
      const after = await endOf(bea)
      await say(alex, 'once')
      for (let n = 0; n < 2 * PER_HOUR; n++) expect((await done(bea('peek', { after }))).wake).toBe(true)
      for (let n = 0; n < 2 * PER_HOUR; n++) expect(await wakesNow(bea, { after })).toBe(true)
      await wakeTimes(alex, bea, PER_HOUR - 1)
      await sleepsThrough(alex, bea)
    })

    test.skipIf(!FULL)(
      'one message wakes as many teams as there are wakes left, and only it is counted what was allowed and what was refused',
      async () => {
        const { alex, bea, others, held } = await begin(parley(), 9)
        const sleepers = [bea, ...others]
        const after = await endOf(alex)
        const before = [await metric(parley(), 'allowed'), await metric(parley(), 'refused')]
        const watching = sleepers.map((who) => watch(who, { after, timeout: 8 }))
        await held(sleepers.length)
        await say(alex, 'all of you')
        await held(sleepers.length - PER_HOUR)
        await say(alex, 'and you by name', { to: [others[0]!.handle, others[6]!.handle, bea.handle] })
        const woken = (await Promise.all(watching)).filter(({ wake }) => wake)
        expect(woken.length).toBeWithin(PER_HOUR, PER_HOUR + 4) // those by name, unless they were among the first
        expect((await metric(parley(), 'allowed')) - before[0]!).toBe(woken.length)
        expect((await metric(parley(), 'refused')) - before[1]!).toBeGreaterThanOrEqual(sleepers.length - PER_HOUR)
      },
    )

    test('the conclusion ends all held peeks, and wakes no more than there are wakes', async () => {
      const { alex, bea, others, held } = await begin(parley(), 6)
      await wakeTimes(alex, bea, PER_HOUR - 1)
      const after = await endOf(alex)
      const watching = [bea, ...others].map((who) => watch(who, { after }))
      await held(watching.length)
      await done(alex('conclude_session', { summary_section: 'It ships.' }))
      const answers = await Promise.all(watching)
      expect(answers.every(({ session_closed }) => session_closed)).toBe(true)
      expect(answers.filter(({ wake }) => wake)).toHaveLength(1)
      expect(await needOf(alex)).toBeNull() // nothing is needed of anybody any more
    })

    describe('over two instances', () => {
      // On the embedded database they do not hear each other, and the sweep wakes.
      const beside = () => parley().beside({ WAKES_PER_HOUR: String(PER_HOUR) }, {}, { intervals: { sweep: 50 } })

      test.skipIf(!FULL)('together they grant no more than there are', async () => {
        const other = await beside()
        const { id, alex, bea, others, held } = await begin(parley(), 12)
        const there = viaRest(other)
        const across = others.map((who) => seat(there, { session_id: id, team_id: who.token, handle: who.handle }))
        const after = await endOf(alex)
        const sleepers = [bea, ...others.slice(0, 5), ...across.slice(5)]
        const watching = sleepers.map((who) => watch(who, { after, timeout: 8 }))
        await held(6)
        await soon('five there', () => other.services.peeks.held === 5)
        await say(alex, 'all of you')
        expect((await Promise.all(watching)).filter(({ wake }) => wake)).toHaveLength(PER_HOUR)
        await other.close()
      })

      test('a team that sleeps at both is woken at both, and counted once', async () => {
        const other = await beside()
        const { id, alex, bea, held } = await begin()
        const there = seat(viaRest(other), { session_id: id, team_id: bea.token, handle: bea.handle })
        for (let n = 0; n < PER_HOUR; n++) {
          const after = await endOf(bea)
          const watching = [watch(bea, { after }), watch(there, { after })]
          await held(1)
          await soon('one there', () => other.services.peeks.held === 1)
          await say(alex, `message ${n}`)
          expect((await Promise.all(watching)).map(({ wake }) => wake)).toEqual([true, true])
        }
        await sleepsThrough(alex, bea)
        await sleepsThrough(alex, there)
        await other.close()
      })

      test('what one instance has granted, one that starts later knows', async () => {
        const { id, alex, bea } = await begin()
        await wakeTimes(alex, bea, PER_HOUR)
        const later = await beside()
        const [a, b] = [alex, bea].map((who) => seat(viaRest(later), { session_id: id, team_id: who.token, handle: who.handle }))
        await sleepsThrough(a!, b!)
        expect((await needOf(a!)).reason).toBe('wakes_used_up')
        await later.close()
      })
    })

    test('the number that a person saved holds at once, and the environment’s again when it is forgotten', async () => {
      const { alex, bea } = await begin()
      await wakeTimes(alex, bea, PER_HOUR)
      await parley().services.changeSetting('wakes_per_hour', String(PER_HOUR + 1))
      await wakeTimes(alex, bea, 1)
      await sleepsThrough(alex, bea)
      await parley().services.changeSetting('wakes_per_hour', undefined)
      await sleepsThrough(alex, bea)
      expect((await needOf(alex)).reason).toBe('wakes_used_up')
    })

    test('with 0 only what is addressed or said by a person wakes, and no session needs a person for that', async () => {
      const none = await parley().beside({ WAKES_PER_HOUR: '0' })
      const { alex, bea, speak } = await begin(none)
      await sleepsThrough(alex, bea)
      expect(await needOf(alex)).toBeNull()
      let after = await endOf(bea)
      await say(alex, 'to you', { to: [bea.handle] })
      expect(await wakesNow(bea, { after })).toBe(true)
      after = await endOf(bea)
      await speak('Wake up.')
      expect(await wakesNow(bea, { after })).toBe(true)
      await sleepsThrough(alex, bea)
      expect(await needOf(alex)).toBeNull()
      await none.close()
    })
  },
  { WAKES_PER_HOUR: String(PER_HOUR) },
)
