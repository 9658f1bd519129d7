import { expect, test } from 'bun:test'
import { modeAfter, OWN_TOOLS } from '../../src/core/session-kind.ts'
import { toolNames } from '../../src/doors/mcp/routes.ts'
import { toolsets } from '../../src/toolsets.ts'

test('every tool of this server, and no other, is known by its own name', () => {
  expect([...OWN_TOOLS].toSorted()).toEqual([...toolNames(toolsets).keys()].toSorted())
  for (const name of OWN_TOOLS) {
    expect(modeAfter('chat', 'tool_call', name)).toBe(['open', 'peek'].includes(name) ? 'tool_calling' : 'mcp_internal')
    expect(modeAfter('chat', 'tool_call', `mcp__parley__${name}`)).toBe('mcp_internal')
  }
})

test.each(['mcp__parley__peek', 'parley.open', 'parley__catch_up'])('%s is known by the name the server is registered by', (name) => {
  expect(modeAfter('chat', 'tool_call', name)).toBe('mcp_internal')
})

test.each(['reopen', 'post', 'mcp__slack__post_message', 'parleyed'])('%s is a tool like any other', (name) => {
  expect(modeAfter('chat', 'tool_call', name)).toBe('tool_calling')
})
