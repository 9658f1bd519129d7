// A Postgres database whose clock a test sets: `now()` and its like are looked up in a schema of the test before Postgres' own. It has no
// table yet, so that the defaults of columns take their time from there too.
import postgres from 'postgres'
import { emptyDatabase } from './postgres.ts'

const NOWS = ['now', 'transaction_timestamp', 'statement_timestamp', 'clock_timestamp']

const clockOf = (name: string) => `
  create schema stepping;
  create table stepping.clock (off_ms float8 not null);
  insert into stepping.clock values (0);
  ${NOWS.map(
    (now) => `create function stepping.${now}() returns timestamptz language sql stable
      as $$ select pg_catalog.${now}() + off_ms * interval '1 millisecond' from stepping.clock $$;`,
  ).join('\n')}
  alter database ${name} set search_path = public, stepping, pg_catalog`

export const steppingDatabase = async (serverUrl: string) => {
  const { url, name, drop } = await emptyDatabase(serverUrl)
  const sql = postgres(url, { max: 1, onnotice() {} })
  await sql.unsafe(clockOf(name))
  return {
    url,
    /** Sets its clock so far ahead of the machine's, or behind it. */
    setClock: async (offMs: number) => void (await sql`update stepping.clock set off_ms = ${offMs}`),
    async drop() {
      await sql.end()
      await drop()
    },
  }
}
