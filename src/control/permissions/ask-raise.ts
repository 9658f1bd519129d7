import { z } from 'zod'
import { anyone } from '../../operations/callers.ts'
import { insertRequest, openRaise } from '../../stores/control/permission-requests.ts'
import { runningTask } from '../../stores/control/tasks.ts'
import { internalOp, permissionMode, sessionId } from '../schemas.ts'
import { appendAsked } from './append-events.ts'

const NO_TASK = '00000000-0000-0000-0000-000000000000'

/** Asks a person whether a session may have more permissions; a request for the same that is open is named again. */
export const askRaise = internalOp({
  name: 'ask_raise',
  summary: 'Asks a person for more permissions.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({ session_id: sessionId, raised_session_id: z.uuid(), from: z.string(), to: permissionMode }),
  output: z.object({ request_id: z.string() }),
  refuses: [],
  async run(context, { session_id, raised_session_id, from, to }) {
    const { queries } = context
    const raise = { session_id: raised_session_id, from, to }
    const open = await openRaise(queries, session_id, raise)
    if (open !== undefined) return { request_id: open }
    const request_id = crypto.randomUUID()
    const task = await runningTask(queries, session_id)
    const text = `may from now on ask for up to ${to} (${from} until now)`
    const row = {
      id: request_id,
      sessionId: session_id,
      taskId: task?.id ?? NO_TASK,
      toolName: 'permission_mode',
      text,
      input: null,
      raise,
    }
    await insertRequest(queries, row)
    await appendAsked(context, row)
    return { request_id }
  },
})
