import { afterAll, expect, test } from 'bun:test'
import { elementsOf } from '../../src/transcripts/elements.ts'
import { nameOr } from '../../src/transcripts/json.ts'
import { linesOf, LONGEST_LINE } from '../../src/transcripts/lines.ts'
import { onOneEngine } from '../support/parley.ts'
import { claudeLine, eventsOf, importFile, scratch, sessionRow } from '../support/transcripts.ts'

const files = scratch()
afterAll(files.drop)

const HANDLE = '11111111-2222-4333-8444-555555555555'
const TOKEN = `${HANDLE}.${'aB3_'.repeat(8)}`
const KEY = `ca_full_${'0123456789abcdef'.repeat(2)}`
const OPERATOR = `op_${'Zz9-'.repeat(8)}`

const session = () => crypto.randomUUID()

onOneEngine((parley) => {
  const imported = async (name: string, lines: (string | Buffer)[]) => {
    const report = await importFile(
      parley(),
      files.write(name, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]))),
    )
    return { report, events: await eventsOf(parley(), report.session_id) }
  }

  test('no credential of ours comes into the log, wherever in a line it stands', async () => {
    const id = session()
    const call = {
      type: 'assistant',
      sessionId: id,
      message: {
        model: KEY,
        content: [{ type: 'tool_use', id: 't', name: `mcp__parley__${OPERATOR}`, input: { team_id: TOKEN, [KEY]: [OPERATOR] } }],
      },
    }
    const lines = [
      claudeLine(1, 'user', `My token is ${TOKEN}, my key ${KEY}.`, { session: id }),
      JSON.stringify(call),
      JSON.stringify({ type: 'a-kind-of-tomorrow', sessionId: id, deep: [{ in: TOKEN.toUpperCase() }] }),
      JSON.stringify({ type: 'custom-title', sessionId: id, customTitle: `Where ${TOKEN} went` }),
    ]
    const { report, events } = await imported('secrets.jsonl', lines)
    const stored = JSON.stringify([events, await sessionRow(parley(), report.session_id)])
    for (const secret of [TOKEN.slice(37), KEY.slice(16), OPERATOR.slice(3)])
      expect(stored.toLowerCase()).not.toContain(secret.toLowerCase())
    expect(events[0]!.content.text).toBe(`My token is ${HANDLE}…, my key ca_full_01234567….`)
    const row = await parley().database.query<{ state: unknown }>('select state from imports where session_id = $1', [report.session_id])
    expect(JSON.stringify(row)).not.toContain(TOKEN.slice(37))
  })

  test('what the database cannot hold is made storable, and stops nothing', async () => {
    const id = session()
    const lines = [
      claudeLine(1, 'user', 'zero \0 and half \ud83d pair', { session: id }),
      Buffer.concat([
        Buffer.from(claudeLine(2, 'user', 'bytes ', { session: id })).subarray(0, -3),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}}'),
      ]),
      `{"type":"a-kind-of-tomorrow","sessionId":"${id}","deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      claudeLine(4, 'user', 'after it', { session: id }),
    ]
    const { report, events } = await imported('unstorable.jsonl', lines)
    expect(events.map(({ content }) => content.text).filter(Boolean)).toEqual([
      'zero \ufffd and half \ufffd pair',
      'bytes \ufffd\ufffd',
      'after it',
    ])
    expect(events[2]!.type).toBe('unknown')
    expect(report.skipped).toEqual([])
  })

  test('bad lines are named by their number, and the others are all there', async () => {
    const id = session()
    const lines = [
      '{"half":',
      claudeLine(1, 'user', 'one', { session: id }),
      '',
      'no json at all',
      '42',
      claudeLine(2, 'user', 'two', { session: id }),
    ]
    const { report, events } = await imported('bad.jsonl', lines)
    expect(report.skipped).toEqual([
      { line: 1, reason: 'not JSON' },
      { line: 4, reason: 'not JSON' },
    ])
    expect(events.map(({ source_line, type }) => [source_line, type])).toEqual([
      ['2', 'user_input'],
      ['5', 'unknown'],
      ['6', 'user_input'],
    ])
  })

  test('a line of many megabytes is cut with a mark, and so is a long text', async () => {
    const id = session()
    const [text, more] = ['x'.repeat(3 * 1024 * 1024), 'y'.repeat(LONGEST_LINE)]
    const lines = [
      claudeLine(1, 'user', text, { session: id }),
      claudeLine(2, 'user', more, { session: id }),
      claudeLine(3, 'user', 'small', { session: id }),
    ]
    const { report, events } = await imported('large.jsonl', lines)
    expect(events[0]!.content.text).toEndWith('[… cut at import: 2,097,152 more characters]')
    expect(events[0]!.content.text.length).toBeLessThan(1_100_000)
    expect(events[1]).toMatchObject({ type: 'unknown', source_line: '2' })
    expect(events[1]!.content.text).toMatch(/^\{"type":"user".*\n\[… cut at import: .* more characters\]$/s)
    expect(events[2]!.content.text).toBe('small')
    expect(report.skipped).toEqual([{ line: 2, reason: 'longer than 16 MiB: only its beginning was kept' }])
    expect(await importFile(parley(), `${files.folder}/large.jsonl`)).toMatchObject({ added: 0 })
  }, 180_000)

  test('what is too long ends before an emoji that does not fit: a text, a line, a title, a description and names', async () => {
    const id = session()
    const upTo = (units: number, more = 0) => `${'x'.repeat(units - 1)}😀${'y'.repeat(more)}`
    const line = (fill: string) => claudeLine(2, 'user', `${fill}${'y'.repeat(LONGEST_LINE)}`, { session: id })
    const of = (role: string, content: object[]) =>
      JSON.stringify({ type: role, sessionId: id, message: { role, model: upTo(200), content } })
    const { report, events } = await imported('emoji.jsonl', [
      claudeLine(1, 'user', upTo(1024 * 1024, 9), { session: id }),
      line(upTo(65_536 - line('').indexOf('yyy'))),
      of('assistant', [{ type: 'text', text: 'Now.' }]),
      of('assistant', [{ type: 'tool_use', id: 'call', name: upTo(200), input: {} }]),
      of('user', [{ type: 'tool_result', tool_use_id: 'call', content: 'ok' }]),
      claudeLine(3, 'assistant', 'Done.', { session: id }),
      JSON.stringify({ type: 'summary', leafUuid: 'line-3', summary: upTo(9_999, 9) }),
      JSON.stringify({ type: 'custom-title', sessionId: id, customTitle: upTo(119, 9) }),
    ])
    const [text, cut, answer, call, response] = events
    expect(text!.content.text.slice(-45)).toBe('xxxxx\n[… cut at import: 11 more characters]'.padStart(45, 'x'))
    expect(cut!.content.text).toMatch(/x\n\[… cut at import: .* more characters\]$/)
    const names = [answer!.model, call!.tool_name, response!.tool_name, nameOr(upTo(200))]
    expect(names).toEqual(Array(4).fill('x'.repeat(199)))
    const { title, description } = await sessionRow(parley(), report.session_id)
    expect([title, description]).toEqual([`${'x'.repeat(118)}…`, `${'x'.repeat(9_998)}…`])
  }, 180_000)

  test('times never run backwards, and a clock in the far future holds nothing up', async () => {
    const id = session()
    const at = (i: number, timestamp: unknown) =>
      JSON.stringify({ ...JSON.parse(claudeLine(i, 'user', `at ${i}`, { session: id })), timestamp })
    const times = [
      '2026-01-01T10:00:00Z',
      '2026-01-01T09:00:00Z',
      '9999-01-01T00:00:00Z',
      'yesterday',
      '2026-01-01T11:00:00+01:00',
      '2026-01-01T10:30:00Z',
    ]
    const { events } = await imported(
      'times.jsonl',
      times.map((time, i) => at(i, time)),
    )
    expect(events.map(({ at }) => at.slice(11, 16))).toEqual(['10:00', '10:00', '10:00', '10:00', '10:00', '10:30'])
  })

  test('what is no transcript is refused with a sentence that says what is', async () => {
    for (const [name, text] of Object.entries({
      'empty.jsonl': '',
      'notes.jsonl': 'hello\nworld\n',
      'other.json': '{\n "a": [1, 2],\n "b": {}\n}\n',
      'list.json': '[1,2]',
      'long.jsonl': claudeLine(1, 'user', 'x'.repeat(LONGEST_LINE)),
    })) {
      const refused = await importFile(parley(), files.write(name, text)).catch((error) => error)
      expect(refused, name).toMatchObject({ code: 'invalid_request' })
      expect(refused.message).toContain('Claude Code')
    }
  })
})

test('lines are the same however the bytes come', async () => {
  const text = Buffer.from('{"a":"é"}\r\n\n{"b":"🦜"}\n{"c":1}')
  const cutInto = async (size: number) => {
    async function* chunks() {
      for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
    }
    return Array.fromAsync(linesOf(chunks(), { bytes: 0, lines: 0, open: false }))
  }
  const whole = await cutInto(1000)
  expect(whole.map(({ number, text, ended }) => [number, text.trim(), ended])).toEqual([
    [1, '{"a":"é"}', true],
    [2, '', true],
    [3, '{"b":"🦜"}', true],
    [4, '{"c":1}', false],
  ])
  for (const size of [1, 2, 3, 7]) expect(await cutInto(size)).toEqual(whole)
})

test('of a line that is too long the same is kept however its bytes come', async () => {
  const text = Buffer.from(`{"a":1}\n${'x'.repeat(2 * LONGEST_LINE)}\n{"b":2}\n`)
  const cutAt = async (...places: number[]) => {
    async function* chunks() {
      for (const [i, at] of [0, ...places].entries()) yield text.subarray(at, places[i])
    }
    return (await Array.fromAsync(linesOf(chunks(), { bytes: 0, lines: 0, open: false }))).map(({ tail: _, text, ...rest }) => [
      text.length,
      rest,
    ])
  }
  const whole = await cutAt()
  expect(whole.map(([length]) => length)).toEqual([8, 64 * 1024, 8])
  for (const places of [[8], [10], [10, LONGEST_LINE], [100_000], [text.length - 9]]) expect(await cutAt(...places)).toEqual(whole)
})

test('the elements of a document are the same however its bytes come', async () => {
  const messages = [
    { id: 'a', content: 'brackets ] } { [ , and "quotes" \\ 🦜' },
    { id: 'b', content: [{ text: 'é' }], deep: { messages: [1] } },
    7,
    'text',
  ]
  const text = Buffer.from(JSON.stringify({ sessionId: 's', startTime: 't', messages, summary: 'end', tags: ['x', 'y'] }, null, 2))
  const cutInto = async (bytes: Buffer, size: number) => {
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    return (await Array.fromAsync(elementsOf(chunks()))).map(({ number, text }) => [number, JSON.parse(text)])
  }
  const expected = [{ sessionId: 's', startTime: 't' }, ...messages, { $set: { summary: 'end', tags: ['x', 'y'] } }].map((one, i) => [
    i + 1,
    one,
  ])
  for (const size of [1, 2, 3, 7, 10_000]) expect(await cutInto(text, size)).toEqual(expected)
  const list = Buffer.from(JSON.stringify(messages))
  for (const size of [1, 5, 10_000]) expect(await cutInto(list, size)).toEqual(messages.map((one, i) => [i + 1, one]))
})
