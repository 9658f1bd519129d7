import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { bodySource } from '../../src/import/source.ts'
import { importTranscript } from '../../src/import/transcript.ts'
import { cookieOf, done, onOneEngine, viaRest } from '../support/parley.ts'
import { claudeLine, dataFile, eventsOf, forget, importFile, outline, scratch, sessionRow } from '../support/transcripts.ts'

const files = scratch()
afterAll(files.drop)

const session = () => crypto.randomUUID()
const bodyOf = (text: string | Buffer) => bodySource(new Response(text as BodyInit).body, '', Number.MAX_SAFE_INTEGER)

onOneEngine((parley) => {
  test('a file that grew adds what is new, keeps every id and reopens its last turn', async () => {
    const id = session()
    const begun = [claudeLine(1, 'user', 'Ship it.', { session: id }), claudeLine(2, 'assistant', 'Shipped.', { session: id, end: true })]
    const path = files.write(`${id}.jsonl`, `${begun.join('\n')}\n`)
    const first = await importFile(parley(), path)
    const before = await eventsOf(parley(), first.session_id)
    expect(before.map(outline)).toEqual(['1.1 user_input Ship it.', '1.2 assistant_response Shipped. !'])
    const ended = async () => (await sessionRow(parley(), first.session_id)).closed_at
    expect(await ended()).toBe(before.at(-1)!.at)

    files.write(`${id}.jsonl`, `${[...begun, claudeLine(3, 'assistant', 'One more thing.', { session: id })].join('\n')}\n`)
    expect(await importFile(parley(), path)).toMatchObject({ session_id: first.session_id, added: 1, events: 3, turns: 1 })
    const after = await eventsOf(parley(), first.session_id)
    expect(after.map(outline)).toEqual([
      '1.1 user_input Ship it.',
      '1.2 assistant_response Shipped.',
      '1.3 assistant_response One more thing.',
    ])
    expect(after.slice(0, 2).map(({ id, sequence }) => [id, sequence])).toEqual(before.map(({ id, sequence }) => [id, sequence]))
    expect(await ended()).toBe(after.at(-1)!.at)
    expect(await importFile(parley(), path)).toMatchObject({ added: 0, events: 3 })
  })

  test('a session of Claude Code that began with the records of another is one of its own, whichever is imported first', async () => {
    const [origin, shorter, longer] = [session(), session(), session()]
    const [one, two, three] = [1, 2, 3].map((i) => claudeLine(i, 'user', `Step ${i}`, { session: origin }))
    const own = (i: number, id: string) => claudeLine(i, 'user', `Another step ${i}`, { session: id })
    const texts = {
      [shorter]: [one, own(2, shorter)],
      [origin]: [one, two, three],
      [longer]: [one, two, own(3, longer), own(4, longer)],
    }
    const imported = Object.entries(texts).map(([id, lines]) => ({ path: files.write(`${id}.jsonl`, `${lines.join('\n')}\n`), lines }))
    for (const { path, lines } of imported) {
      const { session_id, added } = await importFile(parley(), path)
      expect(added).toBe(lines.length)
      const said = (await eventsOf(parley(), session_id)).map(({ content }) => content.text)
      expect(said).toEqual(lines.map((line) => JSON.parse(line!).message.content))
      expect(await importFile(parley(), path)).toMatchObject({ session_id, added: 0 })
    }
    // Without a name, as from a pipe, the records say whose it is.
    expect(await importTranscript(parley().services, bodyOf(`${one}\n`))).toMatchObject({ added: 0, events: 3 })
  })

  test('a name that a person gave it stays when it grows', async () => {
    const id = session()
    const lines = [claudeLine(1, 'user', 'Ship it.', { session: id }), claudeLine(2, 'assistant', 'Shipped.', { session: id, end: true })]
    const first = await importTranscript(parley().services, bodyOf(lines.join('\n')))
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const call = viaRest(parley())
    await done(call('reopen_session', { session_id: first.session_id, reason: 'to name it' }, { person }))
    await done(call('update_session_metadata', { session_id: first.session_id, title: 'The release', reason: 'a name' }, { person }))
    const more = claudeLine(3, 'user', 'And the notes?', { session: id })
    expect((await importTranscript(parley().services, bodyOf([...lines, more].join('\n')))).added).toBe(1)
    expect((await sessionRow(parley(), first.session_id)).title).toBe('The release')
  })

  test('cut anywhere and imported in two goes, a transcript is the same as in one', async () => {
    for (const name of ['claude-code.jsonl', 'codex.jsonl', 'gemini.jsonl']) {
      const bytes = readFileSync(dataFile(name))
      const whole = await importTranscript(parley().services, bodyOf(bytes))
      const expected = await eventsOf(parley(), whole.session_id)
      const row = await sessionRow(parley(), whole.session_id)
      for (const part of [0.21, 0.5, 0.83]) {
        await forget(parley(), whole.session_id)
        const line = bytes.indexOf('\n', bytes.length * part) // at a line's end, before its line feed, and within the next line
        for (const cut of [line, line + 1, line + 20]) await importTranscript(parley().services, bodyOf(bytes.subarray(0, cut)))
        const path = files.write(name, bytes)
        await importFile(parley(), path)
        expect(await eventsOf(parley(), whole.session_id), `${name} at ${part}`).toEqual(expected)
        expect(await sessionRow(parley(), whole.session_id)).toEqual(row)
      }
    }
  }, 180_000)

  test('a line that is still being written is told and waits for the next import', async () => {
    const id = session()
    const [one, two] = [claudeLine(1, 'user', 'Begin.', { session: id }), claudeLine(2, 'assistant', 'Begun.', { session: id })]
    const half = await importTranscript(parley().services, bodyOf(`${one}\n${two.slice(0, 60)}`))
    expect(half).toMatchObject({ added: 1, skipped: [{ line: 2, reason: 'incomplete: read once the transcript has grown' }] })
    expect(await importTranscript(parley().services, bodyOf(`${one}\n${two}`))).toMatchObject({ added: 1, events: 2, skipped: [] })
    expect(await importTranscript(parley().services, bodyOf(`${one}\n${two}\n\n`))).toMatchObject({ added: 0, events: 2 })
  })

  test('a transcript whose beginning was changed is refused and leaves everything as it was; an older copy adds nothing', async () => {
    const id = session()
    const lines = [1, 2, 3].map((i) => claudeLine(i, 'user', `Step ${i}`, { session: id }))
    const { session_id } = await importTranscript(parley().services, bodyOf(`${lines.join('\n')}\n`))
    const before = await eventsOf(parley(), session_id)
    const changed = [
      lines[0],
      lines[1],
      claudeLine(4, 'user', 'Not so', { session: id }),
      claudeLine(5, 'user', 'And more of it', { session: id }),
    ]
    const refused = await importTranscript(parley().services, bodyOf(`${changed.join('\n')}\n`)).catch((error) => error)
    expect(refused).toMatchObject({ code: 'conflict', details: { session_id } })
    expect(refused.message).toContain(`bun run purge ${session_id}`)
    expect(await importTranscript(parley().services, bodyOf(`${lines[0]}\n`))).toMatchObject({ added: 0, events: 3 })
    expect(await eventsOf(parley(), session_id)).toEqual(before)
  })

  test('five imports of one transcript at once write each event once', async () => {
    const id = session()
    const lines = Array.from({ length: 1_300 }, (_, i) => claudeLine(i, i % 2 ? 'assistant' : 'user', `Step ${i}`, { session: id }))
    const text = `${lines.join('\n')}\n`
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => importTranscript(parley().services, bodyOf(text))))
    const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(new Set(refused).isSubsetOf(new Set(['conflict']))).toBe(true)
    const { session_id, events } = await importTranscript(parley().services, bodyOf(text))
    expect(events).toBe(1_300)
    const logged = await eventsOf(parley(), session_id)
    expect(logged.map(({ content }) => content.text)).toEqual(lines.map((_, i) => `Step ${i}`))
    expect(logged.map(({ sequence }) => sequence)).toEqual(lines.map((_, i) => i + 1))
    expect(await sessionRow(parley(), session_id)).toMatchObject({
      turn: 650,
      turn_events: 2,
      last_sequence: 1_300,
      last_conversation_sequence: 1_299,
    })
  }, 180_000)

  test('a document larger than what is read at once grows like any other, and goes on as lines', async () => {
    const [id, head] = [session(), { projectHash: 'ab', startTime: '2026-07-01T08:00:00.000Z' }]
    const message = (i: number) => ({
      id: `m${i}`,
      type: i % 2 ? 'gemini' : 'user',
      timestamp: new Date(Date.UTC(2026, 6, 1, 8) + i * 1000).toISOString(),
      content: `${i} ${'lorem ipsum '.repeat(400)}`,
    })
    const messages = Array.from({ length: 603 }, (_, i) => message(i))
    const document = (count: number) => JSON.stringify({ sessionId: id, ...head, messages: messages.slice(0, count) }, null, 2)
    const path = files.write(`session-${id}.json`, document(400))
    const { session_id } = await importFile(parley(), path)
    files.write(`session-${id}.json`, document(600))
    expect(await importFile(parley(), path)).toMatchObject({ session_id, added: 200, events: 601, turns: 300 })
    const lines = [{ sessionId: id, ...head }, ...messages].map((one) => JSON.stringify(one)).join('\n')
    expect(await importTranscript(parley().services, bodyOf(lines))).toMatchObject({ session_id, added: 3, events: 604, turns: 302 })
    const logged = await eventsOf(parley(), session_id)
    expect(logged.slice(1).map(({ content }) => Number.parseInt(content.text))).toEqual(messages.map((_, i) => i))
    expect(logged.filter(({ terminal }) => terminal)).toHaveLength(301)
  }, 180_000)

  test('a session of which there is a document and lines is imported again from both, and grows from either', async () => {
    const [id, head] = [session(), { projectHash: 'ab', startTime: '2026-07-01T08:00:00.000Z' }]
    const said = (n: number) => ({ id: `m${n}`, type: 'user', timestamp: `2026-07-01T08:00:0${n}.000Z`, content: `Step ${n}` })
    const lines: object[] = [{ sessionId: id, ...head }, said(1), { $rewindTo: 'm1' }, { strange: 'record' }, said(2)]
    const asLines = () => bodyOf(lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const document = () => bodyOf(JSON.stringify({ sessionId: id, ...head, messages: [said(1), said(2)] }, null, 2))
    const { session_id } = await importTranscript(parley().services, asLines())
    for (let n = 0; n < 2; n++)
      for (const body of [document(), asLines()])
        expect(await importTranscript(parley().services, body)).toMatchObject({ session_id, added: 0, events: 5 })
    await importTranscript(parley().services, document())
    lines.push({ $rewindTo: 'm2' }, said(3))
    expect(await importTranscript(parley().services, asLines())).toMatchObject({ added: 2, events: 7 })
  })

  test('what was imported comes into the search index by itself', async () => {
    const id = session()
    const { session_id } = await importTranscript(
      parley().services,
      bodyOf(`${claudeLine(1, 'user', 'The xylocopa bug', { session: id })}\n`),
    )
    const until = performance.now() + 30_000 // behind all that the tests before have left to be indexed
    const indexed = () =>
      parley().database.query<{ id: string }>(`select id from event_search where session_id = $1 and tsv @@ 'xylocopa'::tsquery`, [
        session_id,
      ])
    while ((await indexed()).length === 0 && performance.now() < until) await Bun.sleep(20)
    expect(await indexed()).toHaveLength(1)
  }, 180_000)
})
