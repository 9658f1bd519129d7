import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, leaveTrace, onOneEngine, room, say, soon, viaRest } from '../support/parley.ts'
import { framesOf } from '../support/sse.ts'

onOneEngine((parley) => {
  const begin = async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    const open = (query = '', headers: Record<string, string> = {}) => parley().send(`/api/sessions/${id}/stream${query}`, { headers })
    return { id, alex, bea, open }
  }

  test('[A5] it tells the whole feed from its first event, and then what is said, without a credential', async () => {
    const { alex, open } = await begin()
    await say(alex, 'before')
    const response = await open()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const stream = framesOf(response)
    expect(await stream.take(2)).toMatchObject([
      { id: '1', data: { sequence: 1, event: 'team_joined' } },
      { id: '2', data: { sequence: 2, content: { text: 'before' } } },
    ])
    const pending = stream.next()
    await say(alex, 'live\n\ndata: forged')
    expect(await pending).toMatchObject({ id: '3', data: { content: { text: 'live\n\ndata: forged' } } })
    await stream.cancel()
  })

  test('an event is the same in stream, wait and history', async () => {
    const { alex, open } = await begin()
    await say(alex, 'same')
    const stream = framesOf(await open('?after=1'))
    const frame = await stream.next()
    const { messages } = await done(alex('wait_for_messages', { since_cursor: 1, timeout: 0 }))
    expect(frame!.data).toEqual(messages[0])
    const { acknowledged_by: _, ...row } = (await done(alex('get_history', { limit: 1 }))).messages[0]
    expect(frame!.data).toEqual(row)
    await stream.cancel()
  })

  test('it resumes after Last-Event-ID, which wins over after', async () => {
    const { alex, open } = await begin()
    for (const text of ['two', 'three', 'four']) await say(alex, text)
    const stream = framesOf(await open('?after=0', { 'last-event-id': '3' }))
    expect(await stream.next()).toMatchObject({ id: '4' })
    await stream.cancel()
  })

  test('a reader that reconnects again and again while others post misses nothing and sees nothing twice', async () => {
    const { alex, bea, open } = await begin()
    const seen: string[] = []
    const read = async () => {
      while (seen.length < 41) {
        const stream = framesOf(await open('', seen.length > 0 ? { 'last-event-id': seen.at(-1)! } : {}))
        for (let n = 0; n < 7 && seen.length < 41; n++) seen.push((await stream.next())!.id!)
        await stream.cancel()
      }
    }
    const write = async (who: typeof alex) => {
      for (let n = 0; n < 20; n++) await say(who, `${n}`)
    }
    await Promise.all([read(), write(alex), write(bea)])
    expect(seen).toEqual(Array.from({ length: 41 }, (_, n) => String(n + 1)))
  })

  test('after the last event of a closed session it says closed and ends', async () => {
    const { alex, open } = await begin()
    const live = framesOf(await open('?after=1'))
    await done(alex('conclude_session', { summary_section: 'end' }))
    for (const stream of [live, framesOf(await open('?after=1')), framesOf(await open('?after=1', { 'last-event-id': '1' }))]) {
      expect(await stream.take(3)).toMatchObject([{ id: '2', data: { event: 'session_concluded' } }, { event: 'closed' }, undefined] as any)
    }
  })

  test('a reconnect at the end of a closed session gets 204, so that the browser stops', async () => {
    const { alex, id, open } = await begin()
    await done(alex('conclude_session', { summary_section: 'end' }))
    expect((await open('', { 'last-event-id': '2' })).status).toBe(204)
    const first = framesOf(await open('?after=2'))
    expect(await first.take(2)).toMatchObject([{ event: 'closed' }, undefined] as any)
    await leaveTrace(parley(), id, 'runtime', 'exit')
    expect((await open('', { 'last-event-id': '2' })).status).toBe(204)
    const traced = framesOf(await open('?include_trace=true', { 'last-event-id': '2' }))
    expect(await traced.take(3)).toMatchObject([{ id: '3', data: { type: 'runtime' } }, { event: 'closed' }, undefined] as any)
  })

  test('a session that was reopened goes on', async () => {
    const { alex, open } = await begin()
    await done(alex('conclude_session', { summary_section: 'end' }))
    await done(alex('reopen_session', { reason: 'more' }))
    const stream = framesOf(await open())
    expect((await stream.take(3)).map((frame) => frame!.data.event)).toEqual(['team_joined', 'session_concluded', 'session_reopened'])
    const pending = stream.next()
    await say(alex, 'on')
    expect(await pending).toMatchObject({ id: '4', data: { content: { text: 'on' } } })
    await stream.cancel()
  })

  test('the trace comes only to whom asks for it', async () => {
    const { id, alex, open } = await begin()
    const plain = framesOf(await open('?after=1'))
    const traced = framesOf(await open('?after=1&include_trace=true'))
    await leaveTrace(parley(), id, 'tool_call', 'ls')
    await say(alex, 'done')
    expect((await plain.next())!.id).toBe('3')
    expect((await traced.take(2)).map((frame) => frame!.id)).toEqual(['2', '3'])
    await plain.cancel()
    await traced.cancel()
  })

  test('more than a page comes whole', async () => {
    const { alex, open } = await begin()
    for (let n = 0; n < 6; n++) await Promise.all(Array.from({ length: 100 }, (_, i) => say(alex, `${i}`)))
    const stream = framesOf(await open())
    const frames = await stream.take(601)
    expect(frames.map((frame) => Number(frame!.id))).toEqual(Array.from({ length: 601 }, (_, n) => n + 1))
    await stream.cancel()
  })

  test.each(['after=x', 'after=-1', 'after=1.5', 'after=', 'after=99999999999999999999', 'include_trace=yes'])(
    '?%s is 400 in JSON',
    async (query) => {
      const response = await (await begin()).open(`?${query}`)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', details: { field: query.split('=')[0] } } })
    },
  )

  test('after beyond the end is refused and told where the end is', async () => {
    const response = await (await begin()).open('?after=2')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', details: { field: 'after', last_sequence: 1 } } })
  })

  test('an argument that it does not know is refused, and one that is wrong is named', async () => {
    const { id, open } = await begin()
    const unknown = await open('?since_cursor=1')
    expect([unknown.status, (await unknown.json()).error.details]).toEqual([400, { field: 'since_cursor' }])
    const resumed = await parley().send(`/api/sessions/${id}/stream`, { headers: { 'last-event-id': 'nonsense' } })
    expect([resumed.status, (await resumed.json()).error.details]).toEqual([400, { field: 'Last-Event-ID' }])
  })

  test.each([
    ['in capitals', (id: string) => id.toUpperCase()],
    ['as the link of its page', (id: string) => `http://127.0.0.1:7423/sessions/${id}#m1`],
  ])('an id %s is taken, as by every operation', async (_, written) => {
    const { id } = await begin()
    const stream = framesOf(await parley().send(`/api/sessions/${encodeURIComponent(written(id))}/stream`))
    expect(await stream.next()).toMatchObject({ id: '1' })
    await stream.cancel()
  })

  test('a session that is not there is 404', async () => {
    for (const id of ['nonsense', crypto.randomUUID()]) {
      const response = await parley().send(`/api/sessions/${id}/stream`)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'not_found' } })
    }
  })

  test('a reader that goes away leaves nothing behind', async () => {
    const { open } = await begin()
    await soon('earlier readers are gone', () => parley().services.streams.open === 0)
    const streams = await Promise.all(Array.from({ length: 20 }, async () => framesOf(await open())))
    await Promise.all(streams.map((stream) => stream.next()))
    expect(parley().services.streams.open).toBe(20)
    await Promise.all(streams.map((stream) => stream.cancel()))
    await soon('all are gone', () => parley().services.streams.open === 0 && parley().services.waiters.size === 0)
  })

  test('HEAD and refused calls arm nobody', async () => {
    const { id } = await begin()
    await parley().send(`/api/sessions/${id}/stream`, { method: 'HEAD' })
    await parley().send(`/api/sessions/${id}/stream?after=x`)
    await parley().send(`/api/sessions/${crypto.randomUUID()}/stream`)
    await soon('nobody is armed', () => parley().services.streams.open === 0 && parley().services.waiters.size === 0)
  })

  describe('limits', () => {
    test('a stream past MAX_STREAMS is 503 with Retry-After, until another ends', async () => {
      const served = await parley().beside({ MAX_STREAMS: '1' })
      const { id } = await room(viaRest(served))
      const open = () => served.send(`/api/sessions/${id}/stream`)
      const first = framesOf(await open())
      await first.next()
      const refused = await open()
      expect(refused.status).toBe(503)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      await first.cancel()
      await soon('the first is gone', () => served.services.streams.open === 0)
      const second = await open()
      expect(second.status).toBe(200)
      await second.body!.cancel()
    })

    test('a server that stops ends its streams and answers its waits', async () => {
      const served = await parley().beside({})
      const { id, alex } = await room(viaRest(served))
      const stream = framesOf(await served.send(`/api/sessions/${id}/stream?after=1`))
      const waiting = alex('wait_for_messages', { since_cursor: 1, timeout: 20 })
      await soon('it is held', () => served.services.waits.held === 1)
      served.services.drain()
      expect(await done(waiting)).toEqual({ messages: [], next_cursor: 1, doc_version: 0, session_closed: false, has_more: false })
      while ((await stream.next()) !== undefined);
      await soon('nobody is left', () => served.services.streams.open === 0 && served.services.waiters.size === 0)
    })
  })
})
