// A board with all its texts, for the page that shows it, and what happened to it lately.
import { eq } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { items } from '../../../db/records-schema.ts'
import { boardFrom, boardOf, type Board } from './board.ts'
import type { Item } from './items.ts'

export interface WholeBoard {
  board: Board
  /** Each of the board's rows with all its texts. */
  items: Map<string, Item>
}

/** All items of a session. Two statements. */
export const wholeBoard = async (queries: Queries, sessionId: string, leaseS: number): Promise<WholeBoard> => {
  const [read, rows] = await Promise.all([
    boardOf(queries, sessionId, leaseS),
    queries.db.select().from(items).where(eq(items.sessionId, sessionId)),
  ])
  const known = new Map(rows.map((row) => [row.id, row]))
  // One that came between the two statements is there with the next reading.
  const board = read.rows.every(({ id }) => known.has(id)) ? read : boardFrom(read.rows.filter(({ id }) => known.has(id)))
  return { board, items: known }
}

/** What happened to a board, as the log has it. */
export interface WorkEvent {
  sequence: number
  type: 'system' | 'runtime'
  at: string
  content: Record<string, unknown>
}

const NEWEST_EVENTS = 1_000 // events at the log's end: posts and traces lie between those of the board

/** The newest first. */
export const workEvents = ({ query }: Queries, sessionId: string, limit: number): Promise<WorkEvent[]> =>
  query<WorkEvent>(
    `select sequence, type, at, content from (
       select sequence, type, at, content from events where session_id = $1 order by sequence desc limit ${NEWEST_EVENTS}) newest
     where type in ('system', 'runtime') and content->>'event' like 'work\\_%' order by sequence desc limit $2`,
    [sessionId, limit],
  )
