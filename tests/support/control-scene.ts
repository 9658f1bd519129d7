// A session with an agent, and the calls of whoever steers it, for tests of control.
import { bearer, keyOf } from './keys.ts'
import { done, viaRest, type Served } from './parley.ts'
import { runnerAt } from './played-runner.ts'

/** Calls of control's tools with a key. */
export const controlWith =
  (served: Served, key: string) =>
  (name: string, input: object = {}, headers: Record<string, string> = {}) =>
    viaRest(served)(`control.${name}`, { ...input }, { headers: { ...bearer(key), ...headers } })
export type Control = ReturnType<typeof controlWith>

/** A runner with one worktree, a full key, and a session whose agent works there. `more` goes into `register`. */
export const controlScene = async (served: Served, more: Record<string, unknown> = {}) => {
  const runner = await runnerAt(served, more)
  const key = await keyOf(served, 'full')
  const call = controlWith(served, key)
  const session = await done(call('create_session', { title: 'Parser', worktree_id: runner.worktree }))
  const session_id = session.session_id as string
  const start = (prompt = 'Add a test.', others: object = {}) => done(call('send_prompt', { session_id, prompt, ...others }))
  /** What stands in a session's log. */
  const log = async (id = session_id): Promise<any[]> => {
    const answer = await served.send(`/api/sessions/${id}/messages?include_trace=true&limit=500`, { headers: bearer(key) })
    return ((await answer.json()) as any).messages
  }
  return { runner, key, call, session, session_id, start, log }
}
