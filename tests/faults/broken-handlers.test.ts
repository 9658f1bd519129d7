// What fails inside a handler is told as ours, with a reference to the log: nothing of the database, of the code or of a credential is in it.
// Real failures: tables are away, so that what asks for them throws. FULL=1: each table alone too.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isLockTimeout, isUndone } from '../../db/errors.ts'
import { findCredentials } from '../support/credential-scan.ts'
import { FULL } from '../support/full.ts'
import { operations, restRequest } from '../support/parley.ts'
import { goodInputOf } from './fuzz/good-input.ts'
import { ask, openScene, something, type Answered, type Scene, type Something } from './fuzz/scene.ts'

const MAY_TAKE_MS = FULL ? 1_800_000 : 180_000
// Who calls is found out with these, before any handler.
const OF_CALLERS = ['sessions', 'participants', 'keys', 'sign_ins', 'settings', 'invitations', 'shares']
const PAGES = ['/', '/sessions/ID', '/search?q=parser', '/approvals', '/records', '/worktrees', '/settings', '/sessions/ID/board']
// The first tells of each of its sessions by itself, the second is for a key that nobody here has, and the third asks for sessions alone.
const DRAWS = 5 // of an input whose texts may be refused by chance
const DO_WITHOUT = ['wait_for_any', 'control.set_session_name']
const GIVES_WAY_MS = 300 // before Postgres looks for a deadlock, after a second
const INSIDE = /relation|does not exist|_away|\bat \S+ \(|node_modules|select |insert |postgres|\.ts:\d/i

let scene: Scene
let made: Something
let tables: string[]
beforeAll(async () => {
  scene = await openScene()
  made = await something(scene)
  const rows = await scene.database.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public'`)
  tables = rows.map(({ name }) => name)
}, 180_000)
afterAll(() => scene?.close())

/** Does the work while these tables have other names. */
const without = async (away: readonly string[], work: () => Promise<void>) => {
  // The hub's jobs lock some of the tables in another order: this gives way to them, and begins anew.
  const rename = async (from: (table: string) => string, to: (table: string) => string) => {
    const renamed = () =>
      scene.database.transaction(async ({ query }) => {
        await query(`set local lock_timeout = ${GIVES_WAY_MS}`)
        for (const table of away) await query(`alter table ${from(table)} rename to ${to(table)}`)
      })
    for (let tried = 1; ; tried++)
      try {
        return await renamed()
      } catch (error) {
        if (!(isLockTimeout(error) || isUndone(error)) || tried === 100) throw error
      }
  }
  const other = (table: string) => `${table}_away`
  await rename(String, other)
  try {
    await work()
  } finally {
    await rename(other, String)
  }
}

/** A failure of ours is told so that nobody learns of the inside, and everybody where to look. */
const expectKept = (what: string, { status, type, text }: Answered): boolean => {
  if (status < 500) return false
  expect([what, text.match(INSIDE)?.[0]]).toEqual([what, undefined])
  if (type.startsWith('text/html')) expect(text).toContain('· Parley</title>')
  else expect(JSON.parse(text).error).toEqual({ code: expect.any(String), message: expect.any(String), details: expect.any(Object) })
  return true
}

const failing = new Set<string>()

const callAll = async () => {
  const { ids, credentials } = made
  for (const operation of operations)
    for (let draw = 0; draw < DRAWS && (draw === 0 || !failing.has(operation.fullName)); draw++)
      for (const headers of credentials) {
        const { fullName } = operation
        const { path, sending } = restRequest(fullName, goodInputOf(operation, ids), { headers })
        if (expectKept(fullName, await ask(scene.send, { ...sending, path, headers: { ...sending.headers } }))) failing.add(fullName)
      }
  for (const path of PAGES) {
    const headers = { accept: 'text/html', ...credentials[2] }
    if (expectKept(path, await ask(scene.send, { method: 'GET', path: path.replace('ID', ids.session_id![0]!), headers })))
      failing.add(path)
  }
}

test(
  'whatever fails in the handler of an operation or a page, the answer says nothing of the inside, and the log says what it was',
  async () => {
    await without(
      tables.filter((table) => !OF_CALLERS.includes(table)),
      callAll,
    )
    const all = [...operations.map(({ fullName }) => fullName), ...PAGES]
    expect(all.filter((name) => !failing.has(name))).toEqual(DO_WITHOUT)
    if (FULL) for (const table of tables) await without([table], callAll)
    const told = scene.logged.map((entry) => JSON.stringify(entry))
    expect(told.filter((line) => line.includes('does not exist')).length).toBeGreaterThan(failing.size)
    const secrets = made.credentials.flatMap((headers) => Object.values(headers)).map((text) => text.replace(/^Bearer |^\w+=/, ''))
    expect(
      findCredentials(
        told,
        secrets.filter((text) => /[.]|^ca_/.test(text)),
      ),
    ).toEqual([])
  },
  MAY_TAKE_MS,
)

test('and when the tables are back, so is everything else', async () => {
  const path = `/api/sessions/${made.ids.session_id![0]}/messages`
  expect((await ask(scene.send, { method: 'GET', path, headers: made.credentials[2]! })).status).toBe(200) // a person's: teams have left
})
