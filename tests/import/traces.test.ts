import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { DatabaseTimeout } from '../../db/database.ts'
import { bodySource } from '../../src/import/source.ts'
import { importTranscript } from '../../src/import/transcript.ts'
import { controlScene } from '../support/control-scene.ts'
import { askOverRest, indexed } from '../support/history.ts'
import { cookieOf, done, NEVER_MS, onEveryEngine, room, say, soon, viaRest } from '../support/parley.ts'
import { said } from '../support/played-runner.ts'
import { claudeLine, dataFile, eventsOf, forget, outline, sessionRow } from '../support/transcripts.ts'

const session = () => crypto.randomUUID()
const OTHER = '11111111-2222-4333-8444-555555555555'

onEveryEngine((parley, engine) => {
  const post = async (body: BodyInit, query = '', headers: Record<string, string> = {}, at = parley()) => {
    const response = await at.send(`/api/traces${query}`, { body, headers })
    return { status: response.status, body: (await response.json()) as any }
  }

  test('a transcript sent as the body is imported, and sent again adds nothing', async () => {
    const text = readFileSync(dataFile('codex.jsonl'))
    const { status, body } = await post(text, '?name=rollout.jsonl')
    expect([status, body]).toEqual([
      200,
      { session_id: expect.any(String), source: 'codex', turns: 2, events: 22, added: 22, skipped: [], skipped_count: 0 },
    ])
    expect((await post(text)).body).toEqual({ ...body, added: 0 })
    await forget(parley(), body.session_id)
  })

  test('a retry with its key gets the first answer and imports nothing, another body is a mismatch', async () => {
    const id = session()
    const lines = [claudeLine(1, 'user', 'Ship it.', { session: id }), claudeLine(2, 'assistant', 'Shipped.', { session: id, end: true })]
    const key = { 'idempotency-key': crypto.randomUUID() }
    const send = (body: string, query = '') => parley().send(`/api/traces${query}`, { body, headers: key })
    const first = await send(`${lines.join('\n')}\nnot a line\n`)
    const answer = await first.text()
    expect([first.status, first.headers.get('idempotency-replayed'), JSON.parse(answer).added]).toEqual([200, null, 2])
    for (let n = 0; n < 2; n++) {
      const again = await send(`${lines.join('\n')}\nnot a line\n`)
      expect([again.headers.get('idempotency-replayed'), await again.text()]).toEqual(['true', answer])
    }
    for (const other of [send(lines[0]!), send(`${lines.join('\n')}\nnot a line\n`, '?name=other.jsonl')])
      expect(((await (await other).json()) as any).error.code).toBe('idempotency_mismatch')
    await forget(parley(), JSON.parse(answer).session_id)
  })

  test('an older copy under a key is hashed to its end, too', async () => {
    const id = session()
    const lines = Array.from({ length: 400 }, (_, i) => claudeLine(i, 'user', 'A long line. '.repeat(100), { session: id }))
    const { body } = await post(lines.join('\n'))
    const key = { 'idempotency-key': crypto.randomUUID() }
    const older = lines.slice(0, 300).join('\n')
    const first = await post(older, '', key)
    expect(first.body).toEqual({ ...body, added: 0 })
    expect(await post(older, '', key)).toEqual(first)
    await forget(parley(), body.session_id)
  })

  test('equal imports at once under one key have one answer, or are told to try again', async () => {
    const id = session()
    const text = Array.from({ length: 50 }, (_, i) => claudeLine(i, 'user', `line ${i}`, { session: id })).join('\n')
    const key = { 'idempotency-key': crypto.randomUUID() }
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(text, '', key)))
    const good = answers.filter(({ status }) => status === 200)
    expect(new Set(good.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    for (const { status, body } of answers) if (status !== 200) expect([status, body.error.code]).toEqual([409, 'conflict'])
    expect(await post(text, '', key)).toEqual(good[0]!)
    await forget(parley(), good[0]!.body.session_id)
  })

  test('a key of somebody unknown is long, a team’s may be short and is its own', async () => {
    const id = session()
    const text = claudeLine(1, 'user', 'Ship it.', { session: id })
    expect((await post(text, '', { 'idempotency-key': 'short' })).body.error.details.field).toBe('idempotency_key')
    const { id: roomId, alex, bea } = await room(viaRest(parley()))
    const query = `?session_id=${roomId}`
    const first = await post(text, query, { 'idempotency-key': 'short', 'x-team-id': alex.token })
    expect(first.body.added).toBe(1)
    expect(await post(text, query, { 'idempotency-key': 'short', 'x-team-id': alex.token })).toEqual(first)
    expect((await post(text, query, { 'idempotency-key': 'short', 'x-team-id': bea.token })).body.added).toBe(0)
    await forget(parley(), first.body.session_id)
  })

  test('a team that has left gets the answer that it had under its key, and imports no more', async () => {
    const id = session()
    const text = claudeLine(1, 'user', 'Ship it.', { session: id })
    const { id: roomId, alex } = await room(viaRest(parley()))
    const send = (body: string, key?: string) =>
      post(body, `?session_id=${roomId}`, { 'x-team-id': alex.token, ...(key && { 'idempotency-key': key }) })
    const first = await send(text, 'once')
    expect(first.body.added).toBe(1)
    await done(alex('conclude_session', { summary_section: 'The end.' }))
    await done(alex('leave_session'))
    expect(await send(text, 'once')).toEqual(first)
    const longer = `${text}\n${claudeLine(2, 'user', 'Later.', { session: id })}`
    expect((await send(longer, 'once')).body.error.code).toBe('idempotency_mismatch')
    for (const key of ['twice', undefined]) expect([key, (await send(longer, key)).status]).toEqual([key, 401])
    expect(await eventsOf(parley(), first.body.session_id)).toHaveLength(1)
    await forget(parley(), first.body.session_id)
  })

  test('what was written although nobody answered in time is found by a search', async () => {
    const { services, close } = await parley().beside({}, {}, { intervals: { recheck: 50, peers: NEVER_MS } })
    const { database, indexer } = services
    await indexer.run() // has compared all that there is
    const unanswered: typeof database = {
      ...database,
      async transaction(...args) {
        await database.transaction(...args)
        throw new DatabaseTimeout()
      },
    }
    const id = session()
    const source = bodySource(new Response(claudeLine(1, 'user', 'Unanswered.', { session: id })).body, '', 1e6)
    await expect(importTranscript({ ...services, database: unanswered }, source)).rejects.toThrow(DatabaseTimeout)
    const indexed = 'select from event_search e join events using (id) where events.content::text like $1'
    await soon('it is indexed', async () => (await database.query(indexed, ['%Unanswered%'])).length > 0, 10)
    await close()
  })

  test('others have their turn while a long one is imported', async () => {
    const id = session()
    let turns = 0
    const others = setInterval(() => turns++, 1)
    const { body } = await post(Array.from({ length: 3_000 }, (_, i) => claudeLine(i, 'user', `line ${i}`, { session: id })).join('\n'))
    clearInterval(others)
    expect(body.added).toBe(3_000)
    expect(turns).toBeGreaterThanOrEqual(3_000 / 1_000 - 1) // one after each batch, which has 1,000 at the most
    await forget(parley(), body.session_id)
  }, 180_000)

  test('a body larger than MAX_TRACE_BYTES is refused, whether it says its length or not', async () => {
    const small = await parley().beside({ MAX_TRACE_BYTES: '1000' })
    const lines = Array.from({ length: 20 }, (_, i) => `${claudeLine(i, 'user', `Step ${i}`, { session: OTHER })}\n`)
    const announced = await post(lines.join(''), '', { 'content-length': String(lines.join('').length) }, small as never)
    const stream = new ReadableStream<string>({ start: (to) => (lines.forEach((line) => to.enqueue(line)), to.close()) })
    const streamed = await post(stream.pipeThrough(new TextEncoderStream()), '', {}, small as never)
    for (const { status, body } of [announced, streamed]) {
      expect([status, body.error.code, body.error.details]).toEqual([413, 'payload_too_large', { limit_bytes: 1000 }])
    }
    expect((await post(lines.slice(0, 3).join(''), '', {}, small as never)).status).toBe(200)
  })

  test('a transcript belongs to a room if one of its teams or a person says so', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const other = await room(viaRest(parley()))
    const text = () => `${claudeLine(1, 'user', 'In the room', { session: session() })}\n`
    const tied = await post(text(), `?session_id=${id}`, { 'x-team-id': alex.token })
    expect((await sessionRow(parley(), tied.body.session_id)).parent_session_id).toBe(id)
    const cookie = await cookieOf(parley(), { name: 'Alex', role: 'person' })
    const late = text()
    const untied = await post(late)
    expect((await sessionRow(parley(), untied.body.session_id)).parent_session_id).toBeNull()
    expect((await post(late, `?session_id=${id}`, { cookie })).body.added).toBe(0)
    expect((await sessionRow(parley(), untied.body.session_id)).parent_session_id).toBe(id)
    const byPerson = await post(text(), `?session_id=${id}`, { cookie })
    expect((await sessionRow(parley(), byPerson.body.session_id)).parent_session_id).toBe(id)
    for (const headers of [
      {},
      { 'x-team-id': other.alex.token },
      { 'x-team-id': alex.handle },
      { cookie: await cookieOf(parley(), { name: 'Bo', role: 'reader' }) },
    ])
      expect([(await post(text(), `?session_id=${id}`, headers as never)).status, headers]).toEqual([401, headers])
    expect((await post(text(), `?session_id=${OTHER}`, { cookie })).status).toBe(404)
    expect((await post(text(), `?team_id=${alex.token}`)).status).toBe(400)
  })

  test('a transcript that belongs to a session is taken by no other, and none belongs to itself or to what comes from it', async () => {
    const [mine, theirs] = [await room(viaRest(parley())), await room(viaRest(parley()))]
    const [text, own] = [session(), session()].map((one) => `${claudeLine(1, 'user', 'In the room', { session: one })}\n`)
    const { session_id: id } = (await post(text!, `?session_id=${mine.id}`, { 'x-team-id': mine.alex.token })).body
    const taken = await post(`${text}${claudeLine(2, 'user', 'More', { session: session() })}\n`, `?session_id=${theirs.id}`, {
      'x-team-id': theirs.alex.token,
    })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'conflict'])
    expect(await eventsOf(parley(), id)).toHaveLength(1)
    expect((await post(text!, `?session_id=${mine.id}`, { 'x-team-id': mine.alex.token })).status).toBe(200)
    expect((await sessionRow(parley(), id)).parent_session_id).toBe(mine.id)

    const cookie = await cookieOf(parley(), { name: 'Alex', role: 'person' })
    const first = (await post(own!)).body.session_id
    await parley().database.query('update sessions set parent_session_id = $1 where id = $2', [first, theirs.id])
    for (const below of [first, theirs.id]) {
      const refused = await post(own!, `?session_id=${below}`, { cookie })
      expect([refused.status, refused.body.error.details]).toEqual([400, { field: 'session_id' }])
    }
    expect((await sessionRow(parley(), first)).parent_session_id).toBeNull()
  })

  test('an argument that is misspelled is refused, and nothing is imported', async () => {
    const text = `${claudeLine(1, 'user', 'In no room', { session: session() })}\n`
    const { id, alex } = await room(viaRest(parley()))
    const { status, body } = await post(text, `?sessionid=${id}`, { 'x-team-id': alex.token })
    expect([status, body.error.code, body.error.details.field]).toEqual([400, 'invalid_request', 'sessionid'])
    const { body: after } = await post(text)
    expect(after.added).toBe(1)
    await forget(parley(), after.session_id)
  })

  test('ACCESS_TOKEN and other sites are looked at before a byte is read', async () => {
    const closed = await parley().beside({ ACCESS_TOKEN: 'a-token-of-some-length' })
    const text = `${claudeLine(1, 'user', 'Open?', { session: session() })}\n`
    expect((await post(text, '', {}, closed as never)).status).toBe(401)
    expect((await post(text, '', { authorization: 'Bearer a-token-of-some-length' }, closed as never)).status).toBe(200)
    expect((await post(text, '', { origin: 'http://elsewhere.example' })).status).toBe(403)
    const wrongMethod = await parley().send('/api/traces')
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('what is no transcript is refused in JSON', async () => {
    expect([(await post('hello')).status, (await post('')).body.error.code]).toEqual([400, 'invalid_request'])
  })

  test('the export of a room comes back as a session with the same words, authors and order', async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    await say(alex, 'I take the lexer.')
    const asked = await say(bea, 'And I?', { to: [alex.handle], expects_reply: true })
    await say(alex, 'The parser.', { reply_to: asked.message_id, to: [bea.handle] })
    await done(alex('update_session_metadata', { title: 'Shipping it all', reason: 'More than the parser.' }))
    await done(alex('conclude_session', { summary_section: 'Divided.' }))
    const exported = await (await parley().send(`/sessions/${id}/feed.jsonl`)).text()
    const again = await post(exported)
    expect([again.status, again.body.error.details]).toEqual([409, { session_id: id }]) // it stands here already
    await forget(parley(), id)
    const { body } = await post(exported)
    expect(body).toMatchObject({ source: 'parley', events: 6, added: 6, skipped: [] })
    const events = await eventsOf(parley(), body.session_id)
    expect(events.map(outline)).toEqual(
      [
        '1.1 system team_joined',
        '1.2 chat I take the lexer.',
        '2.1 chat And I?',
        '3.1 chat The parser.',
        '3.2 system session_metadata_updated',
        '3.3 system session_concluded',
      ].map((line, i) => (i === 1 || i === 2 || i === 3 ? `${line} !` : line)),
    )
    expect(events.map(({ author_name }) => author_name)).toEqual([null, "Alex's Team", "Bea's Team", "Alex's Team", null, null])
    expect(events[3]).toMatchObject({ reply_to: events[2]!.id, to_team_ids: [bea.handle], posted_by_team_id: alex.handle } as object)
    expect(events.map((event) => (event as unknown as { expects_reply: unknown }).expects_reply)).toEqual([
      null,
      null,
      true,
      null,
      null,
      null,
    ])
    expect((await sessionRow(parley(), body.session_id)).title).toBe('Shipping it all')
    expect(body.session_id).not.toBe(id)
    const older = exported.split('\n').slice(0, 3).join('\n')
    expect((await post(older)).body).toEqual({ ...body, added: 0 })
    expect((await sessionRow(parley(), body.session_id)).title).toBe('Shipping it all')
  })

  test('the export of a driven session comes back with who prompted, each event’s task, and all that its system events say', async () => {
    const { session_id, runner, call, start } = await controlScene(parley())
    const word = `quokka${crypto.randomUUID().slice(0, 8)}`
    await start('Add a test.')
    await runner.work(`The ${word} sleeps.`, [said(`The ${word} sleeps.`)])
    const forked = await done(call('send_prompt', { session_id, prompt: 'Another.', mode: 'fork' }))
    const exportOf = async (id: string) => {
      const text = await (await parley().send(`/sessions/${id}/feed.jsonl?include_trace=true`)).text()
      return { text, events: text.trim().split('\n').map((line) => JSON.parse(line)) } // prettier-ignore
    }
    const cameBack = async (id: string) => {
      const { text, events } = await exportOf(id)
      const { body } = await post(text.replace(/"id":"[^"]+"/g, () => `"id":"${crypto.randomUUID()}"`)) // as at another server
      return { id: body.session_id as string, before: events, after: (await exportOf(body.session_id)).events }
    }
    const { id, before, after } = await cameBack(session_id)
    const told = ({ type, author, team, prompted_by, task_id }: any) => [type, author, team, prompted_by, task_id !== undefined]
    expect(before.map(told)).toContainEqual(['user_input', 'key', 'a full key', expect.objectContaining({ name: 'a full key' }), true])
    expect(after.map(told)).toEqual(before.map(told))
    expect(new Set(after.map(({ task_id }) => task_id)).size).toBe(new Set(before.map(({ task_id }) => task_id)).size)
    await indexed(parley())
    const { data } = await askOverRest(parley())('search_sessions', { query: word, within_id: `session:${id}` })
    expect(data.results.map(({ event }: any) => event.ordinal)).toEqual([after.findLast(({ type }) => type === 'chat').sequence])

    const fork = await cameBack(forked.session_id)
    const [begins] = fork.before.filter(({ event }) => event === 'session_forked')
    expect(begins.task_id).toBeString()
    expect(fork.after.find(({ event }) => event === 'session_forked')).toEqual({ ...begins, id: expect.any(String) })
  })

  test('exports of a session, with its trace and without, are one session; what would stand in a wrong turn is refused', async () => {
    const transcript = (await post(readFileSync(dataFile('codex.jsonl')))).body.session_id
    const driven = await controlScene(parley())
    await driven.start('Add a test.')
    await driven.runner.work('It is there.', [said('It is there.')])
    const idsIn = (texts: string[]) => new Set(texts.flatMap((text) => [...text.matchAll(/^\{"id":"([^"]+)"/gm)].map(([, id]) => id)))
    for (const id of [transcript, driven.session_id]) {
      const exportOf = async (query: string) => (await parley().send(`/sessions/${id}/feed.jsonl${query}`)).text()
      const [whole, prompts] = [await exportOf('?include_trace=true'), await exportOf('')]
      expect(idsIn([prompts]).size).toBeLessThan(idsIn([whole]).size)
      expect((await post(prompts)).body.error.details).toEqual({ session_id: id })
      await forget(parley(), id) // as at another server
      const former = prompts.replace(/,"first_event_id":"[^"]+"/, '') // as earlier versions exported it
      const lastless = whole.replace(/\n.*\n$/, '\n')
      const lines = whole.split('\n')
      const half = lines.slice(0, lines.length / 2).join('\n')
      const outlines = async (id: string) => (await eventsOf(parley(), id)).map(outline)
      const alone = (await post(whole)).body.session_id
      const expected = await outlines(alone)
      await forget(parley(), alone)
      for (const texts of [
        [whole, prompts],
        [half, whole],
        [lastless, prompts],
        [former, prompts],
      ] as [string, string][]) {
        // prettier-ignore
        const [one, two, again] = [await post(texts[0]), await post(texts[1]), await post(texts[0])].map(({ body }) => body)
        const events = idsIn(texts).size
        expect(two).toMatchObject({ session_id: one.session_id, events, added: events - one.events })
        expect(again).toMatchObject({ session_id: one.session_id, events, added: 0 })
        const logged = await eventsOf(parley(), one.session_id)
        expect(logged.map(({ content }) => content.first_event_id)).toEqual(logged.map(() => undefined))
        if (events === expected.length) expect(logged.map(outline)).toEqual(expected)
        await forget(parley(), one.session_id)
      }
      for (const [first, later] of [
        [prompts, whole],
        [former, whole],
        [prompts, half],
      ] as [string, string][]) {
        const { session_id } = (await post(first)).body
        const before = await outlines(session_id)
        const { status, body } = await post(later)
        expect([status, body.error]).toEqual([409, { code: 'conflict', message: expect.any(String), details: { session_id } }])
        expect(body.error.message).toContain(`bun run purge ${session_id}`)
        expect(await outlines(session_id)).toEqual(before)
        await forget(parley(), session_id)
      }
    }
  })

  if (engine === 'postgres') {
    test('readers of the page and the feed see an imported session to its end', async () => {
      const { body } = await post(readFileSync(dataFile('codex.jsonl')))
      const exported = await (await parley().send(`/sessions/${body.session_id}/feed.jsonl?include_trace=true`)).text()
      expect(exported.trim().split('\n')).toHaveLength(22)
      expect((await parley().send(`/sessions/${body.session_id}`)).status).toBe(200)
    })
  }
})
