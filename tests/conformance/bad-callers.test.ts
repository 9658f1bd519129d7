// Whoever brings no credential, a wrong one or one that is over, to every operation of every toolset, by both doors. What is expected is made
// from the operations' own callers and the table of keys; a refused call changes nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { revokeKey } from '../../src/control/keys/keys.ts'
import { sha256 } from '../../src/core/ids.ts'
import type { KeyScope } from '../../src/core/key-scopes.ts'
import { inputSchema } from '../../src/doors/http/json-schema.ts'
import { keyRowOf } from '../../src/operations/operation.ts'
import { endSignIn } from '../../src/process/sign-ins.ts'
import { FULL } from '../support/full.ts'
import { bearer, keyOf, signInIdOf } from '../support/keys.ts'
import {
  cookieOf,
  done,
  operations,
  room,
  restRequest,
  seat,
  startParley,
  viaRest,
  type As,
  type Parley,
  type Served,
} from '../support/parley.ts'

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
  if (scope) return keyRowOf(operation)[scope] === false ? 'forbidden' : undefined
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

// The first step that a refusal names.
const STEPS: [names: RegExp, as: (place: { id: string; alex: { token: string } }, scope: string) => Promise<As>][] = [
  [/team_id|teams of the session|join the session/, async ({ alex }) => ({ team: alex.token })],
  [/[Ss]ign(?:ed)?[ -]in|A person decides, signed in/, async () => ({ person: await cookieOf(parley, { name: 'Robin', role: 'person' }) })],
  [
    /(?:bun run key|of the scope) (full|read|sess|run)\b/,
    async ({ id }, scope) => ({ headers: bearer(await keyOf(parley, scope as KeyScope, id)) }),
  ],
]
const stepIn = (message: string) => {
  const advice = message.replace(/^.*? opens .*?, and not this call\. /, '')
  const named = STEPS.flatMap(([names, as]) => {
    const found = names.exec(advice)
    return found ? [{ at: found.index, as, scope: found[1] ?? '' }] : []
  })
  return named.toSorted((a, b) => a.at - b.at)[0]
}

const doors = [
  ['REST', overRest, () => true],
  ['MCP', overMcp, ({ restOnly }: Operation, as: As) => !restOnly && as.person === undefined],
] as const

const inPlace = ({ input: { shape } }: Operation, id: string) =>
  Object.fromEntries(['session_id', 'meeting_id'].flatMap((name) => (name in shape ? [[name, id]] : [])))

test('what a refusal tells to do is not refused in its turn', async () => {
  const wrong: unknown[] = []
  const callersNow: Record<string, As> = { ...callers, full: { headers: bearer(await keyOf(parley, 'full')) } }
  const tried = new Set<string>()
  const lacksRights = ({ error }: any) => error?.code === 'unauthorized' || error?.code === 'forbidden'
  for (const operation of operations) {
    const told = new Map<string, string>()
    for (const [who, as] of Object.entries(callersNow)) {
      if (who === 'an invented key' || who === 'a revoked key') continue
      if (who === 'full' && !operation.input.shape.session_id && operation.callers.some(({ kind }) => kind === 'anyone')) continue
      const answer = await overRest(operation.fullName, given(operation), as)
      if (lacksRights(answer)) told.set(answer.error.message, who)
    }
    for (const [message, who] of told) {
      const step = stepIn(message)
      if (message.includes('end your turn')) continue // it may, and not this of its own session
      const alike = `${operation.callers.map(({ kind }) => kind).join()}: ${message}`
      if (!FULL && tried.has(alike)) continue // the long form takes the step for each operation
      tried.add(alike)
      if (!step) wrong.push([operation.fullName, who, message, 'names no step'])
      else {
        const place = await room(viaRest(parley))
        const input = { ...given(operation), ...inPlace(operation, place.id) }
        const answer = await overRest(operation.fullName, input, await step.as(place, step.scope))
        if (lacksRights(answer)) wrong.push([operation.fullName, who, message, answer.error.message])
      }
    }
  }
  expect(wrong).toEqual([])
}, 180_000)

test.each(['/metrics', '/api/status', '/api/sessions/ID/handoff.md', '/api/sessions/ID/stream', '/sessions/ID.md'])(
  'a refusal to read %s names what this server takes',
  async (path) => {
    const saying = async (served: Served) => {
      const answer = (await (await served.send(path.replace('ID', id))).json()) as any
      expect(answer.error.code).toBe('unauthorized')
      return answer.error.message as string
    }
    expect(await saying(parley)).toMatch(/^Sign in, or send (your team_id as X-Team-ID, or )?a key of the scope read or full, to /)
    const locked = await parley.beside({ ACCESS_TOKEN: 'an-access-token-of-some-length' })
    expect(await saying(locked)).toContain('access token')
    await locked.close()
  },
)

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
        const { error } = answer
        const says = code !== 'unauthorized' || error?.message.startsWith('Not authenticated. ')
        if (error?.code !== code || !says) found.push([operation.fullName, who, code, JSON.stringify(answer).slice(0, 200)])
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
