// Lists cost the same number of queries however much there is. How long they take, bench/control-lists measures.
import { expect } from 'bun:test'
import { fewestStatements } from '../../support/fewest-statements.ts'
import { test } from '../../support/foreign.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { manySessions } from '../../support/many-sessions.ts'
import { done, onOneEngine, viaRest, type Call } from '../../support/parley.ts'
import { runnerAt } from '../../support/played-runner.ts'
import { FULL } from '../../support/full.ts'

const COUNT = FULL ? 10_000 : 1_000

onOneEngine((parley) => {
  const call: Call = (...given) => viaRest(parley())(...given)

  test('of many sessions and tasks: as many queries as of a few, whatever the size of a page', async () => {
    const [runner, as] = [await runnerAt(parley()), { headers: bearer(await keyOf(parley(), 'full')) }]
    const made = await done(call('control.create_session', { title: 'T', worktree_id: runner.worktree, initial_prompt: 'Go.' }, as))
    const queries = (name: string, input: Record<string, unknown>, enough?: number) =>
      fewestStatements(parley().database, () => done(call(`control.${name}`, input, as)), enough)
    const lists = (session_id: string): [string, Record<string, unknown>][] => [
      ['list_sessions', { limit: 1 }],
      ['list_sessions', { limit: 200 }],
      ['list_sessions', { limit: 200, status: 'running', include_archived: true }],
      ['list_tasks', { session_id, limit: 1 }],
      ['list_tasks', { session_id, limit: 200 }],
      ['list_worktrees', { limit: 200 }],
      ['get_session', { session_id }],
    ]
    const few: number[] = []
    for (const [name, input] of lists(made.session_id)) few.push(await queries(name, input))
    const first = await manySessions(parley().database, runner.worktree, COUNT)
    const many: number[] = []
    for (const [i, [name, input]] of lists(first).entries()) many.push(await queries(name, input, few[i]))
    for (const [i, count] of many.entries()) expect([lists(first)[i]![0], count <= few[i]!]).toEqual([lists(first)[i]![0], true])
    expect(Math.max(...many.slice(0, -1))).toBeLessThanOrEqual(4)

    const seen = new Set<string>()
    let pages = 0
    for (let cursor: string | undefined; ; pages++) {
      const page = await done(call('control.list_sessions', { limit: 200, ...(cursor && { cursor }) }, as))
      for (const { session_id } of page.sessions) seen.add(session_id)
      if (!page.has_more) break
      cursor = page.next_cursor
    }
    expect([seen.size, pages]).toEqual([COUNT + 1, Math.floor(COUNT / 200)])
    const { session } = await done(call('control.get_session', { session_id: first }, as))
    expect([session.tasks.length, session.usage]).toEqual([
      20,
      { input_tokens: 10 * COUNT, output_tokens: COUNT, cost_usd: expect.closeTo(COUNT / 1_000) },
    ])
  })
})
