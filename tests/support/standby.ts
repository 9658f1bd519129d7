// A second Postgres that follows one, and can take its place.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** A standby of a primary of ours, which is stopped for a moment. Synchronous: from then on the primary acknowledges only what the standby
 *  has too, so that nothing acknowledged is lost when it is promoted. */
export const standbyOf = async (primary: TestPostgres): Promise<TestPostgres & { promote(): Promise<void> }> => {
  const standby = await startPostgres({
    own: true,
    settings: { primary_conninfo: `host=127.0.0.1 port=${primary.port} user=parley` },
  })
  await Promise.all([standby.kill('SIGINT'), primary.kill('SIGINT')])
  rmSync(standby.dir!, { recursive: true })
  spawnSync('cp', ['-a', primary.dir!, standby.dir!]) // with its owner and rights
  writeFileSync(join(standby.dir!, 'standby.signal'), '')
  await primary.start()
  await standby.start()
  await ask(primary, `alter system set synchronous_standby_names = '*'`)
  await ask(primary, 'select pg_reload_conf()')
  const promote = async () => void (await ask(standby, 'select pg_promote(true, 60)'))
  return Object.assign(standby, { promote })
}

const ask = async ({ url }: TestPostgres, statement: string): Promise<void> => {
  const sql = postgres(url, { max: 1, onnotice() {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
