// The document's versions as rows of the feed, as a client without a browser sees them: on the page, in what it brings later, and live.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { fewestStatements } from '../support/fewest-statements.ts'
import { cookieOf, done, onOneEngine, room, say, soon, viaRest, type Seat, type Served } from '../support/parley.ts'

type Row = string // `m3` an event, `d2-4` an edit that made the versions 2 to 4

const LINE = /<li id="([md])(\d+)" class="row(?:(?!<\/li>).)*?(?:\?from=\d+&amp;to=(\d+)"|(?=<\/li>))/gs
const rowsIn = (html: string): Row[] =>
  [...html.matchAll(LINE)].map(([, kind, from, to]) => (kind === 'm' ? `m${from}` : from === to ? `d${from}` : `d${from}-${to}`))

/** The feed of an open page: what the partials of its stream make of it. */
class OpenFeed {
  constructor(
    public rows: Row[] = [],
    public id = '0.0',
  ) {}

  take(frame: string) {
    this.id = /^id: (\S+)$/m.exec(frame)?.[1] ?? this.id
    for (const [, target, html] of frame
      .replaceAll('\ndata: ', '\n')
      .matchAll(/<hx-partial hx-target="([^"]*)"[^>]*>(.*?)<\/hx-partial>/gs)) {
      if (target === '#rows') this.rows.push(...rowsIn(html!))
      const [, first] = /^#(d\d+)$/.exec(target!) ?? []
      if (first === undefined) continue
      const at = this.rows.findIndex((row) => row.split('-')[0] === first)
      expect(at).toBeGreaterThanOrEqual(0)
      this.rows.splice(at, 1, ...rowsIn(html!))
    }
  }

  /** Follows until `enough`, on a connection of its own. */
  async follow(served: Served, path: string, enough: () => boolean) {
    const response = await served.send(`${path}/live`, { headers: { 'last-event-id': this.id } })
    expect(response.status).toBe(200)
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!enough()) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const frame of frames) this.take(frame)
    }
    await reader.cancel()
  }
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

onOneEngine((parley) => {
  const begin = async (served: Served = parley()) => {
    const { id, alex, bea } = await room(viaRest(served))
    const path = `/sessions/${id}`
    const get = async (query = '', headers: Record<string, string> = {}) =>
      (await served.send(`${path}${query}`, { headers: { accept: 'text/html', ...headers } })).text()
    const append = (who: Seat, text = '- a line\n') => done(who('append_to_session_doc', { text }))
    return { id, path, alex, bea, get, append }
  }
  // m1 is Bea's Team joining.
  const written = async () => {
    const all = await begin()
    const { alex, bea, append } = all
    await append(alex, '# Plan\n')
    await append(alex)
    await append(bea)
    await Bun.sleep(2)
    await say(alex, 'one') // m2
    await Bun.sleep(2)
    await append(bea)
    await Bun.sleep(2)
    await say(alex, 'two') // m3
    await say(alex, 'three') // m4
    await append(alex)
    await append(alex)
    return { ...all, rows: ['m1', 'd1-2', 'd3', 'm2', 'd4', 'm3', 'm4', 'd5-6'] }
  }

  test('edits stand where they were written, one row for what one team wrote in one go, with the lines that changed', async () => {
    const { get, rows } = await written()
    const page = await get()
    expect(rowsIn(page)).toEqual(rows)
    const text = page.replaceAll(/<[^>]*>/g, '')
    expect(text).toContain('Alex&#x27;s Team updated the document, v1 to v2+2 lines−0 lines')
    expect(text).toContain('Bea&#x27;s Team updated the document to v3+1 lines−0 lines')
    expect(page).toMatch(/id="m3" class="[^"]*pt-3/) // somebody else wrote before: the name is said again
    expect(page).toMatch(/id="m4" class="[^"]*py-0\.5/)
    expect(rowsIn(await get('?all=1'))).toEqual(rows)
  })

  test('a row links to a difference that is there, and a guest is offered none', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: 'the viewers password' })
    const { id, path, alex, get, append } = await begin(served)
    await append(alex)
    await say(alex, 'one')
    const robin = await cookieOf(served, { name: 'Robin', role: 'person' })
    const [href] = /\/sessions\/[^"]*\?from=0&amp;to=1/.exec(await get('', { cookie: robin }))!
    expect(await get(href.replace(path, '').replaceAll('&amp;', '&'), { cookie: robin })).toContain('v0 → v1')
    const { url } = await done(viaRest(served)('share_session', { session_id: id }, { person: robin }))
    const opened = await served.send(new URL(url as string).pathname, { headers: { accept: 'text/html' } })
    const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
    for (const query of ['', '?all=1', '?around=1', '/rows?before=9', '/rows?after=0&until=9']) {
      const page = await get(query, { cookie })
      expect(page).toContain('updated the document')
      expect(page).not.toContain(`${path}/history`)
    }
  })

  test('pages of older rows, of a gap and around a row join without a loss or a double', async () => {
    const { alex, bea, get, append } = await begin()
    const expected: Row[] = ['m1']
    for (let n = 2; n <= 240; n++) {
      await say(alex, `${n}`)
      expected.push(`m${n}`)
      if (n % 7 !== 0) continue
      await Bun.sleep(2) // at the same millisecond the message would come first
      await append(n % 2 ? alex : bea)
      await Bun.sleep(2)
      expected.push(`d${n / 7}`)
    }
    const newest = rowsIn(await get())
    const older = rowsIn(await get('/rows?before=141'))
    const oldest = rowsIn(await get('/rows?before=41'))
    expect([...oldest, ...older, ...newest]).toEqual(expected)
    expect(rowsIn(await get('?all=1'))).toEqual(expected)
    await append(bea) // after the last event
    const [before, after] = (await get('?around=100')).split('id="gap"')
    const gap = rowsIn(await get('/rows?after=150&until=240'))
    const above = rowsIn(await get('/rows?before=50'))
    expect([...above, ...rowsIn(before!), ...gap, ...rowsIn(after!)]).toEqual([...expected, 'd35'])
  })

  test('who comes late or again is told what is missing, and an edit that went on takes its row’s place', async () => {
    const { path, alex, bea, append, rows, get } = await written()
    const feed = new OpenFeed()
    await feed.follow(parley(), path, () => feed.rows.length === rows.length)
    expect(feed.rows).toEqual(rows)
    expect(feed.id).toBe('4.6')
    await append(alex)
    await append(bea)
    await feed.follow(parley(), path, () => feed.rows.at(-1) === 'd8')
    expect(feed.rows).toEqual([...rows.slice(0, -1), 'd5-7', 'd8'])
    const late = new OpenFeed(rows.slice(0, 4), '2.3') // a page that had no more yet
    await append(bea)
    await Bun.sleep(2)
    await say(alex, 'four')
    await late.follow(parley(), path, () => late.rows.at(-1) === 'm5')
    expect(late.rows).toEqual([...rows.slice(0, -1), 'd5-7', 'd8-9', 'm5'])
    expect(rowsIn(await get())).toEqual(late.rows)
    const liar = new OpenFeed([], '5.99')
    const stream = liar.follow(parley(), path, () => liar.rows.length > 0)
    await say(alex, 'five')
    await stream
    expect(liar.rows).toEqual(['m6'])
  })

  test('live as after a reload, what several wrote by turns with nothing said in between is three rows', async () => {
    const { path, alex, bea, get, append } = await begin()
    const feed = new OpenFeed()
    for (const [i, who] of [alex, bea, alex, bea, alex, alex, bea, bea, alex].entries()) {
      await append(who)
      await feed.follow(parley(), path, () => feed.id === `1.${i + 1}`)
      expect(feed.rows).toEqual(rowsIn(await get()))
    }
    expect(feed.rows).toEqual(['m1', 'd1-6', 'd7-8', 'd9'])
    const late = new OpenFeed(['m1', 'd1', 'd2', 'd3'], '1.3')
    await late.follow(parley(), path, () => late.id === '1.9')
    expect(late.rows).toEqual(feed.rows)
  })

  test('no edit is lost or comes twice on a live page, whoever writes and however often it reconnects', async () => {
    const { path, alex, bea, get, append } = await begin()
    const OWN = 12
    const write = async (who: Seat) => {
      for (let n = 0; n < OWN; n++) {
        await say(who, `${n}`)
        await append(who)
        if (n % 4 === 0) await append(who)
      }
    }
    const feed = new OpenFeed()
    const END = `m${2 + 2 * OWN}`
    const reading = (async () => {
      while (!feed.rows.includes(END)) {
        const had = feed.rows.length
        await feed.follow(parley(), path, () => feed.rows.length > had + 5 || feed.rows.includes(END))
      }
    })()
    await Promise.all([write(alex), write(bea)])
    await Bun.sleep(2)
    await say(alex, 'the end')
    await reading
    const told = (kind: 'm' | 'd') =>
      feed.rows
        .filter((row) => row.startsWith(kind))
        .flatMap((row) => {
          const [from, to = from] = row.slice(1).split('-').map(Number)
          return Array.from({ length: to! - from! + 1 }, (_, i) => from! + i)
        })
    expect(told('m')).toEqual(upTo(2 + 2 * OWN))
    expect(told('d')).toEqual(upTo((5 * OWN) / 2))
    const whole = rowsIn(await get('?all=1'))
    expect(whole.filter((row) => row.startsWith('m'))).toEqual(feed.rows.filter((row) => row.startsWith('m')))
  })

  test('on a live page edits stand where they stand after a reload, however late they are read', async () => {
    const { id, path, alex, bea, get, append } = await begin()
    const { database } = parley().services
    const { query } = database
    let meanwhile: (() => Promise<unknown>) | undefined // happens after an event was read, and before the edits that go with it are
    database.query = async (text: string, values?: unknown[]) => {
      const act = text.includes('session_doc_history, range') && values?.[0] === id ? meanwhile : undefined
      if (act) meanwhile = undefined
      await act?.()
      return query(text, values as any)
    }
    const live = new OpenFeed()
    const following = live.follow(parley(), path, () => live.rows.includes('m4'))
    try {
      await soon('the page has the first row', () => live.rows.length > 0)
      meanwhile = async () => {
        await say(bea, 'two') // m3
        await Bun.sleep(2)
        await append(alex)
      }
      await say(alex, 'one') // m2
      await soon('all was written', () => meanwhile === undefined)
      await soon('the edit is told', () => live.rows.includes('d1'))
      await say(bea, 'three') // m4
      await following
    } finally {
      database.query = query
    }
    expect(live.rows).toEqual(['m1', 'm2', 'm3', 'd1', 'm4'])
    expect(rowsIn(await get())).toEqual(live.rows)
  })

  test('a conclusion tells of its version itself, and what nobody spoke after is there too', async () => {
    const { alex, path, get, append } = await begin()
    const live = new OpenFeed()
    const following = live.follow(parley(), path, () => live.rows.includes('m2'))
    await append(alex)
    await done(alex('conclude_session', { summary_section: 'It ships.' }))
    await following
    expect(live.rows).toEqual(['m1', 'd1', 'm2'])
    expect(rowsIn(await get())).toEqual(live.rows)
  })

  test('thousands of versions cost a page a few rows, and no reading of their texts', async () => {
    const { id, alex, get, append } = await begin()
    await append(alex, '# Plan\n')
    const { query } = parley().database
    const others = `insert into session_doc_history (session_id, version, content, written_by, written_at)
      select $1, n, repeat('x', 65537), case when n % 2 = 0 then 'Kim' else 'Noor' end, now() + n * interval '1 second' from generate_series(2, $2::int) n`
    await query(others, [id, 3_000])
    await query('update session_docs set version = 3000 where session_id = $1', [id])
    const read = async () => {
      const rows: number[] = []
      for (const part of ['', '?all=1', '/rows?before=2']) rows.push(rowsIn(await get(part)).length)
      return rows
    }
    expect(await read()).toEqual([4, 4, 1]) // one event; the newest two edits, and all before them as one
    expect(await fewestStatements(parley().database, read, 39)).toBeLessThan(40)
    const page = await get()
    expect(page).toContain('The document was updated, ')
    expect(rowsIn(page).at(1)).toBe('d1-2998')
  })
})
