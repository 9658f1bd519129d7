// What people are told, and that each fact is told once: over restarts, several instances, and a session whose state flaps.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { needsOfSessions } from '../../src/loops/store.ts'
import { addressNotices, takeDeliveries } from '../../src/notices/outbox.ts'
import { notifyPeople } from '../../src/notices/notify-people.ts'
import { jobsOf } from '../../src/operations/toolset.ts'
import { convenerWatch } from '../../src/rooms/convener-watch.ts'
import { rooms } from '../../src/rooms/toolset.ts'
import { silentFor } from '../support/board-scene.ts'
import { startNotifyReceiver } from '../support/notify-receiver.ts'
import { NEVER_MS, done, onOneEngine, room, say, soon, TITLE, viaRest, type Seat } from '../support/parley.ts'
import { personAt } from '../support/records-scene.ts'
import { startPushService, type PushService } from '../support/push-service.ts'

const OFTEN = { notices: 30, loops: 50, 'convener-watch': 50, presence: 30 }
// A team that is not seen for 0.2 s is disconnected; a convener that is not seen for 2 s is gone.
const QUICK = { IDLE_AFTER: '0.2', DISCONNECTED_AFTER: '0.2' }

let push: PushService
beforeAll(async () => void (push = await startPushService()))
afterAll(() => push.stop())

onOneEngine((parley) => {
  let receiver: ReturnType<typeof startNotifyReceiver>
  beforeEach(() => void (receiver = startNotifyReceiver()))
  afterEach(() => receiver.stop())

  const telling = (env: Record<string, string> = {}, intervals: Record<string, number> = {}) =>
    parley().beside(
      { NOTIFY_URL: receiver.url, MCP_URL: 'https://parley.example/mcp', ...env },
      {},
      {
        pushSender: push.sender(),
        jobs: jobsOf([rooms]),
        intervals: { ...OFTEN, ...intervals },
      },
    )
  const kinds = (sessionId: string) => receiver.of(sessionId).map(({ kind }) => kind)
  const told = (sessionId: string, ...expected: string[]) =>
    soon(`told: ${expected.join(', ')}`, () => Bun.deepEquals(kinds(sessionId), expected))
  const aWhile = () => Bun.sleep(400) // a dozen looks

  const storm = async (alex: Seat, bea: Seat) => {
    for (let n = 0; n < 16; n++) await say(n % 2 ? bea : alex, n % 2 ? 'Nothing new from my side.' : 'Waiting for your go.')
  }
  const held = (who: Seat) => {
    const leaving = new AbortController()
    const polling = (async () => {
      for (let cursor = 0; !leaving.signal.aborted;) {
        const answer = await done(who('wait_for_messages', { since_cursor: cursor, timeout: 30 }, { signal: leaving.signal }))
        cursor = answer.next_cursor
        if (answer.session_closed) await Bun.sleep(50) // such a wait is never held
      }
    })().catch(() => {})
    return async () => (leaving.abort(), await polling)
  }
  const closing = async (served: Awaited<ReturnType<typeof telling>>, work: () => Promise<void>) => {
    try {
      await work()
    } finally {
      await served.close()
    }
  }

  test('a conclusion is told, with kind, session, title and link and no text of what was said', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id, alex } = await room(viaRest(served))
      await say(alex, 'The secret ingredient is nutmeg.')
      await done(alex('conclude_session', { summary_section: 'Nutmeg it is.' }))
      await told(id, 'session_concluded')
      const [body] = receiver.of(id)
      expect(body).toEqual({
        kind: 'session_concluded',
        session_id: id,
        title: TITLE,
        url: `https://parley.example/sessions/${id}`,
        text: `${TITLE}: The session is concluded. https://parley.example/sessions/${id}`,
      })
    })
  })

  test('a conclusion that is revised, or written twice with one key, is told once; one that failed is not', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      await alex('conclude_session', { summary_section: ' ' })
      const key = crypto.randomUUID()
      for (let n = 0; n < 2; n++) await done(alex('conclude_session', { summary_section: 'Done.' }, { key }))
      await told(id, 'session_concluded')
      await served.database.query(`update notices set at = at - interval '11 minutes' where session_id = $1`, [id])
      await done(bea('conclude_session', { summary_section: 'Done, and dusted.' }))
      await aWhile()
      expect(kinds(id)).toEqual(['session_concluded'])
    })
  })

  test('a session that is marked as a loop is told of, once for the mark, and not again when it flaps', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      await storm(alex, bea)
      await told(id, 'loop_suspected')
      await served.database.query(`update loops set suspected_at = now() where session_id = $1`, [id])
      await aWhile()
      expect(kinds(id)).toEqual(['loop_suspected'])
      await served.database.query(`update notices set at = at - interval '11 minutes' where session_id = $1`, [id])
      await told(id, 'loop_suspected', 'loop_suspected')
    })
  })

  test('a convener that has left is told of while another team is there, once', async () => {
    const served = await telling(QUICK)
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      await Bun.sleep(300) // nobody is there any more
      await done(alex('leave_session'))
      await aWhile()
      expect(kinds(id)).toEqual([])
      const leave = held(bea)
      await told(id, 'convener_gone')
      await aWhile()
      expect(kinds(id)).toEqual(['convener_gone'])
      await leave()
    })
  })

  test('a convener that is silent for long is told of; one that polls or posts is not', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      const [other, posting] = [await room(viaRest(served)), await room(viaRest(served))]
      const leaves = [held(bea), held(other.bea), held(other.alex), held(posting.bea)]
      const polling = () =>
        served.database.query('select from participants where session_id in ($1, $2, $3) and polling_until > now()', [
          id,
          other.id,
          posting.id,
        ])
      await soon('who polls is written down', async () => (await polling()).length === leaves.length)
      await silentFor(served, id, alex, 3_600)
      await say(posting.alex, 'Still at it.')
      for (const { id: session, alex: convener } of [other, posting])
        await served.database.query(
          `update participants set last_seen_at = last_seen_at - interval '1 hour' where session_id = $1 and team_id = $2`,
          [session, convener.handle],
        )
      await told(id, 'convener_gone')
      await aWhile()
      expect([...kinds(other.id), ...kinds(posting.id)]).toEqual([])
      await alex('leave_session')
      for (const leave of leaves) await leave()
    })
  })

  test('after a sleep of the machine no convener counts as gone before it can be back', async () => {
    const served = await telling({}, { 'convener-watch': NEVER_MS, presence: NEVER_MS })
    await closing(served, async () => {
      const { id, bea } = await room(viaRest(served))
      const watch = convenerWatch(served.services)
      const lookIn = async (seconds: number) => {
        served.services.clock.set(Date.now() + seconds * 1_000)
        await watch.run()
        await aWhile()
      }
      await watch.run()
      await served.database.query(
        `update participants set last_seen_at = now() + interval '62 minutes' where session_id = $1 and team_id = $2`,
        [id, bea.handle],
      )
      await lookIn(3_600)
      await lookIn(3_615)
      expect(kinds(id)).toEqual([])
      for (const seconds of [3_630, 3_645, 3_661]) await lookIn(seconds)
      expect(kinds(id)).toEqual(['convener_gone'])
    })
  })

  test('a session that is concluded has no convener to miss', async () => {
    const served = await telling(QUICK)
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      await done(alex('conclude_session', { summary_section: 'Done.' }))
      await done(alex('leave_session'))
      const leave = held(bea)
      await aWhile()
      expect(kinds(id)).toEqual(['session_concluded'])
      await leave()
    })
  })

  test('a session that is archived has no convener to miss, until it is brought back', async () => {
    const served = await telling(QUICK)
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      const nora = await personAt(served)
      await done(nora('control.manage_session', { session_id: id, action: 'delete' }))
      await done(alex('leave_session'))
      const leave = held(bea)
      await aWhile()
      expect(kinds(id)).toEqual([])
      await done(nora('control.manage_session', { session_id: id, action: 'start' }))
      await told(id, 'convener_gone')
      await leave()
    })
  })

  test('an archived session whose teams repeat themselves waits for no person, until it is brought back', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id, alex, bea } = await room(viaRest(served))
      const nora = await personAt(served)
      await storm(alex, bea)
      await told(id, 'loop_suspected')
      const waiting = async () => (await needsOfSessions(served.database, 30, 100)).map(({ sessionId }) => sessionId)
      expect(await waiting()).toContain(id)
      await done(nora('control.manage_session', { session_id: id, action: 'delete' }))
      expect(await waiting()).not.toContain(id)
      await done(nora('control.manage_session', { session_id: id, action: 'start' }))
      expect(await waiting()).toContain(id)
    })
  })

  test('several instances that find the same facts tell each of them once', async () => {
    const served = await Promise.all([telling(), telling(), telling()])
    const [first] = served
    try {
      const { id, alex, bea } = await room(viaRest(first))
      await storm(alex, bea)
      await told(id, 'loop_suspected')
      await done(alex('conclude_session', { summary_section: 'Done.' }))
      const fact = { kind: 'question' as const, sessionId: id, about: 'one event' }
      await Promise.all(served.map(({ database }) => notifyPeople(database, [fact])))
      await soon('all is told', () => kinds(id).length === 3)
      await aWhile()
      expect(kinds(id).toSorted()).toEqual(['loop_suspected', 'question', 'session_concluded'])
    } finally {
      for (const { close } of served) await close()
    }
  })

  test('what was to be told when a server stopped is told by the next one, and what was told is not told again', async () => {
    const silent = await telling({}, { notices: NEVER_MS })
    const { id, alex } = await room(viaRest(silent))
    await done(alex('conclude_session', { summary_section: 'Done.' }))
    await silent.close()
    for (let n = 0; n < 2; n++) {
      const next = await telling()
      await told(id, 'session_concluded')
      await aWhile()
      await next.close()
    }
    expect(kinds(id)).toEqual(['session_concluded'])
  })

  test('what an instance had taken when it died is sent by another once its time is over', async () => {
    const silent = await telling({}, { notices: NEVER_MS })
    const { id, alex } = await room(viaRest(silent))
    await done(alex('conclude_session', { summary_section: 'Done.' }))
    await addressNotices(silent.database, '', true)
    const taken = await takeDeliveries(silent.database, '', true, 10) // and dies
    expect(taken.map(({ session_id }) => session_id)).toContain(id)
    await closing(await telling(), async () => {
      await aWhile()
      expect(kinds(id)).toEqual([])
      await silent.database.query('update notice_deliveries set due_at = now()')
      await told(id, 'session_concluded')
    })
    await silent.close()
  })

  test('of one session at most twenty notices an hour are told', async () => {
    const served = await telling()
    await closing(served, async () => {
      const { id } = await room(viaRest(served))
      const old = `insert into notices (id, session_id, kind, about, at, addressed) select gen_random_uuid(), $1, 'question', n, now() - interval '5 minutes', true from generate_series(1, 20) n`
      await served.database.query(old, [id])
      await notifyPeople(served.database, [{ kind: 'question', sessionId: id, about: 'one too many' }])
      await aWhile()
      expect(kinds(id)).toEqual([])
    })
  })

  test('an agent’s title cannot mention or link anything in a chat', async () => {
    const served = await telling()
    await closing(served, async () => {
      const title = 'Hi <!channel> <https://evil.example|click> @all'
      const { id, alex } = await room(viaRest(served), { title })
      await done(alex('conclude_session', { summary_section: 'Done.' }))
      await told(id, 'session_concluded')
      const [body] = receiver.of(id)
      expect(body!.title).toBe(title)
      expect(body!.text).not.toMatch(/[<>@]/)
    })
  })

  test('people can be told of nothing while there is nobody to tell, and nothing of it is told later', async () => {
    const served = await parley().beside({}, {}, { pushSender: push.sender(), intervals: OFTEN })
    const { id, alex } = await room(viaRest(served))
    await done(alex('conclude_session', { summary_section: 'Done.' }))
    await soon('it is looked at', async () => {
      const [row] = await served.database.query<{ addressed: boolean }>('select addressed from notices where session_id = $1', [id])
      return row?.addressed === true
    })
    await served.close()
    await closing(await telling(), async () => {
      await aWhile()
      expect(kinds(id)).toEqual([])
    })
  })
})
