// Who calls control: keys by their scope, or a signed-in person over REST.
import { refuses, type Asked, type Verdict } from '../command.ts'

/** In place of a key that ended with its session, for good: nobody brings it back. */
export const ENDED = `ca_sess_${'0'.repeat(32)}`

const READS = ['list_sessions', 'get_session', 'get_messages', 'get_message', 'list_worktrees', 'list_tasks', 'get_task']
const OF_RUNNERS = [
  'register_runner',
  'take_tasks',
  'add_task_events',
  'finish_task',
  'add_worktree',
  'ask_permission',
  'list_archived',
  'unregister_runner',
]
const nameOf = (op: string) => op.replace('control.', '')

/** Who may make this call, if one alone may: else a full key. */
export const rightCaller = (op: string): string => {
  if (OF_RUNNERS.includes(nameOf(op))) return 'run'
  if (nameOf(op) === 'set_session_name') return 'sess'
  return nameOf(op) === 'answer_permission' ? 'person' : 'full'
}

/** Why this caller is refused, before anything is asked about what it wants. */
export const refusedCaller = ({ op, caller }: Asked): Verdict | undefined => {
  const right = rightCaller(op)
  if (caller === undefined) return refuses('unauthorized')
  if (caller === right) return undefined
  if (right === 'full' && (caller === 'person' || (caller === 'read' && READS.includes(nameOf(op))))) return undefined
  if (caller === 'person') return right === 'run' ? refuses('unauthorized') : undefined // that a person names no session is said later
  return refuses('forbidden')
}
