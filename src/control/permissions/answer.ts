// A person answers what an agent asks permission for.
import { z } from 'zod'
import { person } from '../../operations/callers.ts'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text.ts'
import { requestById } from '../../stores/control/permission-requests.ts'
import { nameOf } from '../reach.ts'
import { op, sessionId, toolRoute } from '../schemas.ts'
import { decideOnce } from './decide.ts'

/** Only a signed-in person; keys get 403. 404 for an unknown request, 409 for one that is answered or over. */
export const answerPermission = op({
  name: 'answer_permission',
  summary: 'Answer what an agent asks permission for.',
  route: toolRoute('answer_permission'),
  callers: [person],
  keyRow: 'control.answer_permission',
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
    if (!request) return refuse('not_found', 'There is no such request.', { request_id: redacted(request_id) })
    const by = nameOf(context.caller)
    if (!(await decideOnce(context, request, { by, allow, message })))
      refuse('conflict', `This was answered before${request.decidedBy ? `, by ${request.decidedBy}` : ''}, or is over.`, {
        allow: request.allow,
      })
    return { answered: true as const }
  },
})
