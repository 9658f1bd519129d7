// Proposing: one way for action items and decisions. Nothing but the proposal is made.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { isUuid, uuid7 } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import { baseOf, type Context } from '../../operations/context.ts'
import type { ProposalData } from '../../../db/records-schema.ts'
import { notifyPeople } from '../../notices/notify-people.ts'
import { writableSession } from '../../rooms/preconditions.ts'
import { rememberPersons } from '../../stores/records/persons.ts'
import { insertProposal, pendingIn, proposalById, resolveProposal, type Proposal } from '../../stores/records/proposals.ts'
import { handleOf, named } from '../callers.ts'
import { expireOverdue } from '../expiry.ts'
import { roleIn } from '../reach.ts'
import { proposalType, time } from '../schemas.ts'
import { refuseUnless, type Act } from '../who-may.ts'
import type { OriginFields } from './fields.ts'
import { owns } from './owns.ts'
import { proposalData, urlOf } from './proposal-answer.ts'
import { sourceOf } from './source.ts'
import { appendMade, appendOutcome } from './append-events.ts'

const MOST_PENDING = 100 // of a session

export const proposed = z.object({
  id: z.uuid(),
  type: proposalType,
  data: proposalData,
  status: z.literal('pending'),
  expires_at: time,
  url: z.string(),
})

const ACTS = { action: 'propose an action item', decision: 'propose a decision' } as const satisfies Record<Proposal['type'], Act>

/** Makes a proposal for the session that the caller has locked. `data`: what it says, asked for once the caller may. */
export const propose = async (
  context: Context,
  type: Proposal['type'],
  origin: OriginFields,
  data: (sessionId: string) => Promise<ProposalData>,
): Promise<z.output<typeof proposed>> => {
  const { queries, services } = context
  refuseUnless(roleIn(context, context.session!), ACTS[type])
  const session = writableSession(context)
  const said = await data(session.id)
  const source = await sourceOf(queries, session.id, origin)
  await expireOverdue(context, session.id)
  const replaces = origin.replaces === undefined ? null : await cancelReplaced(context, session.id, origin.replaces)
  await refuseAnother(context, session.id, type, said.title)
  const values = {
    id: uuid7(),
    sessionId: session.id,
    type,
    data: said,
    proposedBy: named(context),
    teamId: handleOf(context) ?? null,
    replaces,
    source,
  }
  const proposal = await insertProposal(queries, values, services.config.PROPOSAL_EXPIRES_AFTER)
  await rememberPersons(queries, [proposal.proposedBy, said.owner, said.decided_by])
  await appendMade(context, proposal)
  await notifyPeople(queries, [{ kind: 'proposal', sessionId: session.id, about: proposal.id }])
  const { id, expiresAt } = proposal
  return { id, type, data: said, status: 'pending', expires_at: expiresAt, url: urlOf(baseOf(context), id) }
}

// One card for each title, and no more cards than a person can read.
export const refuseAnother = async (context: Context, sessionId: string, type: Proposal['type'], title: string): Promise<void> => {
  const { count, same } = await pendingIn(context.queries, sessionId, type, title)
  if (same !== null)
    refuse('conflict', 'This is proposed already, and waits for a person: details.proposal_id. get_proposals tells what becomes of it.', {
      proposal_id: same,
    })
  if (count >= MOST_PENDING)
    refuse(
      'conflict',
      `${MOST_PENDING} proposals of this session wait for a person already. Cancel some, or wait until they are decided.`,
      {
        pending: count,
      },
    )
}

// Checks the proposal that this one replaces, and cancels it if it is still pending. Returns its id.
const cancelReplaced = async (context: Context, sessionId: string, id: string): Promise<string> => {
  const { queries } = context
  const before = isUuid(id) ? await proposalById(queries, id) : undefined
  if (!before || before.sessionId !== sessionId || !owns(context, before))
    return refuse('invalid_request', 'replaces: no proposal of yours in this session has this id. get_proposals has the ids.', {
      field: 'replaces',
      proposal_id: redacted(id),
    })
  if (before.status === 'approved')
    refuse('conflict', 'replaces: that one is approved. Propose what should hold instead; a person withdraws the record.', {
      field: 'replaces',
      status: before.status,
      resolved_by: before.resolvedBy,
      resolved_at: before.resolvedAt,
    })
  const by = named(context)
  const cancelled = before.status === 'pending' && (await resolveProposal(queries, before, { status: 'cancelled', by }))
  if (cancelled) await appendOutcome(context, 'proposal_cancelled', cancelled, { by: by.name })
  return before.id
}
