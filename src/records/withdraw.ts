// A person takes back what was approved. The record stays, and shows that it holds no more.
import { z } from 'zod'
import type { Named } from '../../db/records-schema.ts'
import { refuse } from '../core/errors.ts'
import type { Context } from '../operations/context.ts'
import { withdrawnEntry, withEntryReplaced } from '../rooms/document/decisions.ts'
import { writeDoc } from '../rooms/document/doc-write.ts'
import { refuseArchived } from '../rooms/preconditions.ts'
import { boardNow, newlyReady, type ReadyItem } from '../rooms/work/open-work.ts'
import { readDocument } from '../stores/documents.ts'
import { withdrawActionItem } from '../stores/records/action-items.ts'
import { decisionById, withdrawDecision } from '../stores/records/decisions.ts'
import { itemsById } from '../stores/records/items.ts'
import type { Proposal } from '../stores/records/proposals.ts'
import { takesWrites, type Session } from '../stores/sessions.ts'
import { CALLERS, named, RECORD_ACTORS } from './callers.ts'
import { appendOutcome } from './proposals/append-events.ts'
import { mayRead, noSuchRecord, roleIn } from './reach.ts'
import { op, proposalType, recordId, text, time } from './schemas.ts'
import { recordSubject, type LockedProposal } from './subjects.ts'
import { INSTEAD, refuseUnless } from './who-may.ts'

/** Only a signed-in person. A decision is `withdrawn`, and struck through in the document of an open session, an action item `dropped`. 409
 *  for one that is so already. */
export const withdrawRecord = op({
  name: 'withdraw_record',
  summary: 'Withdraw a decision or drop an action item, as a signed-in person.',
  route: ['POST', '/records/:record_id/withdraw'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  onlyFor: INSTEAD.decide,
  effect: 'write',
  subject: ({ record_id }) => recordSubject(record_id),
  restOnly: true,
  input: z.strictObject({ record_id: recordId, reason: text(1, 1_000).describe('Why it holds no more.') }),
  output: z.object({ record_id: z.uuid(), type: proposalType, status: z.enum(['withdrawn', 'dropped']), at: time }),
  refuses: ['forbidden', 'not_found', 'conflict', 'session_closed'],
  async run(context, { record_id, reason }) {
    const { session, proposal } = context.locked as LockedProposal
    if (!mayRead(context, session.id)) noSuchRecord(record_id)
    refuseUnless(roleIn(context, session), 'decide')
    refuseArchived(session)
    const by = named(context)
    const status = proposal.type === 'decision' ? ('withdrawn' as const) : ('dropped' as const)
    const effect =
      proposal.type === 'decision'
        ? await endDecision(context, session, proposal, { record_id, by, reason })
        : await dropItem(context, session, record_id, reason)
    if (!effect) return refuseAgain(context, session, record_id, status)
    const fields = { by: by.name, record_id, reason, ...effect.fields }
    const { at } = await appendOutcome(context, 'record_withdrawn', proposal, fields, { to: effect.to })
    return { record_id, type: proposal.type, status, at }
  },
})

// What the event says beyond the withdrawal itself, and whom it concerns beside the proposer.
interface Effect {
  fields: { ready?: ReadyItem[] }
  to: string[]
}

// Undefined for a decision that is withdrawn already.
const endDecision = async (
  context: Context,
  session: Session,
  proposal: Proposal,
  { record_id, by, reason }: { record_id: string; by: Named; reason: string },
): Promise<Effect | undefined> => {
  if (!(await withdrawDecision(context.queries, record_id, by, reason))) return undefined
  await strikeInDoc(context, session, proposal, by.name, reason)
  return { fields: {}, to: [] }
}

// Undefined for an item that was withdrawn already. One that a team has dropped is withdrawn all the same: from then on only a person brings
// it back. Nothing can be claimed while the session takes no writes.
const dropItem = async (context: Context, session: Session, id: string, reason: string): Promise<Effect | undefined> => {
  const { services, queries } = context
  const item = (await itemsById(queries, [id])).get(id)
  if (!item || (item.status === 'dropped' && item.withdrawnAt !== null)) return undefined
  const before = await boardNow(services, queries, session.id)
  await withdrawActionItem(queries, item, reason)
  const ready = takesWrites(session) ? newlyReady(before, await boardNow(services, queries, session.id)) : []
  return { fields: { ready }, to: item.status === 'claimed' && item.claimedTeamId !== null ? [item.claimedTeamId] : [] }
}

// Strikes the decision through in the document, while the session takes writes.
const strikeInDoc = async (context: Context, session: Session, { id, data }: Proposal, by: string, reason: string): Promise<void> => {
  if (!takesWrites(session)) return
  const { content } = await readDocument(context.queries, session.id)
  const entry = withdrawnEntry({ proposalId: id, title: data.title, description: data.description ?? '' }, by, reason)
  const struck = withEntryReplaced(content, id, entry)
  if (struck !== undefined) await writeDoc(context, session.id, struck)
}

const refuseAgain = async ({ queries }: Context, session: Session, id: string, status: 'withdrawn' | 'dropped'): Promise<never> => {
  const decision = status === 'withdrawn' ? await decisionById(queries, id) : undefined
  const by = decision?.withdrawnBy ? ` by ${decision.withdrawnBy.name}` : ''
  const next =
    status === 'withdrawn'
      ? 'Propose it again if it is to hold after all.'
      : `${takesWrites(session) ? 'On' : 'Once its session is reopened, on'} its board a person brings it back (update_work with status: open).`
  return refuse('conflict', `This record is ${status} already${by}. ${next}`, {
    status,
    resolved_by: decision?.withdrawnBy ?? null,
    resolved_at: decision?.withdrawnAt ?? null,
  })
}
