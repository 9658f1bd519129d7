// Decisions with the proposals that they were and the sessions that they are of, in lists.
import { and, desc, eq, getTableColumns, gte, lte, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { decisions, proposals } from '../../../db/records-schema.ts'
import { sessions } from '../../../db/schema.ts'
import type { Decision } from './decisions.ts'
import type { ListedProposal } from './proposal-list.ts'
import { hasAllWords } from './words.ts'

export interface ListedDecision extends ListedProposal {
  decision: Decision
}

export interface DecisionFilter {
  /** All of these words are in its title or description. */
  search?: string | undefined
  decidedById?: string | undefined
  sessionId?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** Where the page before ended. */
  after?: { at: string; id: string } | undefined
  limit: number
}

/** The newest first. */
export const listDecisions = ({ db }: Queries, filter: DecisionFilter): Promise<ListedDecision[]> => {
  const { search, decidedById, sessionId, from, to, after, limit } = filter
  return db
    .select({
      decision: getTableColumns(decisions),
      proposal: getTableColumns(proposals),
      meeting: { meeting_id: sessions.id, title: sessions.title, date: sessions.createdAt },
    })
    .from(decisions)
    .innerJoin(proposals, eq(proposals.id, decisions.proposalId))
    .innerJoin(sessions, eq(sessions.id, decisions.sessionId))
    .where(
      and(
        sessionId ? eq(decisions.sessionId, sessionId) : undefined,
        decidedById ? eq(decisions.decidedById, decidedById) : undefined,
        from ? gte(decisions.at, from) : undefined,
        to ? lte(decisions.at, to) : undefined,
        search === undefined ? undefined : hasAllWords(sql`(${decisions.title} || ' ' || ${decisions.description})`, search),
        after && sql`(${decisions.at}, ${decisions.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(decisions.at), desc(decisions.id))
    .limit(limit)
}
