import { z } from 'zod'
import { CALLERS, RECORD_ACTORS } from '../callers.ts'
import { op, toolRoute } from '../schemas.ts'
import { meetingSubject } from '../subjects.ts'
import { decisionFields, originFields } from './fields.ts'
import { deciderOf } from './people.ts'
import { propose, proposed } from './propose.ts'

/** Pending until a person decides, or it expires (PROPOSAL_EXPIRES_AFTER). Of the teams only the convener proposes decisions (403). 409 where
 *  the same title waits already (`details.proposal_id`), and past 100 pending in the session. */
export const proposeDecision = op({
  name: 'propose_decision',
  summary: "Propose a decision (the session's convener): a person approves, changes or rejects it, and you are told.",
  route: toolRoute('propose_decision'),
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  subject: meetingSubject,
  searchHint: 'propose a decision',
  example: { title: 'The parser is written by hand', description: 'No generator: its errors cannot be explained.' },
  input: z.strictObject({ ...decisionFields, ...originFields }),
  output: proposed,
  refuses: ['session_closed', 'forbidden', 'conflict', 'not_found'],
  run: (context, { title, description, rationale, decided_by_id, ...origin }) =>
    propose(context, 'decision', origin, async (sessionId) => ({
      title,
      description,
      rationale: rationale?.trim() ? rationale : null,
      decided_by: await deciderOf(context, sessionId, decided_by_id),
    })),
})
