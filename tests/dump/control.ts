// A runner whose agent has done a task, works on another and asks for permission; a second session whose task waits for the runner.
import { bearer, keyOf } from '../support/keys.ts'
import { done } from '../support/parley.ts'
import { called, gave, runnerAt, said } from '../support/played-runner.ts'
import type { Scene } from './leave.ts'

export const leave = async ({ parley, call, keep }: Scene) => {
  const runner = await runnerAt(parley)
  const full = await keyOf(parley, 'full')
  const create = (title: string) => keep('control.create_session', { title, worktree_id: runner.worktree }, { bearer: full })
  const prompt = (session_id: string, text: string) => keep('control.send_prompt', { session_id, prompt: text }, { bearer: full })
  const { session_id } = await create('Empty files')
  const first = await prompt(session_id, 'Add a test.')
  await runner.work('The test is there.', [said('I look.'), called('Bash', { command: 'ls' }), gave('parser.ts')])
  const second = await prompt(session_id, 'Write notes.')
  const taken = await runner.takeOne()
  await runner.print(taken.task_id, [said('I write.')])
  const ask = { runner_id: runner.id, task_id: taken.task_id, request_id: 'leave', tool_name: 'Write', text: 'Write notes.md', input: {} }
  await done(runner.call('ask_permission', { ...ask, timeout: 0 }))
  const other = await create('The printer')
  const queued = await prompt(other.session_id, 'Print it.')
  const { messages } = (await (
    await parley.send(`/api/sessions/${session_id}/messages?include_trace=true&limit=500`, { headers: bearer(full) })
  ).json()) as { messages: unknown[] }
  return {
    runner: { id: runner.id, key: runner.key, name: runner.name, repo: runner.repo, path: runner.path },
    full,
    agent: taken.agent_key as string,
    session_id,
    log: messages,
    done: first.task_id as string,
    running: second.task_id as string,
    ask,
    other: other.session_id as string,
    queued: queued.task_id as string,
    seen: await done(call('control.get_session', { session_id }, { headers: bearer(full) })),
  }
}
