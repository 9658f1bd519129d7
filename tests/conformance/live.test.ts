// The stream of an open page, as a client without a browser sees it. What the page makes of it: tests/browser/live.test.ts.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, onOneEngine, room, say, soon, viaRest, type Served } from '../support/parley.ts'

const IDLE_VIEWERS = 100

interface Frame {
  id?: string
  event?: string
  data: string
}

/** The events of a stream, one after the other, read as a browser reads them: a line ends at \r too. */
const framesOf = (response: Response) => {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end < 0) {
        const { done, value } = await reader.read()
        if (done) return undefined
        text += decoder.decode(value, { stream: true })
        continue
      }
      const lines = text.slice(0, end).split(/\r\n|\r|\n/)
      text = text.slice(end + 2)
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart())
      if (field('data').length === 0) continue
      const [[id], [event]] = [field('id'), field('event')]
      return { ...(id && { id }), ...(event && { event }), data: field('data').join('\n') }
    }
  }
  return { next, cancel: () => reader.cancel() }
}
type Stream = ReturnType<typeof framesOf>

const rowsIn = ({ data }: Frame) => [...data.matchAll(/<li id="m(\d+)"/g)].map(([, sequence]) => Number(sequence))
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

/** Reads until rows have come; the last frame, with the data of all. Each second there may be one of the state alone. */
const nextRows = async (stream: Stream): Promise<Frame> => {
  for (let data = ''; ;) {
    const frame = await stream.next()
    if (!frame) throw new Error('the stream ended without a row')
    data += frame.data
    if (rowsIn(frame).length > 0) return { ...frame, data }
  }
}

/** Reads until `count` rows have come; they, and the last id. */
const collect = async (stream: Stream, count: number) => {
  const rows: number[] = []
  let id = ''
  while (rows.length < count) {
    const frame = await stream.next()
    if (!frame) throw new Error(`the stream ended after ${rows.length} rows`)
    rows.push(...rowsIn(frame))
    id = frame.id ?? id
  }
  return { rows, id }
}

onOneEngine((parley) => {
  const begin = async (served: Served = parley()) => {
    const { id, alex, bea } = await room(viaRest(served))
    const open = (query = '', headers: Record<string, string> = {}) => served.send(`/sessions/${id}/live${query}`, { headers })
    return { id, alex, bea, open }
  }

  test('a live stream brings the missing rows, then the state, then new rows, as markup with its place', async () => {
    const { alex, open } = await begin()
    await say(alex, 'before')
    const response = await open('?after=0')
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const stream = framesOf(response)
    const missed = (await stream.next())!
    expect(missed.data).toStartWith('<hx-partial hx-target="#rows" hx-swap="beforeend"><li id="m1"')
    expect(rowsIn(missed)).toEqual([1, 2])
    const state = (await stream.next())!
    expect(state.id).toBe('2.0')
    for (const place of ['session-head', 'roster', 'listening', 'lanes', 'count']) expect(state.data).toContain(`hx-target="#${place}"`)
    await say(alex, 'live')
    const live = await nextRows(stream)
    expect(live).toMatchObject({ id: '3.0' })
    expect(rowsIn(live)).toEqual([3])
    await stream.cancel()
  })

  test('it goes on after Last-Event-ID without loss or repeat, again and again while others post', async () => {
    const { alex, bea, open } = await begin()
    const seen: number[] = []
    let id = '0.0'
    const read = async () => {
      while (seen.length < 61) {
        const stream = framesOf(await open('?after=9', { 'last-event-id': id }))
        const part = await collect(stream, Math.min(7, 61 - seen.length))
        seen.push(...part.rows)
        id = part.id
        await stream.cancel()
      }
    }
    const write = async (who: typeof alex) => {
      for (let n = 0; n < 30; n++) await say(who, `${n}`)
    }
    await Promise.all([read(), write(alex), write(bea)])
    expect(seen).toEqual(upTo(61))
  })

  test('twenty viewers at different places all get all of it once', async () => {
    const { alex, open } = await begin()
    for (let n = 0; n < 30; n++) await Promise.all(Array.from({ length: 10 }, (_, i) => say(alex, `${i}`)))
    const reading = Array.from({ length: 20 }, async (_, n) => {
      const stream = framesOf(await open(`?after=${n * 15}`))
      const { rows } = await collect(stream, 351 - n * 15)
      await stream.cancel()
      return rows
    })
    const writing = Promise.all(Array.from({ length: 50 }, (_, i) => say(alex, `late ${i}`)))
    for (const [n, rows] of (await Promise.all(reading)).entries()) expect(rows).toEqual(upTo(351).slice(n * 15))
    await writing
  })

  test('no text ends a frame, begins a field or places itself', async () => {
    const { alex, open } = await begin()
    const stream = framesOf(await open('?after=1'))
    await stream.next()
    await say(alex, 'a\rid: 99.9\rdata: forged\r\revent: closed\n\ndata: forged\n\n<hx-partial hx-target="#roster">forged</hx-partial>')
    const frame = await nextRows(stream)
    expect(frame.id).toBe('2.0')
    expect(frame.event).toBeUndefined()
    expect(frame.data.match(/<hx-partial/g)!.length).toBe(
      frame.data.match(/<hx-partial hx-target="#(rows|lanes|count|roster|listening)" hx-swap/g)!.length,
    )
    expect(frame.data).toContain('&lt;hx-partial')
    await stream.cancel()
  })

  test('the document is told by version, and fetched by it', async () => {
    const { id, alex, open } = await begin()
    const stream = framesOf(await open('?after=1'))
    await stream.next()
    await done(alex('append_to_session_doc', { text: '# Plan' }))
    let frame = (await stream.next())!
    while (!frame.data.includes('#written')) frame = (await stream.next())!
    expect(frame.id).toBe('1.1')
    expect(frame.data).toContain('data-version="1"')
    expect(frame.data).not.toContain('Plan')
    const get = async (version: number) => (await parley().send(`/sessions/${id}/document?version=${version}`)).text()
    expect(await get(1)).toContain('Plan')
    expect(await get(99)).toContain('data-version="1"') // what is not there yet must not be kept for when it is
    await done(alex('append_to_session_doc', { text: 'more' }))
    expect(await get(2)).toContain('more')
    await stream.cancel()
    const again = framesOf(await open('', { 'last-event-id': '1.2' }))
    expect((await again.next())!.data).toContain('hx-target="#written"') // for how long it has stood is shown with the version
    await again.cancel()
  })

  test('after the last event of a closed session the live stream says so and ends; a reopened one is followed again', async () => {
    const { id, alex, open } = await begin()
    const live = framesOf(await open('?after=1'))
    await live.next()
    await done(alex('conclude_session', { summary_section: 'end' }))
    const frame = await nextRows(live)
    expect(rowsIn(frame)).toEqual([2])
    expect(frame.data).toContain('data-concluded')
    expect(await live.next()).toMatchObject({ event: 'closed' })
    expect(await live.next()).toBeUndefined()
    expect((await open('', { 'last-event-id': '2.1' })).status).toBe(204)
    const asked = async (after: number) => (await parley().send(`/sessions/${id}/live?after=${after}&doc=1`, { method: 'HEAD' })).status
    expect([await asked(1), await asked(2)]).toEqual([200, 204])
    const late = framesOf(await open('?after=1'))
    expect(rowsIn((await late.next())!)).toEqual([2])
    expect((await late.next())!.data).toContain('Concluded')
    expect(await late.next()).toMatchObject({ event: 'closed' })
    await done(alex('reopen_session', { reason: 'more' }))
    await say(alex, 'on')
    const on = framesOf(await open('', { 'last-event-id': '2.1' }))
    expect((await collect(on, 2)).rows).toEqual([3, 4])
    await on.cancel()
  })

  test('a session that cannot be shown keeps no other from its pages, and is logged once', async () => {
    const { database, logged } = parley()
    const broken = await begin()
    const whole = await begin()
    const [one, other] = [framesOf(await broken.open('?after=0')), framesOf(await whole.open('?after=0'))]
    await Promise.all([one.next(), other.next()])
    await database.query(`update sessions set agentic_tool = 'x', agent_status = 'idle', permission_mode = 'default' where id = $1`, [
      broken.id,
    ])
    await database.query(
      `insert into agents (session_id, root_session_id, team_id, context_files, mcp_servers) values ($1, $1, $1, '[]', '[]')`,
      [broken.id],
    )
    await database.query(
      `insert into tasks (id, session_id, message_id, status, mode, prompt, prompted_by, start_sequence, turn, error)
      values ($1, $1, $1, 'failed', 'continue', '', '{}', 1, 1, '{"code": "x", "message": {"not": "a text"}}')`,
      [broken.id],
    )
    const warnings = () => logged.filter((line) => line.includes('a watched session cannot be shown') && line.includes(broken.id)).length
    for (const text of ['# Plan', 'more']) {
      await soon('it is logged', () => warnings() === 1)
      await done(whole.alex('append_to_session_doc', { text }))
      while (!(await other.next())!.data.includes('#written'));
    }
    expect(warnings()).toBe(1)
    await database.query(`update tasks set error = null where id = $1`, [broken.id])
    while (!(await one.next())!.data.includes('id="agent"'));
    await Promise.all([one.cancel(), other.cancel()])
  })

  test('viewers that take nothing are cut once a megabyte lies there for each, and what they missed is still to be had', async () => {
    const { alex, open } = await begin()
    const idle = await Promise.all(Array.from({ length: IDLE_VIEWERS }, async () => framesOf(await open('?after=1'))))
    for (const viewer of idle) await viewer.next() // and no more
    const reader = framesOf(await open('?after=1'))
    await soon('all are there', () => parley().services.streams.open === IDLE_VIEWERS + 1)
    await reader.next()
    const text = 'x'.repeat(30 * 1024)
    let read = 0
    for (let n = 0; n < 60 && parley().services.streams.open > 1; n++) {
      await say(alex, text)
      read += (await collect(reader, 1)).rows.length
    }
    expect(parley().services.streams.open).toBe(1)
    expect(read).toBeGreaterThan(30)
    for (const viewer of idle) await expect(viewer.next()).rejects.toBeUndefined() // cut off, not ended
    const back = framesOf(await open('?after=1'))
    expect((await collect(back, read)).rows).toEqual(upTo(read + 1).slice(1))
    await back.cancel()
    await reader.cancel()
  })

  test('older rows come in pages that join, and so do those of a gap', async () => {
    const { id, alex } = await begin()
    for (let n = 0; n < 25; n++) await Promise.all(Array.from({ length: 10 }, (_, i) => say(alex, `${i}`)))
    const get = async (query: string) => (await parley().send(`/sessions/${id}/rows?${query}`)).text()
    const first = await get('before=152')
    expect(rowsIn({ data: first })).toEqual(upTo(151).slice(51))
    expect(first).toContain('data-before="52"')
    expect(first.match(/class="row row-message[^"]*pt-3/g)).toBeNull() // all of one breath, also with the row above them
    const second = await get('before=52')
    expect(rowsIn({ data: second })).toEqual(upTo(51))
    expect(/ data-before=/.test(second)).toBe(false)
    const gap = await get('after=10&until=120')
    expect(rowsIn({ data: gap })).toEqual(upTo(110).slice(10))
    expect(gap).toContain('data-after="110" data-until="120"')
    const rest = await get('after=110&until=120')
    expect(rowsIn({ data: rest })).toEqual(upTo(120).slice(110))
    expect(rest).not.toContain('id="gap"')
  })

  test('a row shows whom it answers, also when that is far above', async () => {
    const { id, alex, bea, open } = await begin()
    const { message_id } = await say(alex, 'the question')
    for (let n = 0; n < 12; n++) await Promise.all(Array.from({ length: 10 }, (_, i) => say(alex, `${i}`)))
    const stream = framesOf(await open(`?after=122`))
    await stream.next()
    await say(bea, 'the answer', { reply_to: message_id })
    const { data } = await nextRows(stream)
    expect(data).toContain('answers <bdi>Alex&#x27;s Team</bdi>, #2')
    expect(await (await parley().send(`/sessions/${id}`)).text()).toContain('answers <bdi>Alex&#x27;s Team</bdi>, #2')
    await stream.cancel()
  })

  test('what is asked wrongly is refused, and leaves nobody behind', async () => {
    const { id, open } = await begin()
    for (const query of ['after=x', 'after=-1', 'after=99', 'doc=x']) expect((await open(`?${query}`)).status).toBe(400)
    expect((await open('', { 'last-event-id': 'x' })).status).toBe(400)
    for (const part of ['live', 'rows', 'document']) {
      expect((await parley().send(`/sessions/${crypto.randomUUID()}/${part}`)).status).toBe(404)
      expect((await parley().send(`/sessions/nonsense/${part}`)).status).toBe(404)
      expect((await parley().send(`/sessions/${id}/${part}`, { method: 'POST', body: '' })).status).toBe(405)
    }
    expect((await parley().send(`/sessions/${id}/live`, { method: 'HEAD' })).status).toBe(200)
    await soon('nobody is left', () => parley().services.streams.open === 0 && parley().services.waiters.size === 0)
  })

  test('viewers that go away leave nothing behind', async () => {
    const { alex, open } = await begin()
    const streams = await Promise.all(Array.from({ length: 20 }, async () => framesOf(await open('?after=1'))))
    await Promise.all(streams.map((stream) => stream.next()))
    expect(parley().services.streams.open).toBe(20)
    expect(parley().services.waiters.size).toBe(1) // one follows for all
    await Promise.all(streams.map((stream) => stream.cancel()))
    await soon('all are gone', () => parley().services.streams.open === 0 && parley().services.waiters.size === 0)
    await say(alex, 'to nobody')
    const back = framesOf(await open('?after=1'))
    expect((await collect(back, 1)).rows).toEqual([2])
    await back.cancel()
  })

  test('with VIEWER_PASSWORD the page’s parts are for those who signed in', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: 'the viewers password' })
    const { id } = await room(viaRest(served))
    const cookie = await cookieOf(served, { name: 'Robin', role: 'reader' })
    for (const part of ['live', 'rows?before=9', 'document']) {
      expect((await served.send(`/sessions/${id}/${part}`)).status).toBe(401)
      const response = await served.send(`/sessions/${id}/${part}`, { headers: { cookie } })
      expect(response.status).toBe(200)
      await response.body?.cancel()
    }
    await soon('nobody is left', () => served.services.streams.open === 0)
  })

  test('a stream past MAX_STREAMS is 503, and a server that stops ends them', async () => {
    const served = await parley().beside({ MAX_STREAMS: '1' })
    const { open } = await begin(served)
    const stream = framesOf(await open('?after=1'))
    await stream.next()
    const refused = await open('?after=1')
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    served.services.drain()
    while ((await stream.next()) !== undefined);
    await soon('nobody is left', () => served.services.streams.open === 0 && served.services.waiters.size === 0)
  })
})
