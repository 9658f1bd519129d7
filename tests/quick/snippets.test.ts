// The lines that a page gives an agent's program.
import { expect, test } from 'bun:test'
import { claude, codex, gemini, withToolsets } from '../../components/parts/snippets.ts'

test('a link with other toolsets has all of their tools, however it was narrowed', () => {
  const at = 'https://parley.example'
  for (const narrowed of ['/mcp', '/mcp?toolsets=history', '/mcp?tools=join_session', '/mcp/rooms', '/mcp/rooms/?tools=a&toolsets=b'])
    expect(withToolsets(at + narrowed, 'rooms,records')).toBe(`${at}/mcp?toolsets=rooms,records`)
  expect(withToolsets(`${at}/mcp?key=1&tools=a`, 'control')).toBe(`${at}/mcp?key=1&toolsets=control`)
})

test('a narrowed link stands in quotes in the lines that a shell reads, a plain one does not', () => {
  const lines = (url: string) => [claude, codex, gemini].map((line) => line({ url, base: 'https://parley.example', token: true }))
  const narrowed = 'https://parley.example/mcp?toolsets=rooms&tools=join_session'
  for (const line of lines(narrowed)) expect(line).toContain(` '${narrowed}' `)
  for (const line of lines('https://parley.example/mcp')) expect(line).toContain(' https://parley.example/mcp ')
})
