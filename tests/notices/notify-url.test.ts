// NOTIFY_URL when what it leads to fails, is slow, or answers with a redirect.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { figureIn } from '../support/metrics.ts'
import { startNotifyReceiver } from '../support/notify-receiver.ts'
import { done, onOneEngine, room, soon, viaRest, type Served } from '../support/parley.ts'
import { isSomethingWaiting } from '../../src/notices/outbox.ts'
import { FULL } from '../support/full.ts'
import { createPushSender } from '../../src/notices/push-sender.ts'

onOneEngine((parley) => {
  let receiver: ReturnType<typeof startNotifyReceiver>
  let served: Served
  beforeEach(async () => {
    receiver = startNotifyReceiver()
    served = await serve(receiver.url)
  })
  afterEach(async () => {
    await receiver.stop()
    await served.close()
  })
  const serve = (NOTIFY_URL: string | undefined): Promise<Served> =>
    parley().beside({ ...(NOTIFY_URL && { NOTIFY_URL }) }, {}, { pushSender: createPushSender(), intervals: { notices: 30 } })

  const concluded = async (by: Served = served) => {
    const { id, alex } = await room(viaRest(by))
    await done(alex('conclude_session', { summary_section: 'Done.' }))
    return id
  }
  const deliveries = (id: string) =>
    served.database.query<{ tries: number; in_s: number }>(
      `select d.tries, extract(epoch from d.due_at - now())::float8 as in_s from notice_deliveries d
       join notices n on n.id = d.notice_id where n.session_id = $1`,
      [id],
    )
  const postponed = (id: string, tries: number) =>
    soon(`it failed for time ${tries} and is put off`, async () => {
      const [delivery] = await deliveries(id)
      return delivery?.tries === tries && !(delivery.in_s > 19 && delivery.in_s < 31) // while a try is under way: 30, and then less
    })
  const tryNow = () => served.database.query('update notice_deliveries set due_at = now()')
  const over = (id: string) =>
    soon('nothing more is to be sent', async () => {
      const unaddressed = await served.database.query('select from notices where session_id = $1 and not addressed', [id])
      return unaddressed.length === 0 && (await deliveries(id)).length === 0
    })
  const figure = async (outcome: string) => {
    const text = await (await served.send('/metrics')).text()
    return text.includes(`way="notify_url",outcome="${outcome}"`)
      ? figureIn(text, `parley_notices_total{way="notify_url",outcome="${outcome}"}`)
      : 0
  }
  const warnings = () => served.logged.filter((line) => line.includes('could not be told'))

  test('what fails is tried again after longer and longer pauses, logged once, and given up after the fifth time', async () => {
    receiver.answers(() => new Response('no', { status: 503 }))
    const id = await concluded()
    const pauses: number[] = []
    for (let tries = 1; tries <= 4; tries++) {
      await postponed(id, tries)
      pauses.push((await deliveries(id))[0]!.in_s)
      await tryNow()
    }
    await over(id)
    expect(pauses.map((seconds) => Math.round(seconds / 10) * 10)).toEqual([10, 60, 300, 1800])
    expect(receiver.bodies).toHaveLength(5)
    expect(await figure('failed')).toBe(1)
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]).toContain('answered 503')
  })

  test('once it works again, that is told and logged, and the next outage is logged anew', async () => {
    receiver.answers(() => new Response('no', { status: 500 }))
    const id = await concluded()
    await postponed(id, 1)
    receiver.answers(() => new Response('ok'))
    await tryNow()
    await over(id)
    expect(await figure('ok')).toBe(1)
    expect(served.logged.filter((line) => line.includes('told through NOTIFY_URL again'))).toHaveLength(1)
    receiver.answers(() => new Response('no', { status: 500 }))
    await postponed(await concluded(), 1)
    expect(warnings()).toHaveLength(2)
  })

  test('what waits when NOTIFY_URL is taken away, or for more than a day, is not sent any more', async () => {
    receiver.answers(() => new Response('no', { status: 500 }))
    const [old, waiting] = [await concluded(), await concluded()]
    for (const id of [old, waiting]) await postponed(id, 1)
    await served.database.query(`update notices set at = at - interval '25 hours' where session_id = $1`, [old])
    receiver.answers(() => new Response('ok'))
    await tryNow()
    for (const id of [old, waiting]) await over(id)
    expect([old, waiting].map((id) => receiver.of(id).length)).toEqual([1, 2])

    receiver.answers(() => new Response('no', { status: 500 }))
    const left = await concluded()
    await postponed(left, 1)
    await served.close()
    served = await serve(undefined)
    await tryNow()
    await over(left)
    expect(await isSomethingWaiting(served.database)).toBe(false)
  })

  test('what was never tried, because no server ran meanwhile, is sent however old it is', async () => {
    await served.close()
    served = await parley().beside({ NOTIFY_URL: receiver.url }, {}, { pushSender: createPushSender(), intervals: { notices: 86_400_000 } })
    const id = await concluded()
    await served.database.query(`update notices set at = at - interval '50 hours' where session_id = $1`, [id])
    await served.close()
    served = await serve(receiver.url)
    await over(id)
    expect(receiver.of(id)).toHaveLength(1)
  })

  test('Retry-After is heeded, up to an hour', async () => {
    for (const [asked, waits] of [
      ['120', 120],
      ['999999', 3600],
    ] as const) {
      receiver.answers(() => new Response('later', { status: 429, headers: { 'retry-after': asked } }))
      const id = await concluded()
      await postponed(id, 1)
      expect((await deliveries(id))[0]!.in_s).toBeWithin(waits - 10, waits + 1)
    }
  })

  test.each([301, 302, 307, 308])('a redirect (%i) is not followed, and not tried again', async (status) => {
    let followed = 0
    const elsewhere = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => (followed++, new Response('ok')) })
    receiver.answers(() => new Response(null, { status, headers: { location: `http://127.0.0.1:${elsewhere.port}/` } }))
    const id = await concluded()
    await over(id)
    expect([receiver.of(id).length, followed]).toEqual([1, 0])
    expect(warnings()[0]).toContain('a redirect, which is not followed')
    await elsewhere.stop(true)
  })

  test.each([400, 401, 403, 404, 410])('an answer that will stay the same (%i) is not asked for again', async (status) => {
    receiver.answers(() => new Response('no', { status }))
    const id = await concluded()
    await over(id)
    expect(receiver.of(id)).toHaveLength(1)
  })

  test('one that does not answer holds up neither a post, nor a conclusion, nor what is told of other sessions', async () => {
    const silence = Promise.withResolvers<Response>()
    receiver.answers(() => silence.promise)
    const first = await concluded()
    await soon('the first is under way', () => receiver.of(first).length === 1)
    receiver.answers(() => new Response('ok'))
    const second = await concluded()
    await over(second)
    expect(receiver.of(second)).toHaveLength(1)
    silence.resolve(new Response('ok'))
    await over(first)
  })

  test.skipIf(!FULL)(
    'one that does not answer is given ten seconds',
    async () => {
      receiver.answers(() => new Promise<Response>(() => {}))
      const id = await concluded()
      await soon('it is put off', async () => warnings().length === 1, 20)
      expect(warnings()[0]).toContain('no answer within 10 s')
      await postponed(id, 1)
    },
    180_000,
  )

  test('its URL, which may hold a token, stands in no line of the log, on no page and in no answer', async () => {
    receiver.answers(() => new Response('no', { status: 500 }))
    const gone = await serve('http://127.0.0.1:1/T024-hook-of-the-test')
    await receiver.stop()
    await concluded(gone)
    await soon('it failed', () => [...gone.logged, ...served.logged].some((line) => line.includes('the connection')))
    const pages = await Promise.all(['/settings', '/api/config', '/metrics'].map(async (path) => (await gone.send(path)).text()))
    expect([...served.logged, ...gone.logged, ...pages].filter((text) => text.includes('T024'))).toEqual([])
    await gone.close()
  })
})
