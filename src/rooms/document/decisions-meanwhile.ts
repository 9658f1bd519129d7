// Decisions of people about a session that was concluded: its document says them once it is written again.
import type { Queries } from '../../../db/database.ts'
import { decisionsOf, isInForce, type SessionDecision } from '../../stores/records/decisions.ts'
import type { Session } from '../../stores/sessions.ts'
import { decisionEntry, withDecision, withdrawnEntry, withEntryReplaced } from './decisions.ts'

/** The document with what was approved or withdrawn since the session was concluded. An entry that somebody had deleted stays away. */
export const withDecisionsMeanwhile = async (queries: Queries, { id, closedAt }: Session, content: string): Promise<string> => {
  if (closedAt === null) return content
  const isSince = (time: string | null) => time !== null && time >= closedAt
  const oldestFirst = (await decisionsOf(queries, id)).toReversed()
  return oldestFirst.reduce((doc, decision) => {
    if (!isSince(decision.at) && !isSince(decision.withdrawnAt)) return doc
    const entry = entryOf(decision)
    return withEntryReplaced(doc, decision.proposalId, entry) ?? (isSince(decision.at) ? withDecision(doc, entry) : doc)
  }, content)
}

const entryOf = (decision: SessionDecision): string =>
  isInForce(decision) ? decisionEntry(decision) : withdrawnEntry(decision, decision.withdrawnBy!.name, decision.withdrawnReason!)
