// Keys of programs: what each scope opens in every cell of the table, what is no key at all, and how one ends.
import { describe, expect } from 'bun:test'
import { carryOut } from '../../src/control/keys/command.ts'
import { createInvitation } from '../../src/rooms/invitations.ts'
import { revokeKey } from '../../src/control/keys/keys.ts'
import { sha256 } from '../../src/core/ids.ts'
import { KEY_SCOPES, OPENS, prefixOf, type KeyScope } from '../../src/core/key-scopes.ts'
import { controlScene } from '../support/control-scene.ts'
import { test } from '../support/foreign.ts'
import { bearer, endsWithin, keyOf } from '../support/keys.ts'
import { fewestStatements } from '../support/fewest-statements.ts'
import {
  cookieOf,
  done,
  feedOf,
  onOneEngine,
  refused,
  room,
  soon,
  viaRest,
  whileHeld,
  type Seat,
  type Sending,
  type Served,
} from '../support/parley.ts'
import { importedAround } from '../support/transcripts.ts'

const CLOSED = { ACCESS_TOKEN: 'an-access-token-of-some-length', VIEWER_PASSWORD: 'look-but-do-not-touch' }
const TRACE = `${JSON.stringify({ type: 'user', sessionId: 's', message: { role: 'user', content: 'hi' } })}\n`

interface Place {
  id: string
  alex: Seat
}
type RestCall = [path: string, sending?: Sending]

const post = (body: unknown, more: Record<string, string> = {}): Sending => ({ body: JSON.stringify(body), headers: more })
const asTeam = ({ alex }: Place) => ({ 'x-team-id': alex.token })

const ROWS = { ...OPENS, invitations: createInvitation.keyRow }
type Row = keyof typeof ROWS

/** Calls of each row: they succeed for whoever may. */
const REST: Record<Row, (place: Place) => RestCall[]> = {
  everything: () => [['/'], ['/search'], ['/settings'], ['/metrics'], ['/api/history/search_sessions', post({ query: 'parser' })]],
  session: ({ id }) => [
    [`/sessions/${id}`],
    [`/sessions/${id}.md`],
    [`/sessions/${id}/feed.jsonl`],
    [`/sessions/${id}/live?after=0&doc=0`],
    [`/api/sessions/${id}/stream`],
    [`/api/sessions/${id}/handoff.md`],
  ],
  beside_read: (place) => [
    [`/api/sessions/${place.id}/messages`, { headers: asTeam(place) }],
    [`/api/sessions/${place.id}/wait?timeout=0&since_cursor=0`, { headers: asTeam(place) }],
    [`/api/sessions/${place.id}`, { headers: asTeam(place) }],
  ],
  beside_write: (place) => [
    [`/api/sessions/${place.id}/messages`, post({ content: 'said' }, asTeam(place))],
    [`/api/sessions/${place.id}/join`, post({ team_name: 'Cleo' })],
    ['/api/sessions', post({ title: 'T', description: '', creator_team_name: 'A' })],
  ],
  imports: () => [['/api/traces', { body: TRACE }]],
  invitations: ({ id }) => [[`/api/sessions/${id}/invitations`, post({})], [`/api/sessions/${id}/invitations`]],
}
const MCP: [row: Row, path: string, tool: string, input: (place: Place) => object][] = [
  ['everything', '/mcp/history', 'search_sessions', () => ({ query: 'parser' })],
  ['beside_read', '/mcp', 'get_history', ({ id, alex }) => ({ session_id: id, team_id: alex.token })],
  ['beside_write', '/mcp', 'post_message', ({ id, alex }) => ({ session_id: id, team_id: alex.token, content: 'said' })],
  ['beside_write', '/mcp', 'create_session', () => ({ title: 'T', description: '', creator_team_name: 'A' })],
]

onOneEngine((parley) => {
  const place = async (): Promise<Place & { bea: Seat }> => room(viaRest(parley()))
  const statusOf = async (served: Served, [path, sending = {}]: RestCall, key: string | undefined) => {
    const headers = { ...sending.headers, ...(key && bearer(key)) }
    const response = await served.send(path, { ...sending, headers })
    const said = response.headers.get('content-type')?.includes('json') ? ((await response.json()) as any) : undefined
    if (!said) await response.body?.cancel()
    return { status: response.status, error: said?.error }
  }
  const counts = () =>
    parley().database.query(
      'select (select count(*) from sessions) as s, (select count(*) from events) as e, (select count(*) from participants) as p, (select count(*) from invitations) as i',
    )

  describe.each([
    ['on an open server', {}],
    ['with ACCESS_TOKEN and VIEWER_PASSWORD', CLOSED],
  ])('%s', (_, env) => {
    describe.each(KEY_SCOPES.flatMap((scope) => (Object.keys(REST) as Row[]).map((row) => [scope, row] as const)))(
      'a key of the scope %s, for %s',
      (scope: KeyScope, row: Row) => {
        test('gets what the table says, over REST and MCP, and nothing is done otherwise', async () => {
          const served = await parley().beside(env)
          const own = await place()
          const key = await keyOf(served, scope, own.id)
          const opened = ROWS[row][scope]
          const before = await counts()
          for (const call of REST[row](own)) {
            const { status, error } = await statusOf(served, call, key)
            expect([call[0], status]).toEqual([call[0], opened === false ? 403 : 200])
            if (opened === false && call[0].startsWith('/api')) expect(error.message).toContain(`the scope ${scope}`)
          }
          for (const [, path, tool, input] of MCP.filter(([of]) => of === row)) {
            const client = await served.client(path, bearer(key))
            const { isError = false, structuredContent } = await client.callTool({ name: tool, arguments: input(own) as never })
            expect([tool, isError, (structuredContent as any).error?.code]).toEqual([
              tool,
              opened === false,
              opened === false ? 'forbidden' : undefined,
            ])
          }
          if (opened === false) expect(await counts()).toEqual(before)
          if (opened === 'own') {
            const foreign = await place()
            for (const call of REST[row](foreign)) expect([call[0], (await statusOf(served, call, key)).status]).toEqual([call[0], 404])
            for (const id of [`x${foreign.id}`, `${foreign.id}%20`, foreign.id.toUpperCase()])
              for (const call of REST[row]({ ...foreign, id }).filter(([path]) => path.startsWith('/api')))
                expect([call[0], (await statusOf(served, call, key)).status]).toEqual([call[0], 404])
          }
          await served.close()
        })
      },
    )

    test('lists the tools with a key of any scope', async () => {
      const served = await parley().beside(env)
      const { id } = await place()
      for (const scope of KEY_SCOPES) {
        const { tools } = await (await served.client('/mcp', bearer(await keyOf(served, scope, id)))).listTools()
        expect(tools.length).toBeGreaterThan(10)
      }
      await served.close()
    })

    test('what is no good key is 401 in one answer, and does nothing; so is no key where one is needed', async () => {
      const served = await parley().beside(env)
      const here = await place()
      const revoked = await keyOf(served, 'full')
      const [{ id }] = (await parley().database.query<{ id: string }>('select id from keys where key_hash = $1', [sha256(revoked)])) as [
        { id: string },
      ]
      await revokeKey(served.services, id)
      const good = await keyOf(served, 'full')
      const before = await counts()
      const calls = [...REST.beside_write(here), ...REST.everything(here), ...REST.imports(here)]
      for (const bad of [
        revoked,
        `${good.slice(0, -1)}${good.endsWith('0') ? '1' : '0'}`,
        'ca_full_short',
        `${good}0`,
        good.toUpperCase().replace('CA_', 'ca_'),
        'ca_',
      ])
        for (const call of calls) {
          const { status, error } = await statusOf(served, call, bad)
          expect([bad.slice(0, 12), call[0], status]).toEqual([bad.slice(0, 12), call[0], 401])
          if (error) expect(error.message).toContain('This key is not valid')
        }
      for (const call of REST.invitations(here)) expect((await statusOf(served, call, undefined)).status).toBe(401)
      expect(await counts()).toEqual(before)
      await served.close()
    })

    test('a key in the URL is refused with the header and without, and nothing is done', async () => {
      const served = await parley().beside(env)
      const here = await place()
      const key = await keyOf(served, 'full')
      const before = await counts()
      for (const call of [
        ...REST.beside_write(here),
        ...REST.invitations(here),
        ['/mcp', post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })] as RestCall,
      ])
        for (const [name, text] of [
          ['key', key],
          ['authorization', `Bearer ${key}`],
          [key, ''],
        ] as const)
          for (const header of [undefined, key]) {
            const path = `${call[0]}?${new URLSearchParams([[name, text]])}`
            const { status, error } = await statusOf(served, [path, ...call.slice(1)] as RestCall, header)
            expect([status, error.code]).toEqual([400, 'secret_in_text'])
            expect(JSON.stringify(error)).not.toContain(key)
          }
      expect(await counts()).toEqual(before)
      await served.close()
    })
  })

  test('a key in the place of a team_id is no team, and in a text it is refused', async () => {
    const { id, alex } = await place()
    const key = await keyOf(parley(), 'full')
    const asKey: RestCall = [`/api/sessions/${id}/messages`, { headers: { 'x-team-id': key } }]
    expect((await statusOf(parley(), asKey, undefined)).status).toBe(401)
    const said: RestCall = [`/api/sessions/${id}/messages`, post({ content: `use ${key}` }, { 'x-team-id': alex.token })]
    expect((await statusOf(parley(), said, undefined)).error.code).toBe('secret_in_text')
  })

  test('the tree of sessions is for whoever reads all of them, and for no agent’s key and no team', async () => {
    const served = await parley().beside(CLOSED)
    const { call, key, session_id } = await controlScene(served)
    const child = async (title: string) =>
      (await done(call('send_prompt', { session_id, prompt: 'A part.', mode: 'subsession', title }))).session_id as string
    const own = await child('Its own')
    await child('Its sibling')
    const joined = await done(viaRest(served)('join_session', { session_id: own, team_name: 'Cleo' }, { headers: bearer(key) }))
    const read = async (path: string, headers: Record<string, string>) => {
      const response = await served.send(`/sessions/${own}${path}`, { headers })
      return [response.status, (await response.text()).includes('Its sibling')]
    }
    const agent = bearer(await keyOf(served, 'agent', own))
    expect([await read('', bearer(key)), await read('/family', bearer(key))]).toEqual([
      [200, true],
      [200, true],
    ])
    expect([await read('', agent), await read('/family', agent), await read('/family', { 'x-team-id': joined.team_id })]).toEqual([
      [200, false],
      [401, false],
      [401, false],
    ])
    await served.close()
  })

  test('rooms’ calls with a full key still need the team_id', async () => {
    const { id } = await place()
    expect((await statusOf(parley(), [`/api/sessions/${id}/messages`], await keyOf(parley(), 'full'))).status).toBe(401)
  })

  describe('a key that is revoked', () => {
    const idOf = async (key: string) =>
      (await parley().database.query<{ id: string }>('select id from keys where key_hash = $1', [sha256(key)]))[0]!.id

    test('ends its held calls and its streams at once, at another instance too', async () => {
      const [here, there] = [await parley().beside(CLOSED), parley().engine === 'postgres' ? await parley().beside(CLOSED) : undefined]
      const served = there ?? here
      const { id, alex } = await place()
      const [key, other] = [await keyOf(here, 'full'), await keyOf(here, 'full')]
      const wait = (as: string) =>
        served.send(`/api/sessions/${id}/wait?since_cursor=1&timeout=20`, { headers: { 'x-team-id': alex.token, ...bearer(as) } })
      const client = await served.client('/mcp', bearer(key))
      const overMcp = client.callTool({
        name: 'wait_for_messages',
        arguments: { session_id: id, team_id: alex.token, since_cursor: 1, timeout: 20 },
      })
      const [overRest, spared] = [wait(key), wait(other)]
      const streams = await Promise.all(
        [`/api/sessions/${id}/stream`, `/sessions/${id}/live?after=0&doc=0`].map((path) => served.send(path, { headers: bearer(key) })),
      )
      const ends = streams.map((stream) => endsWithin(stream, 60_000))
      await soon('all are held', () => served.services.waits.held === 3 && served.services.streams.open === 2)
      const from = performance.now()
      await revokeKey(here.services, await idOf(key))
      const ended = await overRest
      expect([ended.status, ((await ended.json()) as any).error.message]).toEqual([
        401,
        expect.stringMatching(/^Not authenticated\. .* has ended/),
      ])
      const refused = await overMcp
      expect([refused.isError, (refused.structuredContent as any).error.code]).toEqual([true, 'unauthorized'])
      expect(await Promise.all(ends)).toEqual([true, true])
      expect(performance.now() - from).toBeLessThan(15_000) // the waits are held for 20 s
      expect(served.services.waits.held).toBe(1) // the other key's
      await done(alex('post_message', { content: 'go on' }))
      expect((await spared).status).toBe(200)
      for (const instance of [here, served]) expect((await statusOf(instance, ['/metrics'], key)).status).toBe(401)
      await soon('nothing is left', () => served.services.waiters.size === 0 && served.services.streams.open === 0)
      await there?.close()
      await here.close()
    })

    test.each([
      ['append_to_session_doc', { text: 'late' }],
      ['post_message', { content: 'late' }],
      ['plan_work', { items: [{ title: 'Build the lexer' }] }],
    ])('writes nothing as the team of its seat either, if it waited meanwhile: %s', async (name, input) => {
      if (parley().engine === 'pglite') return // it has one connection: nothing waits beside another
      const key = await keyOf(parley(), 'full')
      const as = { headers: bearer(key) }
      const call = viaRest(parley())
      const { session_id } = await done(call('control.create_session', { title: 'Late' }, as))
      await done(call('post_message', { session_id, content: 'in time' }, as))
      const state = () =>
        parley().database.query(
          'select last_sequence, (select version from session_docs where session_id = id) from sessions where id = $1',
          [session_id],
        )
      const before = await state()
      const late = whileHeld(
        parley(),
        session_id,
        () => call(name, { session_id, ...input }, as),
        async () => revokeKey(parley().services, await idOf(key)),
      )
      await refused(late, 'unauthorized')
      expect(await state()).toEqual(before)
    })

    test('ends an import that is coming in: what is written before stays', async () => {
      const key = await keyOf(parley(), 'full')
      const { answer, added } = await importedAround(parley(), bearer(key), async () => revokeKey(parley().services, await idOf(key)))
      expect([answer.status, ((await answer.json()) as any).error.message]).toEqual([401, expect.stringContaining('has ended')])
      expect(added).toBe(0)
    })

    test('costs no query while it is good and used without pause', async () => {
      const served = await parley().beside({})
      const key = await keyOf(served, 'read')
      const ask = () => statusOf(served, ['/AGENTS.md'], key)
      await ask()
      await soon('it is remembered', async () => {
        const before = served.database.statements()
        await ask()
        return served.database.statements() === before
      })
      const often = async () => {
        for (let n = 0; n < 20; n++) expect((await ask()).status).toBe(200)
      }
      expect(await fewestStatements(served.database, often, 4)).toBeLessThan(5) // background jobs, and a proof now and then
      await served.close()
    })
  })

  test('when it was used last is kept to the minute, with one write however often it is used', async () => {
    const served = await parley().beside({}, undefined, { intervals: { 'last-uses': 20 } })
    const key = await keyOf(served, 'read')
    const used = async () =>
      (await parley().database.query<{ at: string | null }>('select last_used_at as at from keys where key_hash = $1', [sha256(key)]))[0]!
        .at
    expect(await used()).toBeNull()
    for (let n = 0; n < 20; n++) await statusOf(served, ['/metrics'], key)
    await soon('it is written', async () => (await used()) !== null)
    expect(await used()).toEndWith(':00.000Z')
    await served.close()
  })

  test('no answer, page, log line or row holds a key after it was told [D5]', async () => {
    const served = await parley().beside({}, undefined, {})
    const cookie = await cookieOf(served, { name: 'Robin', role: 'person' })
    const body = new URLSearchParams({ name: 'My laptop', scope: 'full', session_id: '' }).toString()
    const made = await served.send('/settings/keys', {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
    const [key] = /ca_full_[0-9a-f]{32}/.exec(await made.text())!
    expect((await statusOf(served, ['/metrics'], key)).status).toBe(200)
    const page = await (await served.send('/settings/keys', { headers: { cookie } })).text()
    expect(page).toContain(prefixOf(key))
    expect(page).not.toContain(key)
    expect(served.logged.join()).not.toContain(key.slice(16))
    const rows = await parley().database.query<{ row: string }>('select keys::text as row from keys')
    expect(rows.map(({ row }) => row).join()).not.toContain(key.slice(16))
    await served.close()
  })

  describe('the page', () => {
    const submit = async (cookie: string | undefined, path: string, fields: Record<string, string>) => {
      const headers = { ...(cookie && { cookie }), 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
      const response = await parley().send(path, { method: 'POST', headers, body: new URLSearchParams(fields).toString() })
      return { status: response.status, text: await response.text(), location: response.headers.get('location') }
    }
    const robin = () => cookieOf(parley(), { name: 'Robin', role: 'person' })

    test.each(['full', 'read', 'sess', 'run'])(
      'makes a key of the scope %s, shows it once with the line to use it, and revokes it',
      async (scope) => {
        const { id } = await place()
        const cookie = await robin()
        const { status, text } = await submit(cookie, '/settings/keys', { name: 'Laptop', scope, session_id: scope === 'sess' ? id : '' })
        expect(status).toBe(200)
        const [key] = new RegExp(`ca_${scope}_[0-9a-f]{32}`).exec(text)!
        expect(text).toContain('it is not shown again')
        expect(text).toContain(scope === 'run' ? `PARLEY_RUNNER_KEY=${key}` : `Bearer ${key}`)
        expect((await statusOf(parley(), ['/AGENTS.md'], key)).status).toBe(200)
        const [row] = await parley().database.query<{ id: string; made_by: string; session_id: string | null }>(
          'select id, made_by, session_id from keys where key_hash = $1',
          [sha256(key)],
        )
        expect(row).toMatchObject({ made_by: 'Robin', session_id: scope === 'sess' ? id : null })
        expect((await submit(cookie, '/settings/keys/revoke', { key_id: row!.id })).location).toBe('/settings/keys?done=revoked')
        expect((await statusOf(parley(), ['/AGENTS.md'], key)).status).toBe(401)
      },
    )

    test.each([
      [{ name: '', scope: 'full' }, 400, 'A key needs a name'],
      [{ name: 'x'.repeat(101), scope: 'full' }, 400, 'A key needs a name'],
      [{ name: 'La\u202eptop', scope: 'full' }, 400, 'A key needs a name'],
      [{ name: 'Laptop', scope: 'agent' }, 400, 'made by the server'],
      [{ name: 'Laptop', scope: 'root' }, 400, 'one of the scopes full, read, sess, run'],
      [{ name: 'Laptop', scope: '' }, 400, 'one of the scopes'],
      [{ name: 'Laptop', scope: 'sess' }, 400, 'belongs to one session'],
      [{ name: 'Laptop', scope: 'sess', session_id: crypto.randomUUID() }, 404, 'There is no such session'],
      [{ name: 'Laptop', scope: 'full', session_id: crypto.randomUUID() }, 400, 'belongs to no session'],
      [{ name: `ca_full_${'0'.repeat(32)}`, scope: 'full' }, 400, 'contains a token or key'],
    ])('answers %j with %i and a sentence, and keeps what was typed', async (fields, status, sentence) => {
      const answer = await submit(await robin(), '/settings/keys', fields as Record<string, string>)
      expect(answer.status).toBe(status)
      expect(answer.text).toContain(sentence)
      expect(answer.text).not.toMatch(/ca_full_0{32}|The new key/)
      if (fields.name === 'Laptop') expect(answer.text).toContain('value="Laptop"')
    })

    test('sent twice, the form makes one key', async () => {
      const cookie = await robin()
      const fields = { id: crypto.randomUUID(), name: 'Once', scope: 'read' }
      expect((await submit(cookie, '/settings/keys', fields)).status).toBe(200)
      const again = await submit(cookie, '/settings/keys', fields)
      expect([again.status, again.text.includes('This form was already sent')]).toEqual([409, true])
      expect(await parley().database.query('select 1 from keys where id = $1', [fields.id])).toHaveLength(1)
    })

    test('reaches every key that is in force, however many there are, and those of tasks crowd none out; so does the command', async () => {
      const { id } = await place()
      const made = async (n: number, name: string, scope: KeyScope, more: { age: string; revoked?: boolean }) =>
        void (await parley().database.query(
          `insert into keys (id, key_hash, prefix, scope, name, session_id, made_by, made_at, revoked_at)
           select gen_random_uuid(), md5(random()::text), 'ca_' || $2 || '_' || lpad(n::text, 8, '0'), $2, $1 || ' ' || n, $3::uuid, 'Robin',
             date_trunc('milliseconds', now() - $4::interval), case when $5::bool then now() end from generate_series(1, $6::int) n`,
          [name, scope, scope === 'agent' ? id : null, more.age, more.revoked ?? false, n],
        ))
      await made(1, 'The oldest', 'read', { age: '9 days' })
      await made(210, 'Old', 'full', { age: '8 days' })
      await made(1, 'Stolen', 'full', { age: '7 days', revoked: true })
      await made(1_200, 'Lost', 'full', { age: '6 days', revoked: true })
      await made(250, 'claude-code', 'agent', { age: '1 minute' })
      const cookie = await robin()
      const read = async (path: string) => (await parley().send(path, { headers: { cookie, accept: 'text/html' } })).text()
      const names = async (show: string) => {
        const seen: string[] = []
        for (let path: string | undefined = `/settings/keys?show=${show}`; path !== undefined;) {
          const html: string = await read(path)
          seen.push(
            ...[...html.matchAll(/wrap-anywhere(?: line-through)?">((?:The|Old|Stolen|Lost|claude)[^<]* \d+)</g)].map(([, name]) => name!),
          )
          path = /href="([^"]*cursor=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
        }
        return seen
      }
      const [good, tasks, revoked] = [await names('good'), await names('tasks'), await names('revoked')]
      expect([good.length, new Set(good).size, good.at(-1)]).toEqual([211, 211, 'The oldest 1'])
      expect([tasks.length, new Set(tasks).size]).toEqual([250, 250])
      expect([new Set(revoked).size, revoked.at(-1)]).toEqual([1_201, 'Stolen 1'])
      expect(await read('/settings/keys')).not.toContain('claude-code')
      const { out, note } = await carryOut(parley().services, { do: 'list' }, { base: '' })
      for (const name of [...good, ...revoked]) expect(out).toContain(`"${name}"`)
      expect([out.indexOf('"The oldest 1"') < out.indexOf('REVOKED'), out.includes('claude-code')]).toEqual([true, false])
      expect(note).toMatch(/Not listed: \d+ of tasks under way/)
      await parley().database.query("delete from keys where made_by = 'Robin' and made_at < now() - interval '30 seconds'")
    })

    test('is for signed-in people: no stranger, reader or key makes, sees or revokes any', async () => {
      const reader = await cookieOf(parley(), { name: 'Robin', role: 'reader' })
      const before = await parley().database.query('select count(*) from keys')
      for (const [cookie, status] of [
        [undefined, 401],
        [reader, 403],
      ] as const)
        for (const path of ['/settings/keys', '/settings/keys/revoke', '/settings/sign-ins/link', '/settings/sign-ins/end'])
          expect([path, (await submit(cookie, path, { name: 'x', scope: 'full', key_id: 'x' })).status]).toEqual([path, status])
      expect((await parley().send('/settings/keys')).headers.get('location')).toBe('/sign-in?next=%2Fsettings%2Fkeys')
      expect((await parley().send('/settings/keys', { headers: { cookie: reader } })).status).toBe(403)
      const key = await keyOf(parley(), 'full')
      expect((await parley().send('/settings/keys', { headers: bearer(key) })).status).toBe(303)
      expect((await parley().send('/settings/keys', { method: 'POST', body: 'name=x&scope=full', headers: bearer(key) })).status).toBe(401)
      expect(Number((await parley().database.query<{ count: number }>('select count(*) from keys'))[0]!.count)).toBe(
        Number((before as { count: number }[])[0]!.count) + 1,
      )
    })
  })

  test('RATE_LIMIT counts a key by itself, and not by its address', async () => {
    const served = await parley().beside({ RATE_LIMIT: '3' })
    const [one, other] = [await keyOf(served, 'read'), await keyOf(served, 'read')]
    const ask = (key: string) => statusOf(served, ['/api/config'], key)
    for (let n = 0; n < 3; n++) expect((await ask(one)).status).toBe(200)
    expect((await ask(one)).status).toBe(429)
    expect((await ask(other)).status).toBe(200)
    await served.close()
  })

  test('the health checks answer whatever key comes along', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await statusOf(parley(), [path], 'ca_full_no')).status).toBe(200)
  })

  test('a key that makes an invitation is named as who made it', async () => {
    const { id, alex } = await place()
    const key = await keyOf(parley(), 'full')
    expect((await statusOf(parley(), [`/api/sessions/${id}/invitations`, post({})], key)).status).toBe(200)
    const list = (await (await parley().send(`/api/sessions/${id}/invitations`, { headers: bearer(key) })).json()) as any
    expect(list.invitations).toMatchObject([{ made_by: 'a full key', joins: 10, joined: 0, revoked_at: null }])
    expect((await feedOf(alex)).map(({ type }) => type)).toEqual(['system']) // it is no event
  })
})
