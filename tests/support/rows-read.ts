// How many rows statements read from tables and indexes, as the database's plans tell: what grows with all that there is shows at any size.
import { queriesOver, type Database, type Queries } from '../../db/database.ts'

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Plan[]
}

/** The number of rows that `work` reads. It is given `queries`, and may use nothing else. Of statements by the query builder it gets no rows. */
export const rowsRead = async (database: Database, work: (queries: Queries) => unknown): Promise<number> => {
  let rows = 0
  const read = async (text: string, params: unknown[]) =>
    database.transaction(async ({ query }) => {
      await query(`prepare explained as ${text}`)
      try {
        const values = params.length > 0 ? `(${params.map(literal).join(', ')})` : ''
        const [row] = await query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
          `explain (analyze, timing off, format json) execute explained${values}`,
        )
        rows += readBy(row!['QUERY PLAN'][0].Plan)
      } finally {
        await query('deallocate explained')
      }
    })
  const queries = queriesOver(async ({ text, params, asArrays }) => {
    await read(text, params)
    return asArrays ? [] : database.query(text, params)
  })
  await work(queries)
  return rows
}

const literal = (value: unknown) => (value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`)

const readBy = (plan: Plan): number => {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const here = plan['Node Type'].endsWith(' Scan') ? plan['Actual Rows'] + removed : (plan['Rows Removed by Join Filter'] ?? 0)
  return (plan.Plans ?? []).reduce((sum, below) => sum + readBy(below), here * plan['Actual Loops'])
}
