// Makes tests/data/upgrade.sql.gz, a Postgres database as a version of Parley leaves it, and upgrade.json, what that version answered. To make
// them of another version, copy this file into a worktree of its commit and run `bun tests/make-dump.ts` there.
import { writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { cookieOf, done, seat, soon, startParley, viaRest, type As } from './support/parley.ts'
import { indexed } from './support/history.ts'
import { startPostgres } from './support/postgres.ts'

const DATA = join(import.meta.dir, 'data')
const PERSON = { name: 'Robin', role: 'person' } as const

/** A call with an idempotency key, and the answer that the key is to give again. */
interface Kept {
  name: string
  input: Record<string, unknown>
  as: Pick<As, 'team' | 'key'> & { person?: boolean }
  answer: Record<string, unknown>
}

const postgres = await startPostgres()
process.env.TEST_DATABASE_URL = postgres.url
const parley = await startParley({ engine: 'postgres' })
const call = viaRest(parley)
const person = await cookieOf(parley, PERSON)

const kept: Kept[] = []
let keys = 0
/** Calls with a key, and keeps what came of it. */
const keep = async (name: string, input: Record<string, unknown>, as: Kept['as'] = {}): Promise<any> => {
  const withKey = { ...as, key: `a key that was used before, the ${++keys}.` }
  const answer = await done(call(name, input, { team: as.team, key: withKey.key, person: as.person ? person : undefined }))
  kept.push({ name, input, as: withKey, answer })
  return answer
}

const made = await keep('create_session', {
  title: 'Shipping the parser',
  description: 'Decide what goes out.',
  creator_team_name: "Alex's Team",
})
const session_id = made.session_id as string
const joined = await keep('join_session', { session_id, team_name: "Bea's Team" })
const [alex, bea] = [seat(call, made), seat(call, joined)]
const team = alex.token
const first = await keep('post_message', { session_id, content: { text: 'Shall the tokenizer ship on Tuesday?' } }, { team })
await keep(
  'post_message',
  { session_id, content: { text: 'Yes, with the quixotic fallback.' }, reply_to: first.message_id },
  { team: bea.token },
)
await keep('post_message', { session_id, content: 'I agree.' }, { person: true })
for (let n = 1; n <= 3; n++) await done(bea('post_message', { content: { text: `Without a key, number ${n}.` } }))
await keep('update_session_doc', { session_id, content: '# Plan\n\n## Decisions\n- Tuesday', expected_version: 0 }, { team })
await keep('append_to_session_doc', { session_id, text: '## Open\n- The docs' }, { team: bea.token })
await keep('ack_messages', { session_id, cursor: 2 }, { team: bea.token })
await keep('update_session_metadata', { session_id, title: 'Shipping the parser, at last', reason: 'it ships' }, { team })
await keep('share_session', { session_id }, { person: true })
await keep('transfer_convener', { session_id, to: bea.handle }, { team })

const over = await done(call('create_session', { title: 'The one that is over', description: '', creator_team_name: 'Cleo' }))
await done(call('post_message', { session_id: over.session_id, content: { text: 'Nothing is left to say.' } }, { team: over.team_id }))
await keep('conclude_session', { session_id: over.session_id, summary_section: 'It is decided.' }, { team: over.team_id })
await keep('create_session', { title: 'The one after', description: '', creator_team_name: 'Cleo', resume_from: over.session_id })

const transcript = readFileSync(join(DATA, 'codex.jsonl'))
const imported = async () => {
  const response = await parley.send('/api/traces?name=codex.jsonl', {
    body: transcript,
    headers: { 'idempotency-key': 'a key of an import, used before' },
  })
  return (await response.json()) as { session_id: string }
}
const report = await imported()

const settings = { mcp_url: 'https://parley.example/mcp', loop_guard: JSON.stringify({ mode: 'slow', posts: 20, likeness: 0.8 }) }
await parley.services.changeSetting('mcp_url', settings.mcp_url)
await parley.services.changeSetting('loop_guard', settings.loop_guard)
await soon('all is indexed', () => indexed(parley).then(() => true), 20)

const room = (id: string, token: string) => async () => ({
  session_id: id,
  team: token,
  feed: (await done(call('wait_for_messages', { session_id: id, since_cursor: 0, timeout: 0 }, { team: token }))).messages,
  doc: await done(call('read_session_doc', { session_id: id }, { team: token })),
})
const rooms = [await room(session_id, bea.token)(), await room(over.session_id, over.team_id)()]
const trace = await parley.database.query('select id, sequence, turn, type from events where session_id = $1 order by sequence', [
  report.session_id,
])
writeFileSync(join(DATA, 'upgrade.json'), `${JSON.stringify({ kept, rooms, imported: report, trace, settings }, null, 1)}\n`)

await parley.services.close() // with the presence that it still holds, and without dropping the database
const { stdout, stderr, status } = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', parley.url!], { encoding: 'utf8' })
if (status !== 0) throw new Error(stderr)
const sql = stdout.replaceAll(/^\\(un)?restrict .*\n/gm, '') // commands of psql
writeFileSync(join(DATA, 'upgrade.sql.gz'), Bun.gzipSync(sql, { level: 9 }))
await postgres.stop()
process.exit(0)
