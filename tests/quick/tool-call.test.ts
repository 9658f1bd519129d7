import { expect, test } from 'bun:test'
import { callLine, callText } from '../../src/core/events/tool-call.ts'

test.each([
  ['Bash', { command: 'npm test' }, 'Bash: npm test'],
  ['Bash', { description: 'Clean up', command: 'rm -rf /' }, 'Bash: rm -rf /'],
  ['shell', { command: ['bash', '-lc', 'ls'] }, 'shell: ls'],
  ['shell', { command: ['bash', '-c', 'rm -rf /', 'ls'] }, 'shell: bash -c rm -rf / ls'],
  ['shell', { command: ['bash', '--init-file', 'ls'] }, 'shell: bash --init-file ls'],
  ['Grep', { path: 'src', pattern: 'span' }, 'Grep: span'],
  ['edit', { filePath: 'a.ts', oldString: 'x' }, 'edit: a.ts'],
  ['Task', { description: 'Look around', prompt: 'Long.' }, 'Task: Look around'],
  ['own', { line: 4, said: 'hello' }, 'own: hello'],
  ['Bash', { command: '' }, 'Bash'],
  ['x', { nested: { command: 'no' } }, 'x'],
  ['x', 'text', 'x: text'],
  ['x', null, 'x'],
  [null, { query: 'a\u0007b' }, 'tool: a\u0007b'],
  ['Bash', { command: 'echo\n  hi' }, 'Bash: echo hi'],
  ['Bash', { command: 'y'.repeat(500) }, `Bash: ${'y'.repeat(193)}…`],
  ['Bash', { command: `${'y'.repeat(192)}😀😀😀😀😀` }, `Bash: ${'y'.repeat(192)}…`],
])('%s with %j in one line', (tool, given, line) => {
  expect(callLine(tool, given)).toBe(line)
})

test('a call whole keeps its line breaks and its length', () => {
  const command = `echo\n  ${'y'.repeat(500)}`
  expect(callText('Bash', { command })).toBe(`Bash: ${command}`)
  expect(callText('Bash', {})).toBe('Bash')
})
