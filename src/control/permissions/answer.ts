// A person answers what an agent asks permission for.
import { z } from 'zod'
import { authorOf, person } from '../../operations/callers.ts'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import { NOBODY } from '../../core/key-scopes.ts'
import type { Context } from '../../operations/context.ts'
import { isFinal, taskById } from '../../stores/control/tasks.ts'
import { requestById, type PermissionRequest } from '../../stores/control/permission-requests.ts'
import { op, sessionId, toolRoute } from '../schemas.ts'
import { decideOnce } from './decide.ts'

// A request is over when its task has ended. A request to raise permissions is not: it is about what the session does next.
const isOver = async ({ queries }: Context, { taskId, raise, decidedAt }: PermissionRequest): Promise<boolean> => {
  const task = raise === null && decidedAt === null ? await taskById(queries, taskId) : undefined
  return task !== undefined && isFinal(task.status)
}

/** Only a signed-in person; keys get 403. 404 for an unknown request, 409 for one that is answered or over. */
export const answerPermission = op({
  name: 'answer_permission',
  summary: 'Answer what an agent asks permission for.',
  route: toolRoute('answer_permission'),
  callers: [person],
  keyRow: NOBODY,
  onlyFor: 'Only a signed-in person answers what an agent asks permission for, on the session’s page: ask one.',
  effect: 'write',
  restOnly: true,
  input: z.strictObject({
    session_id: sessionId,
    request_id: z.string().min(1).max(200),
    allow: z.boolean(),
    message: z.string().max(2_000).optional().describe('A word to the agent.'),
  }),
  output: z.object({ answered: z.literal(true) }),
  refuses: ['not_found', 'conflict', 'forbidden'],
  async run(context, { session_id, request_id, allow, message }) {
    const request = await requestById(context.queries, session_id, request_id)
    if (!request)
      return refuse('not_found', 'There is no such request. The page of the session has what is asked there.', {
        request_id: redacted(request_id),
      })
    const by = authorOf(context.caller).name
    if (await isOver(context, request))
      refuse('conflict', 'What asked this has ended: there is nothing left to allow. A new prompt goes on with the work.', { allow: null })
    if (!(await decideOnce(context, request, { by, allow, message })))
      refuse(
        'conflict',
        `This was answered before${request.decidedBy ? `, by ${request.decidedBy}` : ''}, or is over. The page of the session shows how the work goes on.`,
        {
          allow: request.allow,
        },
      )
    return { answered: true as const }
  },
})
