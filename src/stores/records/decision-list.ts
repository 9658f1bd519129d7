// Decisions with the proposals that they were and the sessions that they are of, in lists.
import { and, desc, eq, getTableColumns, gte, lte, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { decisions, proposals } from '../../../db/records-schema.ts'
import { sessions } from '../../../db/schema.ts'
import type { Decision } from './decisions.ts'
import { OF_SESSION, type ListedProposal } from './proposal-list.ts'
import { hasAllWords } from './words.ts'
import type { ListPosition } from '../list-position.ts'

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
  after?: ListPosition | undefined
  limit: number
}

const RECENT = 2_000
const PLACE = sql.raw('(at, id)')
const TEXT = sql.raw(`(title || ' ' || description)`)

// Words that many have are found among the newest decisions, words that few have by their index: either alone took 200 ms and more for the
// others (bench/records). Which of the two is enough the first one tells, before the second reads a row.
const withWords = (search: string, limit: number, after: DecisionFilter['after']) => {
  const before = after ? sql`where ${PLACE} < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``
  return sql`${decisions.id} in (
    with newest as materialized (
      select id from (select id, title, description from decisions ${before} order by at desc, id desc limit ${sql.raw(String(RECENT))}) recent
      where ${hasAllWords(TEXT, search)}
    ), others as materialized (
      select id from decisions where (select count(*) from newest) < ${limit}::int and ${hasAllWords(TEXT, search)}
    )
    select id from newest union select id from others)`
}

/** The newest first. */
export const listDecisions = ({ db }: Queries, filter: DecisionFilter): Promise<ListedDecision[]> => {
  const { search, decidedById, sessionId, from, to, after, limit } = filter
  const isNarrow = [decidedById, sessionId, from, to].some((given) => given !== undefined) // what the others leave is read whole
  const text = sql`(${decisions.title} || ' ' || ${decisions.description})`
  return db
    .select({
      decision: getTableColumns(decisions),
      proposal: getTableColumns(proposals),
      ...OF_SESSION,
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
        search === undefined ? undefined : isNarrow ? hasAllWords(text, search) : withWords(search, limit, after),
        after && sql`(${decisions.at}, ${decisions.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(decisions.at), desc(decisions.id))
    .limit(limit)
}
