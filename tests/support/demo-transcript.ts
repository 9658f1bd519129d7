// A transcript of Claude Code with something of everything that the trace viewer shows: for pictures, and for tests of its pages.

interface Block {
  type: string
  [field: string]: unknown
}

const SESSION = '7a1c2d3e-0000-4000-8000-00000000c1a1'
export const LONG_OUTPUT = Array.from(
  { length: 260 },
  (_, i) => `${String(i + 1).padStart(6)}→  const part${i} = tokens.slice(${i}, ${i + 4}).map((token) => token.kind) // a line of the file`,
).join('\n')
const FIXED = `Fixed. The offset of the template was **subtracted** from the inner tokens instead of added.

| file | change |
| --- | --- |
| \`src/parser/template.ts\` | \`+ offset\` on both ends |
| \`tests/parser/spans.test.ts\` | a test for nested templates |

All 42 tests pass.`
const FAILED = `Error: Exit code 1
tests/parser/spans.test.ts:
✗ a token in a template string keeps its span [3.2ms]
  expected { start: 12, end: 17 }, received { start: 0, end: 5 }

 41 pass
 1 fail
Ran 42 tests across 6 files. [212.00ms] ${'─'.repeat(160)}`

/** The transcript, a record a line. Turns: a fix with four tools; one that was interrupted; a long prompt; one that has no end. */
export const demoTranscript = (): string => {
  const lines: string[] = []
  let [at, n] = [Date.UTC(2026, 10, 21, 14, 2), 0]
  const record = (type: string, fields: object, seconds = 3) => {
    at += seconds * 1000
    const common = { sessionId: SESSION, uuid: `record-${++n}`, isSidechain: false, timestamp: new Date(at).toISOString() }
    lines.push(JSON.stringify({ type, ...common, ...fields }))
  }
  const user = (content: string | Block[], seconds = 40) => record('user', { message: { role: 'user', content } }, seconds)
  const agent = (block: Block, stop_reason: string | null = null) =>
    record('assistant', { message: { role: 'assistant', model: 'claude-opus-5', content: [block], stop_reason } })
  const answer = (text: string) => agent({ type: 'text', text }, 'end_turn')
  const call = (id: string, name: string, input: object) => agent({ type: 'tool_use', id, name, input }, 'tool_use')
  const result = (id: string, content: string, more: object = {}) => user([{ type: 'tool_result', tool_use_id: id, content, ...more }], 2)

  record('file-history-snapshot', { snapshot: { trackedFileBackups: {} } })
  user('The parser loses the span of a token inside a template string. Find out why, and fix it.\n\nSee `src/parser/spans.ts`.')
  agent({ type: 'thinking', thinking: 'First I reproduce it.\n\n1. run the tests\n2. look where spans are moved' })
  agent({ type: 'text', text: "I'll start by reproducing it." })
  call('call-1', 'Bash', { command: 'bun test tests/parser --bail\ngit status --short', description: 'Run the parser tests' })
  result('call-1', FAILED, { is_error: true })
  call('call-2', 'Grep', { pattern: 'span\\.start', path: 'src/parser', output_mode: 'content' })
  result('call-2', 'src/parser/spans.ts:41:  return { start: span.start, end: span.end }')
  call('call-3', 'Read', { file_path: 'src/parser/template.ts' })
  result('call-3', LONG_OUTPUT)
  record('progress', { data: { type: 'hook' } })
  record('queue-operation', { operation: 'enqueue' })
  call('call-4', 'Edit', { file_path: 'src/parser/template.ts', old_string: 'start - offset', new_string: 'start +\n  offset' })
  result('call-4', 'The file src/parser/template.ts has been updated.')
  call('call-5', 'Bash', { command: 'bun test tests/parser' })
  result('call-5', 'Exit code 0\n 42 pass\n 0 fail')
  answer(FIXED)
  user('Now the same for regular expressions. Read both files at once.')
  call('call-6', 'Read', { file_path: 'src/parser/regexp.ts' })
  call('call-7', 'Read', { file_path: 'src/parser/scan.ts' })
  result('call-7', 'the scanner')
  result('call-6', 'the expressions')
  user('[Request interrupted by user]')
  user(`What does this log say?\n${'A long line that was pasted from the log of a build. '.repeat(200)}`)
  answer('That the build went well.')
  user('One more: run the linter.')
  call('call-8', 'mcp__parley__search_sessions', { query: 'oxlint options', n_hits: 20, event_types: ['tool_response'] })
  result('call-8', '{"results":[]}')
  record('something-new', { payload_of_it: { a: 1 } })
  return `${lines.join('\n')}\n`
}
