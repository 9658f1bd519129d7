// Texts made to keep an import busy: its time may grow with the text, and no faster.
import { expect, test } from 'bun:test'
import { containsText, textOfBlocks } from '../../src/transcripts/blocks.ts'
import { claudeCode } from '../../src/transcripts/claude-code.ts'
import { codex } from '../../src/transcripts/codex.ts'
import type { Format } from '../../src/transcripts/format.ts'
import { elementsOf } from '../../src/transcripts/elements.ts'
import { gemini } from '../../src/transcripts/gemini.ts'
import { parley as exported } from '../../src/transcripts/parley.ts'
import { newMemory } from '../../src/transcripts/memory.ts'
import { onOneEngine } from '../support/parley.ts'
import { claudeLine, eventsOf } from '../support/transcripts.ts'

const SIZE = 1024 * 1024
const QUICK_MS = 10_000 // of processor time; looked through again and again it would be hours

const session = () => crypto.randomUUID()
const many = (part: string, size = SIZE) => part.repeat(size / part.length)
const list = <Item>(length: number, item: (i: number) => Item) => Array.from({ length }, (_, i) => item(i))
const nested = (levels: number, inner: unknown, wrap: (inner: unknown) => unknown) =>
  list(levels, () => wrap).reduce((whole, next) => next(whole), inner)

const quick = async <Result>(what: () => Result | Promise<Result>): Promise<Result> => {
  const begun = process.cpuUsage() // what it works, and not what it waits for others on a busy machine
  const result = await what()
  const { user, system } = process.cpuUsage(begun)
  expect((user + system) / 1_000).toBeLessThan(QUICK_MS)
  return result
}

const read = (format: Format, ...records: unknown[]) => {
  const memory = newMemory()
  return { memory, drafts: records.flatMap((record) => format.read(record, memory)) }
}

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const elements = async (text: string, size = 65_536) => (await Array.fromAsync(elementsOf(inPieces(text, size)))).map(({ text }) => text)

for (const part of ['[]', ' []', '"messages"[]', '"messages":{}[]', '][', '{}', '[', ']', ',', '"'])
  test(`a document that only repeats ${part} is looked through in one go`, async () => {
    for (const size of [65_536, SIZE * 2]) await quick(() => elements(`{\n${many(part)}`, size))
  })

test('the messages of a document are found behind other lists, and after long members', async () => {
  const text = `{"tags": [1, [2], {"messages": [3]}], "a long name ${'x'.repeat(200)}": [[], []],\n\n    "messages"  :\n  [ {"id": 1}, [2] ], "end": [4]}`
  const expected = [
    `{"tags": [1, [2], {"messages": [3]}],"a long name ${'x'.repeat(200)}": [[], []]}`,
    '{"id": 1}',
    '[2]',
    '{"$set":{"end": [4]}}',
  ]
  for (const size of [1, 7, 65_536]) expect(await elements(text, size)).toEqual(expected)
})

const prompted = (content: unknown, more = {}) => ({ type: 'user', sessionId: 's', message: { content }, ...more })

test('a prompt that begins a command again and again is read in one go', async () => {
  for (const part of [
    '<command-name>',
    '<command-message>',
    '<command-name></command-message>',
    '<command-name></command-name><command-args>',
  ])
    expect((await quick(() => read(claudeCode, prompted(many(part))))).drafts).toHaveLength(1)
})

test('a command is told by its name or else its message, with what was given to it', () => {
  for (const [text, asked] of [
    ['<command-name>/cost</command-name><command-message>cost</command-message><command-args></command-args>', '/cost'],
    ['<command-message>go</command-message>\n<command-name></command-name>\n<command-args> to\nbed </command-args>', 'go to\nbed'],
    ['<command-name><command-name>/a</command-name></command-name>', '<command-name>/a'],
    ['<command-name>/never ends', '<command-name>/never ends'],
    ['<command-name></command-args>/x</command-name>', '</command-args>/x'],
  ])
    expect(read(claudeCode, prompted(text)).drafts[0]!.content.text).toBe(asked)
})

test('an output is looked for in another one in one go', async () => {
  const [text, half] = ['a'.repeat(SIZE * 0.6), 'a'.repeat(SIZE / 5)]
  const record = prompted([{ type: 'tool_result', content: text }], { toolUseResult: { stdout: `${half}b${half}` } })
  expect((await quick(() => read(claudeCode, record))).drafts[0]!.content.text).toBe(`${text}\n${half}b${half}`)
})

test('a part is found in a text wherever it stands, and nowhere else', () => {
  let seed = 7
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let i = 0; i < 500; i++) {
    const piece = list(1 + random(9), () => 'ab🦜'[random(4)]).join('')
    const text = list(100, () => (random(12) === 0 ? 'b' : piece)).join('')
    const from = random(text.length)
    const part = text.slice(from, from + 60 + random(200))
    const other = `${part.slice(0, -2)}${random(2) ? 'ba' : 'ab'}`
    expect([containsText(text, part), containsText(text, other)]).toEqual([true, text.includes(other)])
  }
  expect([containsText('', ''), containsText('a', ''), containsText('', 'a')]).toEqual([true, true, false])
})

test('what stands beside many results of tools is told once', async () => {
  const results = list(20_000, (i) => ({ type: 'tool_result', content: `result ${i}` }))
  const record = prompted(results, { toolUseResult: { stdout: many('out ', SIZE / 2), exitCode: 3 } })
  const { drafts } = await quick(() => read(claudeCode, record))
  expect(drafts).toHaveLength(20_000)
  expect(drafts.filter(({ content }) => String(content.text).includes('out '))).toEqual([drafts[0]!])
  expect(drafts.filter(({ content }) => content.exit_code === 3)).toEqual([drafts[0]!])
})

test('of a hundred thousand calls in one message the newest are remembered', async () => {
  const calls = list(100_000, (i) => ({ type: 'tool_use', id: `toolu_${i}`, name: `tool ${i}` }))
  const { memory } = await quick(() => read(claudeCode, { type: 'assistant', message: { content: calls } }))
  const kept = Object.values(memory.calls)
  expect(kept).toEqual(calls.slice(-kept.length).map(({ name }) => name))
  expect(kept.length).toBeWithin(200, 400)
})

test('blocks within blocks are one text, however deep they lie', async () => {
  expect(textOfBlocks(['a', { content: ['b', { content: [] }, { content: [{ text: 'c' }, ''] }] }, { content: 'd' }, { text: '' }])).toBe(
    'a\nb\nc\nd',
  )
  const deep = nested(2_000, [{ text: 'x'.repeat(SIZE) }], (inner) => ['y', { content: inner }])
  const { drafts } = await quick(() => read(claudeCode, prompted([{ type: 'tool_result', content: deep }])))
  expect(drafts[0]!.content.text).toBe(`${'y\n'.repeat(2_000)}${'x'.repeat(SIZE)}`)
})

test('a kind that is a list within lists is no kind', async () => {
  const type = nested(2_000, many('x'), (inner) => [1, inner])
  const types = list(20, () => type)
  await quick(() => read(codex, ...types.map((type) => ({ type: 'response_item', payload: { type } }))))
  const event = { id: session(), sequence: 1, at: '2026-01-01T00:00:00Z' }
  await quick(() => types.forEach((type) => expect(exported.claims({ ...event, type })).toBe(false)))
})

test('a call is answered whatever its id is, and what is remembered stays small', () => {
  for (const id of ['toolu_1', '17', 'constructor', 'toString', many('x'), '9'.repeat(300)]) {
    const use = { type: 'assistant', message: { content: [{ type: 'tool_use', id, name: many('n') }] } }
    const asked = read(claudeCode, use)
    expect(JSON.stringify(asked.memory).length).toBeLessThan(1_000)
    const [answer] = claudeCode.read(prompted([{ type: 'tool_result', tool_use_id: id }]), asked.memory)
    expect([answer!.toolName, asked.memory.calls]).toEqual(['n'.repeat(200), {}])
    expect(read(claudeCode, prompted([{ type: 'tool_result', tool_use_id: id }])).drafts[0]!.toolName).toBeUndefined()
    const ended = { type: 'event_msg', payload: { type: 'exec_command_end', call_id: id, exit_code: 5 } }
    const output = { type: 'response_item', payload: { type: 'function_call_output', call_id: id, output: 'x' } }
    expect(read(codex, ended, output).drafts[1]!.content).toEqual({ text: 'x', exit_code: 5 })
    expect(read(codex, output).drafts[0]!.content).toEqual({ text: 'x' })
  }
  const leaf = { type: 'user', uuid: many('u'), message: { content: 'hi', model: many('m') } }
  const { memory } = read(claudeCode, leaf, { type: 'summary', leafUuid: leaf.uuid, summary: many('s') })
  expect(memory.summary).toBe(`${'s'.repeat(9_999)}…`)
  expect(JSON.stringify(memory).length).toBeLessThan(11_000)
})

onOneEngine((parley) => {
  const posted = async (name: string, body: string) => {
    const response = await parley().send(`/api/traces?name=${name}`, { body })
    return { status: response.status, body: (await response.json()) as any }
  }

  test('the door refuses a document of nothing but lists', async () => {
    expect((await quick(() => posted('session-x.json', `{\n${many('[]')}`))).status).toBe(400)
  })

  test('an id or a time of half a megabyte is not repeated with each part of its message', async () => {
    const thoughts = list(2_000, (i) => (i % 2 ? { subject: `s${i}`, timestamp: '2026-01-01T00:00:00Z' } : { subject: `s${i}` }))
    const message = { id: many('i', SIZE / 2), timestamp: many(' ', SIZE / 2), type: 'gemini', thoughts }
    const head = { sessionId: session(), startTime: '2026-01-01T00:00:00Z' }
    const text = `${JSON.stringify(head)}\n${JSON.stringify(message)}\n`
    const { status, body } = await posted('session-x.jsonl', text)
    expect([status, body.added]).toEqual([200, 2_001])
    expect(Math.max(...(await eventsOf(parley(), body.session_id)).map(({ source_line }) => source_line.length))).toBeLessThan(200)
    expect((await posted('session-x.jsonl', text)).body.added).toBe(0)
  }, 180_000)

  test('of a record that would be thousands of events the first are kept, and what is left is told', async () => {
    const id = session()
    const blocks = list(20_000, (i) => ({ type: 'tool_use', id: `toolu_${i}`, name: 'Bash', input: {} }))
    const record = { type: 'assistant', sessionId: id, timestamp: '2026-01-01T00:00:01Z', message: { content: blocks } }
    const text = `${claudeLine(1, 'user', 'hi', { session: id })}\n${JSON.stringify(record)}\n`
    const { body } = await quick(() => posted('x.jsonl', text))
    expect(body).toMatchObject({ added: 2_002, events: 2_002, skipped: [{ line: 2 }], skipped_count: 1 })
    const answer = claudeLine(3, 'assistant', 'done', { session: id })
    expect((await posted('x.jsonl', `${text}${answer}\n`)).body).toMatchObject({ added: 1, events: 2_003 })
    const [cut, last] = (await eventsOf(parley(), body.session_id)).slice(-2)
    expect([cut!.type, cut!.content.text, last!.content.text]).toEqual(['unknown', '[… cut at import: 18,000 more events]', 'done'])
    expect((await posted('x.jsonl', text)).body.added).toBe(0)
  }, 180_000)

  test('records whose words are those of the language itself are imported like others', async () => {
    const id = session()
    const result = { type: 'user', sessionId: id, message: { content: [{ type: 'tool_result', tool_use_id: 'constructor' }] } }
    const { status, body } = await posted('x.jsonl', `${claudeLine(1, 'user', 'hi', { session: id })}\n${JSON.stringify(result)}\n`)
    expect([status, body.added]).toEqual([200, 2])
    const item = { type: 'response_item', payload: { type: 'constructor', call_id: 'x' } }
    const meta = { type: 'session_meta', payload: { id: session() } }
    const rollout = await posted('y.jsonl', `${JSON.stringify(meta)}\n${JSON.stringify(item)}\n`)
    expect([rollout.status, rollout.body.added]).toEqual([200, 2])
  })
})

test('prompts and responses of other readers are read in one go', async () => {
  for (const part of [' <', '\n', '\n ', '[', '\nExit Code: ', 'exit code 1', '_tool_call', '_begin', 'tool_result']) {
    const text = many(part)
    await quick(() =>
      read(
        codex,
        { type: 'response_item', payload: { type: 'message', role: 'user', content: text } },
        { type: 'response_item', payload: { type: 'function_call_output', output: text } },
        { type: 'response_item', payload: { type: text } },
        { type: 'event_msg', payload: { type: text, message: text } },
      ),
    )
    await quick(() => read(gemini, { id: 'a', type: 'gemini', content: text, toolCalls: [{ args: text, result: text }] }))
    await quick(() => read(gemini, { id: 'a', type: 'user', content: text }, { id: 'b', type: 'info', content: text }))
    await quick(() => read(claudeCode, prompted(text)))
  }
})
