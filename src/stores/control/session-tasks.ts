// The tasks of one session, for lists and sums.
import { and, desc, eq, getTableColumns, inArray, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Queries } from '../../../db/database.ts'
import { tasks } from '../../../db/control-schema.ts'
import { belowOf } from './genealogy.ts'
import type { Task, TaskStatus } from './tasks.ts'

export interface TaskFilter {
  status?: TaskStatus | undefined
  /** Only those that are queued or running. */
  open?: boolean
  /** Where the page before ended. */
  after?: { id: string } | undefined
  limit: number
}

const TEXT_CUT = 1_000 // characters of a prompt and of an answer: a list shows fewer, and an answer can have a million
const beginning = (column: AnyPgColumn) => sql`left(${column}, ${sql.raw(String(TEXT_CUT))})`
const COLUMNS = {
  ...getTableColumns(tasks),
  prompt: beginning(tasks.prompt) as SQL<string>,
  answer: beginning(tasks.answer) as SQL<string | null>,
}

/** The newest first: in the order of the log, backwards. Of prompts and answers only the beginnings. */
export const listTasksOf = ({ db }: Queries, sessionId: string, { status, open, after, limit }: TaskFilter): Promise<Task[]> =>
  db
    .select(COLUMNS)
    .from(tasks)
    .where(
      and(
        eq(tasks.sessionId, sessionId),
        status && eq(tasks.status, status),
        open ? inArray(tasks.status, ['queued', 'running']) : undefined,
        after && sql`${tasks.startSequence} < (select start_sequence from tasks where id = ${after.id})`,
      ),
    )
    .orderBy(desc(tasks.startSequence))
    .limit(limit)

export interface Usage {
  input_tokens: number | null
  output_tokens: number | null
  cost_usd: number | null
}

/** What the tasks of a session have used, and those of all below it with them; null where nothing is known. */
export const usageOf = async ({ query }: Queries, sessionId: string): Promise<{ own: Usage | null; tree: Usage | null }> => {
  const [row] = await query<{ own: Usage | null; tree: Usage | null }>(
    `with used as (
       select t.session_id = $1 as own, (usage->>'input_tokens')::int8 as input, (usage->>'output_tokens')::int8 as output,
         (usage->>'cost_usd')::float8 as cost
       from tasks t where t.session_id = any(${belowOf('$1')}) and t.usage is not null
     )
     select ${sumOf('own')} as own, ${sumOf('true')} as tree from used`,
    [sessionId],
  )
  return row!
}

const sumOf = (which: string) => `case when count(*) filter (where ${which}) > 0 then jsonb_build_object(
  'input_tokens', sum(input) filter (where ${which}), 'output_tokens', sum(output) filter (where ${which}),
  'cost_usd', sum(cost) filter (where ${which})) end`
