// The wing of control: a runner with one worktree, keys of each scope, and what must look the same after each program.
import { keyOf } from '../../support/keys.ts'
import { runnerAt } from '../../support/played-runner.ts'
import type { Parley } from '../../support/parley.ts'
import type { View, Wing } from '../run.ts'
import type { State } from '../state.ts'
import { runner } from './runner.ts'
import { opened, sessions, wholeAnswer } from './sessions.ts'
import { taskRows, tasks } from './tasks.ts'
import type { Work } from './work.ts'

// A program of its own runner and keys; its first session has an agent, and a key of its own.
const begin = async (parley: Parley, state: State): Promise<void> => {
  const { id, name, worktree, path, repo, key: run } = await runnerAt(parley)
  const [full, read] = [await keyOf(parley, 'full'), await keyOf(parley, 'read')]
  const body = JSON.stringify({ title: 'Parser', worktree_id: worktree })
  const made = await parley.send('/api/control/create_session', { headers: { authorization: `Bearer ${full}` }, body })
  const { session_id } = (await made.json()) as { session_id: string }
  const sess = await keyOf(parley, 'sess', session_id)
  const control = { keys: { run, full, read, sess }, runner: { id, name, worktree, path, repo, former: [] }, order: [] }
  Object.assign(state.control, control, { work: [opened(session_id, 'Parser', {})] })
}

const views: View<Work>[] = [
  {
    op: 'control.get_session',
    input: ({ id }) => ({ session_id: id }),
    shows: (of, { control }) => ({ session: wholeAnswer(of, control) }),
  },
  {
    op: 'control.list_tasks',
    input: ({ id }) => ({ session_id: id, limit: 200 }),
    shows: ({ id }, { control }) => ({ tasks: taskRows(control, id) }),
  },
  {
    op: 'get_history',
    input: ({ id }) => ({ session_id: id, limit: 500, include_trace: true }),
    shows: () => ({}),
    // Each prompt, each printed line and each answer once, in a log without a gap; and what children told when their tasks ended.
    also({ id, tasks: own }, { messages }, { control }) {
      const found = (type: string, of?: string) =>
        messages.filter((one: any) => one.type === type && (of === undefined || one.event === of))
      const children = control.work.filter(({ parent }) => parent === id).flatMap(({ tasks: theirs }) => theirs)
      const ended = children.filter(({ status }) => status !== 'queued' && status !== 'running')
      return (
        messages.every(({ sequence }: any, i: number) => sequence === i + 1) &&
        Bun.deepEquals(found('user_input').map(({ task_id }: any) => task_id), own.map((task) => task.id)) &&
        found('assistant_response').length === own.flatMap(({ printed }) => printed).length &&
        found('chat').length === own.filter(({ answer }) => answer !== null).length &&
        Bun.deepEquals(found('system', 'subsession_finished').map(({ task_id }: any) => task_id).toSorted(), ended.map((task) => task.id).toSorted()) // prettier-ignore
      )
    },
  },
]

export const control: Wing = { commands: [...sessions, ...tasks, ...runner], views, subjects: (state) => state.control.work, begin }
