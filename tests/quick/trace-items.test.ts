import { expect, test } from 'bun:test'
import { lasted } from '../../components/parts/lasted.ts'
import { teamLookup } from '../../src/pages/session/team-lookup.ts'
import { traceItems } from '../../src/pages/trace/events.ts'
import { eventKinds } from '../../src/rooms/event-kinds.ts'
import { eventKindsOf } from '../../src/core/events/event-kinds.ts'
import type { TraceRow } from '../../src/stores/trace.ts'

const row = (sequence: number, type: string, more: Partial<TraceRow> = {}): TraceRow => ({
  session_id: 'a-session',
  sequence,
  id: `event-${sequence}`,
  turn: 1,
  ordinal: sequence,
  type,
  author: 'agent',
  author_name: null,
  posted_by_team_id: null,
  reply_to: null,
  at: '2026-04-29T18:00:00.000Z',
  terminal: null,
  tool_name: null,
  model: null,
  originating_model: null,
  content: {},
  characters: 0,
  ...more,
})
const call = (sequence: number, tool_name: string, given: unknown = {}) =>
  row(sequence, 'tool_call', { tool_name, content: { arguments: given } })
const response = (sequence: number, tool_name: string | null, more: Partial<TraceRow> = {}) =>
  row(sequence, 'tool_response', { tool_name, ...more })

const kinds = eventKindsOf([{ eventKinds }])
const items = (...rows: TraceRow[]) =>
  traceItems(rows, { teams: teamLookup([]), kinds, room: false, terminal: undefined, sought: undefined })
/** `5+6`: the call 5 with its response 6; `(1 2)`: gathered notes. */
const outline = (...rows: TraceRow[]) =>
  items(...rows)
    .map((item) =>
      'notes' in item
        ? `(${item.notes.map(({ sequence }) => sequence).join(' ')})`
        : [item.event.sequence, ...(item.event.response ? [item.event.response.sequence] : [])].join('+'),
    )
    .join(' ')

test('a response stands with the one call that waits for it', () => {
  expect(outline(call(1, 'Bash'), response(2, 'Bash'), call(3, 'Bash'), response(4, 'Bash'))).toBe('1+2 3+4')
  expect(outline(call(1, 'Read'), call(2, 'Grep'), response(3, 'Grep'), response(4, 'Read'))).toBe('1+4 2+3')
  expect(outline(response(1, 'Bash'), call(2, 'Bash'), response(3, null))).toBe('1 2 3')
})

test('of several calls of one tool at a time, none is guessed at, and the next one is sure again', () => {
  const both = [call(1, 'Read'), call(2, 'Read'), response(3, 'Read'), response(4, 'Read')]
  expect(outline(...both)).toBe('1 2 3 4')
  expect(outline(...both, call(5, 'Read'), response(6, 'Read'))).toBe('1 2 3 4 5+6')
})

test('where the log says which call is answered, that holds', () => {
  const [first, second] = [response(3, 'Read', { reply_to: 'event-2' }), response(4, 'Read', { reply_to: 'event-1' })]
  expect(outline(call(1, 'Read'), call(2, 'Read'), first, second)).toBe('1+4 2+3')
})

test('what programs note for themselves is gathered, unless it ended the turn', () => {
  expect(outline(row(1, 'runtime'), row(2, 'unknown'), row(3, 'reasoning'), row(4, 'runtime', { terminal: true }), row(5, 'runtime'))).toBe(
    '(1 2) 3 4 (5)',
  )
})

test('a call is told by the argument that tells most', () => {
  const line = (given: unknown) => {
    const [item] = items(call(1, 'tool', given))
    return 'event' in item! ? item.event.line : undefined
  }
  expect(line({ description: 'List', command: 'ls -la\npwd' })).toBe('ls -la')
  expect(line({ path: 'src', pattern: 'span' })).toBe('span')
  expect(line({ command: ['bash', '-lc', 'git status'] })).toBe('git status')
  expect(line({ command: ['rg', 'span'] })).toBe('rg span')
  expect(line({ n: 3, topic: 'spans' })).toBe('spans')
  expect(line('*** Begin Patch\n+x')).toBe('*** Begin Patch')
  expect(line({})).toBe('')
  expect(line(null)).toBe('')
})

test('a failure is one by its code or its mark', () => {
  const failed = (content: Record<string, unknown>) =>
    items(response(1, 'Bash', { content })).map((item) => 'event' in item && item.event.failed)
  expect([{ exit_code: 0 }, { exit_code: 2 }, { is_error: true }, {}].map(failed)).toEqual([[false], [true], [true], [false]])
})

test('a text is cut between characters, and says that it is', () => {
  const [item] = items(row(1, 'assistant_response', { content: { text: `${'x'.repeat(3_999)}😀 and more` }, characters: 4_010 }))
  const event = 'event' in item! ? item.event : undefined
  expect([event?.text.length, event?.text.isWellFormed(), event?.cut]).toEqual([3_999, true, true])
})

test('how long something took is told in its two largest units', () => {
  const told = (ms: number) => lasted('2026-04-29T18:00:00.000Z', new Date(Date.UTC(2026, 3, 29, 18) + ms).toISOString())
  const said = [0, 400, 970, 59_600, 80_000, 3_600_000, 7_505_000, 187_200_000, -5].map(told)
  expect(said).toEqual(['0 s', '0.4 s', '1 s', '1 min', '1 min 20 s', '1 h', '2 h 5 min', '2 d 4 h', '0 s'])
})
