import { expect, test } from 'bun:test'
import type { EventType } from '../../src/core/events/event-types.ts'
import { sessionKindAfter, type SessionKind } from '../../src/core/session-kind.ts'
import { toolNames } from '../../src/doors/mcp/tools.ts'
import { ownTools, toolsets } from '../../src/toolsets.ts'

const kindAfter = (toolName: string) => sessionKindAfter('chat', 'tool_call', toolName, ownTools)

test('every tool of this server, and no other, is known by its own name', () => {
  expect([...ownTools].toSorted()).toEqual([...toolNames(toolsets).keys()].toSorted())
  for (const name of ownTools) {
    expect(kindAfter(name)).toBe(['open', 'peek'].includes(name) ? 'tool_calling' : 'mcp_internal')
    expect(kindAfter(`mcp__parley__${name}`)).toBe('mcp_internal')
  }
})

test.each(['mcp__parley__peek', 'parley.open', 'parley__catch_up'])('%s is known by the name the server is registered by', (name) => {
  expect(kindAfter(name)).toBe('mcp_internal')
})

test.each(['reopen', 'post', 'mcp__slack__post_message', 'parleyed'])('%s is a tool like any other', (name) => {
  expect(kindAfter(name)).toBe('tool_calling')
})

test('a session is of the kind of the most telling tool it used', () => {
  const after = (kind: SessionKind, type: EventType, toolName: string | null) => sessionKindAfter(kind, type, toolName, ownTools)
  expect(after('chat', 'assistant_response', null)).toBe('chat')
  expect(after('chat', 'tool_call', 'exec_command')).toBe('tool_calling')
  expect(after('tool_calling', 'tool_call', 'mcp__parley__post_message')).toBe('mcp_internal')
  expect(after('mcp_internal', 'tool_call', 'WebSearch')).toBe('web_search')
  expect(after('web_search', 'tool_call', 'exec_command')).toBe('web_search')
  expect(after('chat', 'tool_response', 'WebSearch')).toBe('chat')
})
