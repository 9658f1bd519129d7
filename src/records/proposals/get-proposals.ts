// What was proposed, and what became of it.
import { z } from 'zod'
import { isUuid } from '../../core/ids.ts'
import { baseOf, type Context } from '../../operations/context.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { listProposals, proposalsByIds } from '../../stores/records/proposal-list.ts'
import { rememberPersons } from '../../stores/records/persons.ts'
import { CALLERS, RECORD_READERS } from '../callers.ts'
import { mayRead, noSuchProposal, onlySession, readableMeeting } from '../reach.ts'
import { listCursor, listLimit, meetingId, op, proposalStatus, proposalType, recordId, toolRoute } from '../schemas.ts'
import { proposalOf, proposalRow } from './proposal-answer.ts'

const input = z.strictObject({
  proposal_id: recordId.optional(),
  meeting_id: meetingId.optional(),
  status: proposalStatus.optional().describe('pending, unless a proposal_id is given.'),
  type: proposalType.optional(),
  limit: listLimit,
  cursor: listCursor,
})

const shared = {
  callers: CALLERS,
  keyRow: RECORD_READERS,
  effect: 'read',
  input,
  output: z.object({ proposals: z.array(proposalRow), ...pageFields }),
  refuses: ['forbidden', 'not_found'],
  run: (context: Context, given: z.output<typeof input>) => readProposals(context, given),
} as const

/** Pending ones oldest first, others newest first; with `proposal_id` that one, whatever became of it, or none if the other filters
 *  leave it out. 404 for a proposal or session that is unknown or that the caller may not read. */
export const getProposals = op({
  ...shared,
  name: 'get_proposals',
  summary:
    'Proposals of all sessions that you may read (meeting_id: of one), the pending ones unless status says otherwise; or one by its proposal_id, with what became of it.',
  route: toolRoute('get_proposals'),
  searchHint: 'proposals and their outcomes',
  example: { meeting_id: '$SID' },
})

/** As `get_proposals`. */
export const listApprovals = op({
  ...shared,
  name: 'list_approvals',
  summary: 'The proposals that wait for a person, or those with another status.',
  route: ['GET', '/approvals'],
  restOnly: true,
})

/** 404 for a proposal that is unknown or that the caller may not read. */
export const getApproval = op({
  ...shared,
  name: 'get_approval',
  summary: 'One proposal, whatever became of it.',
  route: ['GET', '/approvals/:proposal_id'],
  restOnly: true,
  input: z.strictObject({ proposal_id: recordId }),
  output: z.object({ proposal: proposalRow }),
  async run(context, { proposal_id }) {
    const { proposals } = await readProposals(context, { proposal_id, limit: 1 })
    return { proposal: proposals[0]! }
  },
})

const readProposals = async (
  context: Context,
  { proposal_id, meeting_id, status = proposal_id === undefined ? 'pending' : undefined, type, limit, cursor }: z.output<typeof input>,
) => {
  const { queries } = context
  if (proposal_id !== undefined && !isUuid(proposal_id)) noSuchProposal(proposal_id)
  if (meeting_id !== undefined) await readableMeeting(context, meeting_id)
  const filters = { proposal_id, meeting_id, status, type }
  const rows = await listProposals(queries, {
    id: proposal_id,
    sessionId: meeting_id ?? (proposal_id === undefined ? onlySession(context) : undefined),
    status,
    type,
    after: readCursor(cursor, filters),
    limit: limit + 1,
  })
  if (proposal_id !== undefined) {
    // One that the other filters leave out is no unknown one: whoever polls for `pending` would propose it again.
    const [known] = rows.length > 0 ? rows : await proposalsByIds(queries, [proposal_id])
    if (!known || !mayRead(context, known.proposal.sessionId)) noSuchProposal(proposal_id)
  }
  const { shown, ...page } = pageOf(rows, limit, ({ proposal }) => ({ at: proposal.createdAt, id: proposal.id }), filters)
  const base = baseOf(context)
  const found = shown.map((row) => proposalOf(row, base))
  await rememberPersons(
    queries,
    found.flatMap(({ proposed_by, resolved_by, data }) => [proposed_by, resolved_by, data.owner, data.decided_by]),
  )
  return { proposals: found, ...page }
}
