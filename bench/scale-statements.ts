// Which statements bench/scale.ts causes: by Postgres' own module pg_stat_statements, which the server must have loaded at its start.
import postgres from 'postgres'
import { row } from './support.ts'

const SHOWN = 16
const CHARS = 110 // of a statement's text

const withServer = async <Answer>(url: string, work: (sql: postgres.Sql) => Promise<Answer>): Promise<Answer> => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  return work(sql).finally(() => sql.end())
}

/** Counts from now on, in all databases of the server. */
export const countStatements = (url: string) =>
  withServer(url, async (sql) => {
    await sql`create extension if not exists pg_stat_statements`
    await sql`select pg_stat_statements_reset()`
  })

/** Prints those that were sent most often, with how often for each post and what each took. */
export const printStatements = (url: string, posts: number) =>
  withServer(url, async (sql) => {
    const rows = await sql<{ calls: number; ms: number; query: string }[]>`
      select calls::int, total_exec_time::float8 as ms, regexp_replace(query, '\\s+', ' ', 'g') as query from pg_stat_statements
      where query not like '%pg_stat_statements%' order by total_exec_time desc limit ${SHOWN}`
    console.log('  statements: for each post, ms each, share of the time that all took')
    const all = rows.reduce((sum, { ms }) => sum + ms, 0)
    for (const { calls, ms, query } of rows)
      row(`    ${(calls / posts).toFixed(2)}  ${(ms / calls).toFixed(2)} ms  ${((100 * ms) / all).toFixed(0)} %`, query.slice(0, CHARS))
  })
