import { z } from 'zod'
import { CALLERS, RECORD_ACTORS } from '../callers.ts'
import { op, toolRoute } from '../schemas.ts'
import { meetingSubject } from '../subjects.ts'
import { actionFields, originFields } from './fields.ts'
import { ownerOf } from './people.ts'
import { propose, proposed } from './propose.ts'

/** Pending until a person decides, or it expires (PROPOSAL_EXPIRES_AFTER). The owner by `owner_id` or `owner_name`: a name known in the
 *  session becomes that person. 409 where the same title waits already (`details.proposal_id`), and past 100 pending in the session. */
export const proposeActionItem = op({
  name: 'propose_action_item',
  summary: 'Propose an action item: a person approves, changes or rejects it, and you are told.',
  route: toolRoute('propose_action_item'),
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  subject: meetingSubject,
  searchHint: 'propose an action item',
  example: { title: 'Write the migration guide', owner_name: "Bea's Team", due_date: '2026-03-01T09:00:00Z' },
  input: z.strictObject({ ...actionFields, ...originFields }),
  output: proposed,
  refuses: ['session_closed', 'forbidden', 'conflict', 'not_found'],
  run: (context, { title, description, due_date, priority, ...rest }) =>
    propose(context, 'action', rest, async (sessionId) => ({
      title,
      description: description?.trim() ? description : null,
      owner: await ownerOf(context, sessionId, rest),
      due_date: due_date ?? null,
      priority,
    })),
})
