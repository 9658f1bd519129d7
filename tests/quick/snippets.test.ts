// The lines that a page gives an agent's program.
import { expect, test } from 'bun:test'
import { withToolsets } from '../../components/parts/snippets.ts'

test('a link with other toolsets has all of their tools, however it was narrowed', () => {
  const at = 'https://parley.example'
  for (const narrowed of ['/mcp', '/mcp?toolsets=history', '/mcp?tools=join_session', '/mcp/rooms', '/mcp/rooms/?tools=a&toolsets=b'])
    expect(withToolsets(at + narrowed, 'rooms,records')).toBe(`${at}/mcp?toolsets=rooms,records`)
  expect(withToolsets(`${at}/mcp?key=1&tools=a`, 'control')).toBe(`${at}/mcp?key=1&toolsets=control`)
})
