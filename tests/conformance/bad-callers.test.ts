// Whoever brings no credential, a wrong one or one that is over, to every operation of every toolset, by both doors. What is expected is made
// from the operations' own callers and the table of keys; a refused call changes nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { revokeKey } from '../../src/control/keys/keys.ts'
import { sha256 } from '../../src/core/ids.ts'
import { opens, type KeyScope } from '../../src/core/key-scopes.ts'
import { inputSchema } from '../../src/doors/rest/json-schema.ts'
import { keyRowOf } from '../../src/operations/operation.ts'
import { endSignIn } from '../../src/process/sign-ins.ts'
import { bearer, keyOf, signInIdOf } from '../support/keys.ts'
import { cookieOf, done, operations, room, restRequest, seat, startParley, viaRest, type As, type Parley } from '../support/parley.ts'

type Operation = (typeof operations)[number]
type Code = 'unauthorized' | 'forbidden' | undefined

let parley: Parley
let id: string
let callers: Record<string, As>

const UNKNOWN = `11111111-2222-4333-8444-555555555555.${'aB3_'.repeat(8)}`
const SCOPES = ['read', 'sess', 'run', 'agent'] as const satisfies KeyScope[]

beforeAll(async () => {
  parley = await startParley({ env: { VIEWER_PASSWORD: 'a password for viewers' } })
  const call = viaRest(parley)
  const [here, elsewhere] = [await room(call), await room(call)]
  id = here.id
  const gone = seat(call, await done(call('join_session', { session_id: id, team_name: 'Gone' })))
  await done(gone('leave_session'))
  const revoked = await keyOf(parley, 'full')
  const [row] = await parley.database.query<{ id: string }>('select id from keys where key_hash = $1', [sha256(revoked)])
  await revokeKey(parley.services, row!.id)
  const signedOut = await cookieOf(parley, { name: 'Robin', role: 'person' })
  await endSignIn(parley.services, signInIdOf(signedOut))
  const sharing: As = { team: undefined, person: await cookieOf(parley, { name: 'Nora', role: 'person' }) }
  const link = new URL((await done(here.alex('share_session', {}, sharing))).url)
  const shared = (await parley.send(link.pathname)).headers.getSetCookie()[0]!.split(';')[0]!
  expect((await parley.send(`/sessions/${id}`, { headers: { cookie: shared } })).status).toBe(200)
  callers = {
    nobody: {},
    'no token at all': { team: 'team 1' },
    'an unknown team': { team: UNKNOWN },
    'another session’s team': { team: elsewhere.alex.token },
    'a team that left': { team: gone.token },
    'an invented key': { headers: bearer(`ca_full_${'0'.repeat(32)}`) },
    'a revoked key': { headers: bearer(revoked) },
    'a signed-out person': { person: signedOut },
    'an invented cookie': { person: 'parley=11111111-2222-4333-8444-555555555555.aaaa' },
    'a reader by a share link': { person: shared },
    'a viewer': { person: await cookieOf(parley, { name: 'Vera', role: 'reader' }) },
  }
  for (const scope of SCOPES) callers[scope] = { headers: bearer(await keyOf(parley, scope, id)) }
}, 180_000)
afterAll(() => parley?.close())

/** The code that this caller is to get; undefined: nothing is said of it here, for it may, or may in its own session. */
const expected = (who: string, operation: Operation): Code => {
  const kinds = operation.callers.map(({ kind }) => kind as string)
  if (who === 'an invented key' || who === 'a revoked key') return 'unauthorized'
  const scope = SCOPES.find((one) => one === who)
  if (scope) return opens(scope, keyRowOf(operation)) === false ? 'forbidden' : undefined
  if (kinds.includes('anyone')) return undefined
  if (who === 'a viewer' && kinds.includes('reader')) return undefined
  const ofItsOwn =
    who === 'another session’s team' &&
    !('session_id' in operation.input.shape && !operation.input.shape.session_id.safeParse(undefined).success)
  return ofItsOwn && kinds.includes('team') ? undefined : 'unauthorized'
}

const given = ({ input, carried }: Operation): Record<string, unknown> => {
  const { properties, required = [] } = inputSchema(input) as any
  const names = (required as string[]).filter((name) => !carried.includes(name))
  return Object.fromEntries(names.map((name) => [name, SAMPLES[name]?.() ?? sampleOf(properties[name])]))
}
const SAMPLES: Record<string, () => unknown> = { session_id: () => id, email: () => 'a@example.org' }
const sampleOf = (schema: any): unknown => {
  const one = schema.anyOf?.[0] ?? schema.oneOf?.[0] ?? schema
  if (one.const !== undefined) return one.const
  if (one.enum) return one.enum[0]
  if (one.default !== undefined) return one.default
  if (one.format === 'uuid' || one.format === 'guid') return '11111111-2222-4333-8444-555555555555'
  if (one.type === 'array') return Array.from({ length: one.minItems ?? 0 }, () => sampleOf(one.items))
  if (one.type === 'object')
    return Object.fromEntries(((one.required ?? []) as string[]).map((name) => [name, SAMPLES[name]?.() ?? sampleOf(one.properties[name])]))
  if (one.type === 'integer' || one.type === 'number') return Math.max(1, one.minimum ?? 1)
  return one.type === 'boolean' ? true : 'x'.repeat(Math.max(1, one.minLength ?? 1))
}

// But for those of the search index, which follows in the background.
const rowCounts = async () => {
  const tables = await parley.database.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like '%search%' and table_name <> 'session_index' order by 1",
  )
  const counts = tables.map(({ name }) => `(select count(*) from "${name}") as "${name}"`)
  return (await parley.database.query(`select ${counts.join(', ')}`))[0]
}

/** The body of the answer as it came: a key's scope is no matter of the operation, which does not declare that refusal. */
const overRest = async (name: string, input: object, as: As = {}): Promise<any> => {
  const { path, sending } = restRequest(name, input as Record<string, unknown>, as)
  return (await parley.send(path, sending)).json()
}
const overMcp = async (name: string, input: object, { team, headers = {} }: As = {}): Promise<any> => {
  const [tool, toolset = 'rooms'] = name.split('.').toReversed() as [string, string?]
  const params = { name: tool, arguments: { ...input, ...(team !== undefined && { team_id: team }) } }
  const sent = { 'content-type': 'application/json', accept: 'application/json', ...headers }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const answer = (await (await parley.send(`/mcp/${toolset}`, { headers: sent, body })).json()) as any
  return answer.result?.structuredContent ?? answer
}

const doors = [
  ['REST', overRest, () => true],
  ['MCP', overMcp, ({ restOnly }: Operation, as: As) => !restOnly && as.person === undefined],
] as const

describe.each(doors)('over %s', (_, ask, serves) => {
  test('everybody who may not is refused as the tables say, and nothing has changed', async () => {
    const before = await rowCounts()
    const found: unknown[] = []
    let asked = 0
    for (const operation of operations)
      for (const [who, as] of Object.entries(callers)) {
        const code = expected(who, operation)
        if (code === undefined || !serves(operation, as)) continue
        asked++
        const answer = await ask(operation.fullName, given(operation), as)
        if (answer.error?.code !== code) found.push([operation.fullName, who, code, JSON.stringify(answer).slice(0, 200)])
      }
    expect(found).toEqual([])
    expect(asked).toBeGreaterThan(200)
    expect(await rowCounts()).toEqual(before)
  }, 180_000)

  test('unknown teams, foreign ones and those that left are answered alike', async () => {
    const teams = ['an unknown team', 'another session’s team', 'a team that left']
    for (const operation of operations) {
      if (teams.some((who) => expected(who, operation) !== 'unauthorized') || !serves(operation, {})) continue
      const answers = await Promise.all(teams.map((who) => ask(operation.fullName, given(operation), callers[who])))
      expect(new Set(answers.map((body) => JSON.stringify(body))).size, operation.fullName).toBe(1)
    }
  }, 180_000)
})
