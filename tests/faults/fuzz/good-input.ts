// A good input for each operation, with the ids that there are.
import type { z } from 'zod'
import { plainInputOf, type Ids } from './from-schema.ts'

/** What the examples of operations leave open. */
const GIVEN: Record<string, (ids: Ids) => Record<string, unknown>> = {
  post_message: () => ({ content: 'We are done.' }),
  wait_for_messages: () => ({ since_cursor: 0, timeout: 0, include_trace: true }),
  'control.create_session': () => ({ title: 'Parser' }),
  'control.get_messages': ({ session_id }) => ({ session_id: session_id![2] }),
  'control.update_session': ({ session_id }) => ({ session_id: session_id![2], title: 'The lexer' }),
  'control.register_runner': () => ({ name: 'desk', agents: [], worktrees: [] }),
  'control.unregister_runner': ({ runner_id }) => ({ runner_id: runner_id![0] }),
  'control.list_archived': ({ session_ids }) => ({ session_ids }),
  'control.add_task_events': ({ runner_id, task_id }) => ({
    runner_id: runner_id![0],
    task_id: task_id![0],
    events: [{ key: 'line 1', type: 'assistant_response', content: { text: 'Line 1' } }],
  }),
  'history.list_sessions': () => ({ start_datetime: '2026-01-01T00:00:00Z', end_datetime: '2027-01-01T00:00:00Z' }),
  'history.open': ({ session_id }) => ({ id: `session:${session_id![0]}` }),
}

interface Described {
  fullName: string
  input: z.ZodType
  example?: Readonly<Record<string, unknown>> | undefined
}

export const goodInputOf = ({ fullName, input, example }: Described, ids: Ids): Record<string, unknown> => ({
  ...plainInputOf(input, ids, GIVEN[fullName] ? {} : example),
  ...GIVEN[fullName]?.(ids),
})
