// A team that holds a peek is asleep: a message wakes it. It counts as present, and neither listens nor does its duty.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, onOneEngine, refused, room, say, seat, soon, viaRest, type Seat, type Served } from '../support/parley.ts'

const ENV = { IDLE_AFTER: '1', DISCONNECTED_AFTER: '20' }

const rowOf = async (asking: Seat, { handle }: Seat): Promise<any> =>
  (await done(asking('list_participants'))).participants.find(({ team_id }: any) => team_id === handle)
const statusOf = async (asking: Seat, who: Seat): Promise<string> => (await rowOf(asking, who)).status
const becomes = (asking: Seat, who: Seat, status: string) => soon(`it is ${status}`, async () => (await statusOf(asking, who)) === status)

/** The team looks as if it had joined or polled so many seconds ago. */
const silent = ({ database }: Served, { handle }: Seat, seconds: number) =>
  database.query('update participants set last_seen_at = now() - make_interval(secs => $2) where team_id = $1', [handle, seconds])

onOneEngine(
  (parley) => {
    /** Falls asleep, and stays so until it is let go. */
    const asleep = async (who: Seat, served: Served = parley()) => {
      const gone = new AbortController()
      const { last_cursor: after } = await done(who('peek'))
      const watching = who('peek', { timeout: 30, after }, { signal: gone.signal }).catch(() => undefined)
      await soon('it is held', () => served.services.peeks.held === 1)
      return async () => {
        gone.abort()
        await watching
        await soon('it is let go', () => served.services.peeks.held === 0)
      }
    }

    test('a team that holds a peek is asleep, whether it would be idle or disconnected, and for IDLE_AFTER after that', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      const wake = await asleep(bea)
      await silent(parley(), bea, -30) // as if just now, however busy the machine is
      expect(await statusOf(alex, bea)).toBe('active') // which comes first
      for (const seconds of [5, 100]) {
        await silent(parley(), bea, seconds)
        expect(await statusOf(alex, bea)).toBe('asleep')
      }
      await wake()
      await soon('it is asleep for a moment more', async () => {
        if ((await statusOf(alex, bea)) === 'asleep') return true
        await (
          await asleep(bea)
        )() // the moment was over before it was asked
        return false
      })
      await becomes(alex, bea, 'disconnected')
      await silent(parley(), bea, 5)
      expect(await statusOf(alex, bea)).toBe('idle')
    })

    test('its time of last being seen stays that of its last poll, and a poll makes it active', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await silent(parley(), bea, 5)
      const before = await rowOf(alex, bea)
      const wake = await asleep(bea)
      expect(await rowOf(alex, bea)).toEqual({ ...before, status: 'asleep' })
      const polls = () => done(bea('wait_for_messages', { timeout: 0 }))
      await soon('a poll makes it active', async () => (await polls(), await statusOf(alex, bea)) === 'active')
      await wake()
    })

    test('a peek that is not held puts nobody to sleep, nor does one that is refused', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await silent(parley(), bea, 5)
      await done(bea('peek'))
      await refused(bea('peek', { timeout: 5, after: 1_000 }), 'invalid_request')
      expect(await statusOf(alex, bea)).toBe('idle')
    })

    test('one that leaves in its sleep is gone', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      const wake = await asleep(bea)
      await done(bea('leave_session'))
      expect(await statusOf(alex, bea)).toBe('disconnected')
      await wake()
    })

    test('catch_up tells the others that it is asleep', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await silent(parley(), bea, 100)
      const wake = await asleep(bea)
      expect((await done(alex('catch_up'))).participants).toContainEqual(expect.objectContaining({ team_id: bea.handle, status: 'asleep' }))
      await wake()
    })

    test('another instance shows the same, falling asleep and waking', async () => {
      const other = await parley().beside(ENV)
      const { id, alex, bea } = await room(viaRest(parley()))
      const there = seat(viaRest(other), { session_id: id, team_id: alex.token, handle: alex.handle })
      await silent(parley(), bea, 100)
      const wake = await asleep(bea)
      await becomes(there, bea, 'asleep')
      await Bun.sleep(1_500) // longer than IDLE_AFTER: it is in flight all the time
      expect([await statusOf(alex, bea), await statusOf(there, bea)]).toEqual(['asleep', 'asleep'])
      await wake()
      await becomes(there, bea, 'disconnected')
      await becomes(alex, bea, 'disconnected')
      await other.close()
    })

    test('of two instances at which a team sleeps, the one that it left does not wake it', async () => {
      const other = await parley().beside(ENV)
      const { id, alex, bea } = await room(viaRest(parley()))
      const there = seat(viaRest(other), { session_id: id, team_id: bea.token, handle: bea.handle })
      await silent(parley(), bea, 100)
      const [wake, wakeThere] = [await asleep(bea), await asleep(there, other)]
      await wake()
      await Bun.sleep(1_500)
      expect(await statusOf(seat(viaRest(other), { session_id: id, team_id: alex.token, handle: alex.handle }), bea)).toBe('asleep')
      await wakeThere()
      await becomes(alex, bea, 'disconnected')
      await other.close()
    })

    test('where a team has one session at a time, it may join no other while it is asleep', async () => {
      const strict = await parley().beside({ ...ENV, ONE_SESSION_PER_TEAM: 'true' })
      const call = viaRest(strict)
      const name = `Cleo ${crypto.randomUUID()}`
      const first = await done(call('create_session', { title: 'One', description: '', creator_team_name: 'Dana' }))
      const cleo = seat(call, await done(call('join_session', { session_id: first.session_id, team_name: name })))
      const second = await done(call('create_session', { title: 'Two', description: '', creator_team_name: 'Elif' }))
      const join = () => call('join_session', { session_id: second.session_id, team_name: name })
      await silent(strict, cleo, 100)
      const wake = await asleep(cleo, strict)
      await soon('the database knows', async () => {
        const [row] = await strict.database.query<{ slept_at: string | null }>('select slept_at from participants where team_id = $1', [
          cleo.handle,
        ])
        return row!.slept_at !== null
      })
      const { message } = await refused(join(), 'conflict')
      expect(message).toContain('is present in another session')
      await wake()
      await soon('it may join', async () => (await join()).ok)
      await strict.close()
    })

    test('a convener that has been asleep for long may be replaced, one that polled lately may not', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      await silent(parley(), alex, 100) // ten times DISCONNECTED_AFTER is 200
      const wake = await asleep(alex)
      await refused(bea('transfer_convener', { to: bea.handle }), 'forbidden')
      await silent(parley(), alex, 300)
      expect(await statusOf(bea, alex)).toBe('asleep')
      await done(bea('transfer_convener', { to: bea.handle }))
      await wake()
    })

    test('one that is woken has been told nothing yet: what it missed stays unread', async () => {
      const { alex, bea } = await room(viaRest(parley()))
      const watching = done(bea('peek', { timeout: 20 }))
      await soon('it is held', () => parley().services.peeks.held === 1)
      await say(alex, 'wake up')
      await watching
      const [row] = await parley().database.query('select last_seen_cursor, delivered_cursor from participants where team_id = $1', [
        bea.handle,
      ])
      expect(row).toEqual({ last_seen_cursor: bea.cursor, delivered_cursor: bea.cursor })
      expect((await done(bea('wait_for_messages', { timeout: 0 }))).messages).toHaveLength(1)
    })
  },
  ENV,
  { intervals: { presence: 50, sweep: 50 } },
)
