// The subjects that the writes of records lock: a session, which the call names, or its team, or the proposal or record that it is about.
import { isUuid } from '../core/ids.ts'
import { refuse } from '../core/errors.ts'
import type { Queries } from '../../db/database.ts'
import type { Caller } from '../operations/callers.ts'
import { sessionSubject, type Subject } from '../operations/subject.ts'
import { lockSession, type Session } from '../stores/sessions.ts'
import { proposalById, proposalOfRecord, type Proposal } from '../stores/records/proposals.ts'
import { noSuchProposal, noSuchRecord } from './reach.ts'

/** The session that a proposal is for; a team that names none means its own. 400 for other callers that name none. */
export const meetingSubject = ({ meeting_id }: { meeting_id?: string | undefined }, caller: Caller): Subject => {
  const id = meeting_id ?? (caller.kind === 'team' ? caller.member.session.id : undefined)
  if (id === undefined)
    return refuse('invalid_request', 'meeting_id: is required (the id of a session), unless a team calls: its team_id names its session.', {
      field: 'meeting_id',
    })
  return sessionSubject(id)
}

export interface LockedProposal {
  session: Session
  proposal: Proposal
}

/** A proposal under its session's lock. */
export const proposalSubject = (id: string): Subject<LockedProposal> => ({
  key: `proposal/${id}`,
  lock: (tx) => lockedBy(tx, isUuid(id) ? id : undefined, proposalById),
  missing: () => noSuchProposal(id),
})

/** The proposal that became this decision or action item, under its session's lock. */
export const recordSubject = (id: string): Subject<LockedProposal> => ({
  key: `record/${id}`,
  lock: (tx) => lockedBy(tx, isUuid(id) ? id : undefined, proposalOfRecord),
  missing: () => noSuchRecord(id),
})

// Read once to find the session, and again under its lock: it may have been decided in between.
const lockedBy = async (
  tx: Queries,
  id: string | undefined,
  find: (queries: Queries, id: string) => Promise<Proposal | undefined>,
): Promise<LockedProposal | undefined> => {
  const found = id === undefined ? undefined : await find(tx, id)
  const session = found && (await lockSession(tx, found.sessionId))
  const proposal = session && (await proposalById(tx, found.id))
  return session && proposal && { session, proposal }
}
