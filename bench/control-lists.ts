// What control's lists cost among 10,000 sessions with agents and 10,000 tasks of one of them, over REST, one after the other.
// `bun bench/control-lists.ts`
import { makeKey } from '../src/control/keys/keys.ts'
import { manySessions } from '../tests/support/many-sessions.ts'
import { bench, row, spread } from './support.ts'

const COUNT = 10_000
const ROUNDS = 200

await bench(async ({ url, services }) => {
  const keyOf = (scope: string) => makeKey(services, { scope, name: 'bench', sessionId: undefined, by: 'bench' })
  const [full, run] = [await keyOf('full'), await keyOf('run')]
  const ask = async (path: string, key: string, input: object): Promise<any> => {
    const response = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(input),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const worktree = { path: '/code/parser', repo_full_name: 'acme/parser', branch: 'main', head: null }
  const { worktrees } = await ask('runner/register', run, { name: 'bench', agents: [], worktrees: [worktree] })
  const session_id = await manySessions(services.database, worktrees[0].worktree_id, COUNT)
  const page = await ask('control/list_sessions', full, { limit: 200 })
  const calls: [string, string, object][] = [
    ['list_sessions, 20', 'control/list_sessions', {}],
    ['list_sessions, 200', 'control/list_sessions', { limit: 200 }],
    ['list_sessions, the 200 after these', 'control/list_sessions', { limit: 200, cursor: page.next_cursor }],
    ['list_sessions, 20 that failed', 'control/list_sessions', { status: 'failed' }],
    ['list_sessions, 20 that do not exist', 'control/list_sessions', { status: 'completed' }],
    ['list_tasks, 20', 'control/list_tasks', { session_id }],
    ['list_tasks, 200', 'control/list_tasks', { session_id, limit: 200 }],
    ['list_tasks, 20 that do not exist', 'control/list_tasks', { session_id, status: 'failed' }],
    ['list_worktrees', 'control/list_worktrees', {}],
    ['get_session, with 10,000 tasks', 'control/get_session', { session_id }],
  ]
  const took = calls.map((): number[] => [])
  for (let n = -20; n < ROUNDS; n++)
    for (const [i, [, path, input]] of calls.entries()) {
      const from = performance.now()
      await ask(path, full, input)
      if (n >= 0) took[i]!.push(performance.now() - from)
    }
  for (const [i, [name]] of calls.entries()) row(name, `${spread(took[i]!, 1)} ms`)
})
