// Uses this version as agents and people do, ends it, and leaves its database and what it answered: bun tests/dump/leave.ts PATH writes
// PATH.sql.gz and PATH.json.gz. It is run in earlier versions (tests/make-dumps.ts), so it asks only for what the oldest of them has; what came
// later is a part of its own, and left where the version has the helpers that the part needs.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cookieOf, done, soon, startParley, viaRest, type As } from '../support/parley.ts'
import { indexed } from '../support/history.ts'
import { startPostgres } from '../support/postgres.ts'
import { leaveRooms } from './rooms.ts'

/** A call with an idempotency key, and the answer that the key is to give again. `person`: by Robin; `bearer`: with a key of the server. */
export interface Kept {
  name: string
  input: Record<string, unknown>
  as: Pick<As, 'team' | 'key'> & { person?: boolean; bearer?: string }
  answer: Record<string, unknown>
}

export type Scene = Awaited<ReturnType<typeof begin>>

const begin = async () => {
  const parley = await startParley({ engine: 'postgres' })
  const call = viaRest(parley)
  const person = await cookieOf(parley, { name: 'Robin', role: 'person' })
  const kept: Kept[] = []
  /** Calls with a key, and keeps what came of it. */
  const keep = async (name: string, input: Kept['input'], as: Kept['as'] = {}): Promise<any> => {
    const withKey = { ...as, key: `a key that was used before, the ${kept.length + 1}.` }
    const headers = as.bearer ? { authorization: `Bearer ${as.bearer}` } : {}
    const answer = await done(call(name, input, { team: as.team, key: withKey.key, person: as.person ? person : undefined, headers }))
    kept.push({ name, input, as: withKey, answer })
    return answer
  }
  return { parley, call, person, kept, keep }
}

/** What a later part leaves; undefined where this version does not have what it needs. */
const part = async (file: string, needs: string, scene: Scene): Promise<unknown> => {
  if (!existsSync(join(import.meta.dir, '../support', needs))) return undefined
  return ((await import(`./${file}`)) as { leave(scene: Scene): Promise<unknown> }).leave(scene)
}

const leaveFile = (kind: string, text: string) => writeFileSync(`${process.argv[2]}.${kind}.gz`, Bun.gzipSync(text, { level: 9 }))

const postgres = await startPostgres()
process.env.TEST_DATABASE_URL = postgres.url
const scene = await begin()
const { parley, kept } = scene
const rooms = await leaveRooms(scene)
const awake = await part('awake.ts', 'keys.ts', scene)
const control = await part('control.ts', 'played-runner.ts', scene)
const records = await part('records.ts', 'records-scene.ts', scene)
await soon('all is indexed', () => indexed(parley).then(() => true), 20)
const [{ database: name, at } = { database: '', at: '' }] = await parley.database.query<{ database: string; at: string }>(
  'select current_database() as database, now() as at',
)
leaveFile('json', JSON.stringify({ at, kept, ...rooms, awake, control, records }))

await parley.services.close() // with the presence that it still holds, and without dropping the database
const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
const { stdout, stderr, status } = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], { encoding: 'utf8' })
if (status !== 0) throw new Error(stderr)
const sql = stdout.replaceAll(/^\\(un)?restrict .*\n/gm, '') // commands of psql
leaveFile('sql', sql)
await postgres.stop()
process.exit(0)
