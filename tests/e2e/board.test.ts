// Three agents, each a program of its own that speaks MCP, and no person: they share out a plan, one of them is killed, and all is done in the
// end, nothing twice.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { pathsOverlap } from '../support/paths-overlap.ts'
import { startServer, type TestServer } from '../support/server.ts'

const AGENT = join(import.meta.dir, '../support/board-agent.ts')
const LEASE_S = 8

// Four parts, each designed, built and tested: each step waits for the one before, and the parts of one layer share a folder.
const PARTS = ['lexer', 'parser', 'printer', 'loader']
const PLAN = PARTS.flatMap((part, i) => [
  { title: `Design the ${part}`, paths: [`docs/${part}.md`] },
  { title: `Build the ${part}`, depends_on: [`#${3 * i + 1}`], paths: [`src/${part}/**`, 'src/shared.ts'] },
  { title: `Test the ${part}`, depends_on: [`#${3 * i + 2}`], paths: ['tests'] },
])

let server: TestServer
let session_id: string
const tokens: string[] = []
const agents: ChildProcess[] = []

const api = async (path: string, body?: object, team: string | null = tokens[0] ?? null): Promise<any> => {
  const response = await fetch(`${server.url}/api/sessions${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: team === null ? {} : { 'x-team-id': team },
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}

beforeAll(async () => {
  server = await startServer({ CLAIM_LEASE: String(LEASE_S) })
  const made = await api('', { title: 'Shipping the parser', description: 'Split it.', creator_team_name: 'Claude' })
  session_id = made.session_id
  tokens.push(made.team_id)
  for (const team_name of ['Codex', 'Gemini']) tokens.push((await api(`/${session_id}/join`, { team_name }, null)).team_id)
}, 180_000)
afterAll(async () => {
  for (const agent of agents) agent.kill('SIGKILL')
  await server?.remove()
})

const startAgent = (team: number, manner: string) => {
  const agent = spawn(process.execPath, [AGENT, server.url, session_id, tokens[team]!, manner], { stdio: ['ignore', 'pipe', 'inherit'] })
  agents.push(agent)
  const ended = new Promise<number | null>((resolve) => agent.once('exit', resolve))
  const said = new Promise<string>((resolve) => agent.stdout!.once('data', (data) => resolve(String(data))))
  return { agent, ended, said }
}

interface Told {
  kind: string
  item: string
  by: string
  sequence: number
}

/** What the log says of the board, in its order. */
const told = async (): Promise<Told[]> => {
  const { messages } = await api(`/${session_id}/messages?limit=500&include_trace=true`)
  return messages
    .map((row: any) => ({ ...row, ...(row.type === 'runtime' ? row.content : {}) }))
    .filter(({ event, item_id }: any) => item_id !== undefined && String(event).startsWith('work_'))
    .map(({ event, item_id, by, sequence }: any) => ({ kind: event, item: item_id, by, sequence }))
}

test('a plan of twelve items: all done, none by two at once, the killed one released once each, no two live claims overlap', async () => {
  const { items } = await api(`/${session_id}/work`, { items: PLAN })
  const hoarder = startAgent(2, 'hoards')
  expect(await hoarder.said).toContain('holds two')
  const others = [startAgent(0, 'works'), startAgent(1, 'returns')]
  hoarder.agent.kill('SIGKILL')
  await hoarder.ended
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0])

  const { items: after, counts } = await api(`/${session_id}/work?limit=50`)
  expect(counts).toMatchObject({ open: 0, claimed: 0, done: 12 })
  for (const { status, title, result } of after) expect([status, result]).toEqual(['done', `Done: ${title}`])

  const log = await told()
  const count = (kind: string, item: string) => log.filter((row) => row.kind === kind && row.item === item).length
  const hoarded = log.filter(({ kind, by }) => kind === 'work_claimed' && by === 'Gemini').map(({ item }) => item)
  expect(hoarded).toHaveLength(2)
  for (const item of hoarded) expect(count('work_released', item)).toBeGreaterThanOrEqual(1)
  expect(log.filter(({ kind }) => kind === 'work_released')).toHaveLength(3) // those two, and the one that was handed back, be it one of them
  for (const { item_id } of items) expect(count('work_done', item_id)).toBe(1)
  expect(overlapsIn(log, new Map(items.map(({ item_id, paths }: any) => [item_id, paths])))).toEqual([])
  expect(outOfOrder(log, items)).toEqual([])
}, 180_000)

/** Claims that were taken while another team held the same item or an overlapping path. */
const overlapsIn = (log: Told[], paths: Map<string, string[]>): string[] => {
  const held = new Map<string, string>() // who holds which item
  const wrong: string[] = []
  for (const { kind, item, by, sequence } of log) {
    if (kind !== 'work_claimed') {
      held.delete(item)
      continue
    }
    for (const [other, holder] of held)
      if (other === item || (holder !== by && paths.get(item)!.some((a) => paths.get(other)!.some((b) => pathsOverlap(a, b)))))
        wrong.push(`#${sequence}: ${by} claimed ${item} beside ${holder}'s ${other}`)
    held.set(item, by)
  }
  return wrong
}

/** Items that were claimed before all that they depend on was done. */
const outOfOrder = (log: Told[], items: any[]): string[] => {
  const done = new Set<string>()
  return log.flatMap(({ kind, item }) => {
    if (kind === 'work_done') done.add(item)
    const waits = kind === 'work_claimed' ? items.find(({ item_id }) => item_id === item).depends_on : []
    return waits.some(({ item_id }: any) => !done.has(item_id)) ? [item] : []
  })
}
