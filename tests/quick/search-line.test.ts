import { expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Marked } from '../../components/parts/marked.tsx'
import { Hits, type EventHit } from '../../components/search/search-hits.tsx'
import { eventKindsOf } from '../../src/core/events/event-kinds.ts'
import { excerpt } from '../../src/core/events/event-text.ts'
import { searchLine } from '../../src/pages/search/search-line.ts'
import { eventKinds } from '../../src/rooms/event-kinds.ts'
import type { Event } from '../../src/stores/events.ts'

const kinds = eventKindsOf([{ eventKinds }])
const event = (fields: object) => ({ id: 'x', sequence: 1, at: '2026-04-29T12:00:00Z', ...fields }) as Event

test('a rename says what it was, what it is and why, and a change of both which is which', () => {
  const renamed = event({
    type: 'system',
    event: 'session_metadata_updated',
    by: "Alex's Team",
    changes: { title: { from: 'A parser', to: 'Two parsers' }, description: { from: '', to: 'One each.' } },
    reason: 'One is not enough.',
  })
  expect(searchLine(renamed, 'system', 'session_metadata_updated, by: …', ['two'], kinds)).toBe(
    "Alex's Team renamed the session: A parser → Two parsers, description none → One each. “One is not enough.”",
  )
})

test('an event whose fields are not what they should be is a line all the same', () => {
  for (const changes of [null, 'all', [1], { title: null }, { title: 'x' }])
    expect(searchLine(event({ type: 'system', event: 'noted', changes, reason: 4 }), 'system', '', ['x'], kinds)).toStartWith(
      'Somebody noted',
    )
})

const call = (tool_name: string, given: unknown) => event({ type: 'tool_call', tool_name, content: { arguments: given } })

test('a call is its tool and what tells most of it, and the argument that was looked for', () => {
  const line = (tool: string, given: unknown, ...terms: string[]) =>
    searchLine(call(tool, given), 'tool_call', 'machine text', terms, kinds)
  expect(line('Bash', { command: 'bun test\ngit status', description: 'Run' }, 'status')).toBe('Bash\u2002bun test git status')
  expect(line('Grep', { pattern: 'span', path: 'src/lexer' }, 'lexer')).toBe('Grep\u2002span · src/lexer')
  expect(line('Edit', { file_path: 'a.ts', edits: [{ old: 'lexer' }] }, 'lexer')).toBe('Edit\u2002a.ts · [{"old":"lexer"}]')
  expect(line('shell', undefined, 'lexer')).toBe('shell\u2002')
})

test('what was said loses the marks of its markdown, the languages of its fences among them', () => {
  const said = (text: string, quoted = text) =>
    searchLine(event({ type: 'chat', content: { text } }), 'assistant_response', quoted, ['git'], kinds)
  expect(said('The **parser** passes:\n\n```sh\ngit status\n```')).toBe('The parser passes: git status')
  expect(said(`${'word '.repeat(9_000)}\n\ngit`, '…word **git**')).toBe('…word git') // too far on to be looked for
})

test('a long text is quoted by its rarest word, not by a common one or a part of another further ahead', () => {
  const log = `An import in the parser.\n${'Compiling the next crate in turn.\n'.repeat(900)}error E0308: mismatched types`
  const said = (...terms: string[]) =>
    searchLine(event({ type: 'chat', content: { text: log } }), 'assistant_response', excerpt(log, terms).text, terms, kinds)
  expect(said('e0308', '0308', 'in', 'e')).toContain('error E0308')
  expect(said('types', 'in')).toContain('mismatched types')
  expect(said('parser', 'in')).toStartWith('An import in the parser.')
  expect(said('ompilin')).toContain('Compiling')
})

test('a call shows the argument that has the rarest word', () => {
  const line = (...terms: string[]) =>
    searchLine(call('Grep', { pattern: 'in reports', path: 'src/lexer', glob: 'port/*.ts' }), 'tool_call', '', terms, kinds)
  expect(line('lexer', 'in')).toBe('Grep\u2002in reports · src/lexer')
  expect(line('port', 'in')).toBe('Grep\u2002in reports · port/*.ts')
  expect(line('epor')).toBe('Grep\u2002in reports')
})

test('what a tool answered stays as it is', () => {
  expect(searchLine(event({ type: 'tool_response', content: { text: '**x**' } }), 'tool_response', '**x**', ['x'], kinds)).toBe('**x**')
})

test('the name beside what was said leads to all that they said; beside what they did on a board it leads nowhere', () => {
  const html = (kind: EventHit['kind'], search = {}) => {
    const about = { sessionId: 'x', title: 'X', source: 'room', at: '2026-04-29T12:00:00Z', href: '/x', team: { name: 'Robin', hue: 1 } }
    return renderToStaticMarkup(
      createElement(Hits, { hits: [{ ...about, kind, snippet: 'One' }], search: { query: 'one', ...search }, terms: [] }),
    )
  }
  expect(html('user_input')).toContain('by=Robin')
  for (const shown of [html('system'), html('user_input', { by: 'Robin' })]) {
    expect(shown).toContain('Robin')
    expect(shown).not.toContain('Only what')
  }
})

test('words are marked in whatever form they are written', () => {
  const marked = (text: string, ...terms: string[]) => renderToStaticMarkup(createElement(Marked, { text, terms }))
  expect(marked('The ＰＡＲＳＥＲ of parsers, a Parser…', 'parser')).toBe(
    'The <mark>ＰＡＲＳＥＲ</mark> of parsers, a <mark>Parser</mark>…',
  )
  expect(marked('… 𝐩𝐚𝐫𝐬𝐞𝐫, ＡＬＬＥ́', 'parser', 'allé')).toBe('… <mark>𝐩𝐚𝐫𝐬𝐞𝐫</mark>, <mark>ＡＬＬＥ́</mark>')
  expect(marked('İİ port, İstanbul', 'port', 'i\u0307stanbul')).toBe('İİ <mark>port</mark>, <mark>İstanbul</mark>')
  expect(marked('占用了８０８０端口', '8080')).toBe('占用了<mark>８０８０</mark>端口')
})

test('a call shows the argument that has a word in another form', () => {
  expect(searchLine(call('Grep', { pattern: 'span', path: 'ＬＥＸＥＲ' }), 'tool_call', '', ['lexer'], kinds)).toBe(
    'Grep\u2002span · ＬＥＸＥＲ',
  )
})
