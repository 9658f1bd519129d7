import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { toolNames, toolsOf } from '../../src/doors/mcp/tools.ts'
import { toolsets } from '../../src/toolsets.ts'
import { startParley, type Parley } from '../support/parley.ts'

// A tool's schema is a promise to agents: it moves in view of the reviewer, or not at all.
const UPDATE = 'UPDATE=1 bun test tests/tools'
const snapshotOf = (name: string) => join(import.meta.dir, `${name}.json`)
const tools = toolsOf(toolNames(toolsets))
const textOf = (tool: object) => `${JSON.stringify(tool, null, 2)}\n`

let parley: Parley
beforeAll(async () => {
  parley = await startParley()
})
afterAll(() => parley?.close())

if (process.env.UPDATE) {
  for (const file of readdirSync(import.meta.dir).filter((name) => name.endsWith('.json'))) rmSync(join(import.meta.dir, file))
  for (const tool of tools) await Bun.write(snapshotOf(tool.name), textOf(tool))
}

test.each(tools.map(({ name }) => name))('%s is listed as its snapshot says', async (name) => {
  const { tools: served } = await (await parley.client(`/mcp?toolsets=${toolsets.map((toolset) => toolset.name).join(',')}`)).listTools()
  const file = Bun.file(snapshotOf(name))
  if (!(await file.exists())) throw new Error(`tests/tools/${name}.json is missing. If the tool is meant to be new: ${UPDATE}`)
  expect(served.find((tool) => tool.name === name) as object, `If the change is meant: ${UPDATE}`).toEqual(await file.json())
})

test('there is no snapshot of a tool that is gone', () => {
  const files = readdirSync(import.meta.dir).filter((name) => name.endsWith('.json'))
  expect(files.toSorted(), `If they are gone for good: ${UPDATE}`).toEqual(tools.map(({ name }) => `${name}.json`).toSorted())
})

test('Claude Code shows at once the tools that nobody gets far without, and finds each other one by a few words', () => {
  const loaded = tools.filter(({ _meta }) => _meta && 'anthropic/alwaysLoad' in _meta).map(({ name }) => name)
  expect(loaded).toEqual(['create_session', 'join_session', 'post_message', 'wait_for_messages', 'send_prompt', 'get_task'])
  const hints = tools.filter(({ name }) => !loaded.includes(name)).map(({ _meta }) => (_meta as Record<string, string>)['anthropic/searchHint'])
  for (const hint of hints) expect(hint).toMatch(/^\S+( \S+){1,6}$/)
  expect(new Set(hints).size).toBe(hints.length)
})

// An agent pays for this before it has said a word: each tool without its `_meta`, which no client gives to its model.
test('the list of /mcp costs at most 6,000 tokens, at four characters each, and what nearly every agent calls 1,500 of them', async () => {
  const list = (await (await parley.client('/mcp')).listTools()).tools.map(({ _meta, ...seen }) => seen)
  const most = ['create_session', 'join_session', 'wait_for_messages', 'post_message']
  const called = list.filter(({ name }) => most.includes(name))
  expect(called).toHaveLength(most.length)
  expect(JSON.stringify(list).length / 4).toBeLessThanOrEqual(6_000)
  expect(JSON.stringify(called).length / 4).toBeLessThanOrEqual(1_500)
})

test.each([
  ['/mcp/control', 3_000],
  ['/mcp/records', 4_500],
  ['/mcp?toolsets=rooms,control', 9_000],
])('the list of %s costs at most %i tokens', async (path, most) => {
  const list = (await (await parley.client(path)).listTools()).tools.map(({ _meta, ...seen }) => seen)
  expect(list.length).toBeGreaterThanOrEqual(10)
  expect(JSON.stringify(list).length / 4).toBeLessThanOrEqual(most)
})
