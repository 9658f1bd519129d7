import { expect } from 'bun:test'
import { KEY_SCOPES } from '../../src/core/key-scopes.ts'
import { jobsOf } from '../../src/operations/toolset.ts'
import { toolsets } from '../../src/toolsets.ts'
import { demoWing, HEADER, ROBOT } from '../support/demo-wing.ts'
import { test } from '../support/foreign.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { cookieOf, done, feedOf, onOneEngine, room, soon, TITLE, viaRest } from '../support/parley.ts'

// What a wing brings is all that it takes: these tests add a toolset to the list and touch nothing else.
onOneEngine((parley) => {
  const withWing = async () => {
    const wing = demoWing()
    const all = [...toolsets, wing.toolset]
    const served = await parley().beside({}, { toolsets: all }, { jobs: jobsOf(all) })
    const call = async (name: string, body: object, robot: string | undefined = ROBOT, headers: Record<string, string> = {}) => {
      const response = await served.send(`/api/demo/${name}`, {
        method: 'POST',
        headers: { ...(robot && { [HEADER]: robot }), ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as any, replayed: response.headers.get('idempotency-replayed') }
    }
    return { ...wing, served, call }
  }

  test('an operation named like one of rooms is another operation, to idempotency keys, metrics, OpenAPI and MCP', async () => {
    const { served, call } = await withWing()
    const key = { 'idempotency-key': crypto.randomUUID() }
    const rooms = { title: TITLE, description: '', creator_team_name: "Alex's Team" }
    const made = await served.send('/api/sessions', { method: 'POST', headers: key, body: JSON.stringify(rooms) })
    expect(made.status).toBe(200)
    expect((await call('create_session', { title: TITLE }, '', key)).body.error.code).toBe('idempotency_mismatch')
    const own = { 'idempotency-key': crypto.randomUUID() }
    expect(await call('create_session', { title: TITLE }, '', own)).toEqual({ status: 200, body: { from: 'demo' }, replayed: null })
    expect(await call('create_session', { title: TITLE }, '', own)).toEqual({ status: 200, body: { from: 'demo' }, replayed: 'true' })

    const metrics = await (await served.send('/metrics')).text()
    expect(metrics).toContain('operation="rooms.create_session"')
    expect(metrics).toContain('operation="demo.create_session"')

    const { paths } = (await (await served.send('/api/openapi.json')).json()) as any
    expect(paths['/api/demo/create_session'].post).toMatchObject({ operationId: 'demo_create_session', tags: ['demo'] })
    expect(paths['/api/sessions'].post).toMatchObject({ operationId: 'create_session', tags: ['rooms'] })

    const alone = await (await served.client('/mcp/demo')).listTools()
    expect(alone.tools.map(({ name }) => name)).toEqual(['create_session', 'work_on_thing', 'watch_thing', 'count_jobs'])
    const together = await (
      await served.client('/mcp?toolsets=rooms,demo')
    ).callTool({
      name: 'demo_create_session',
      arguments: { title: TITLE },
    })
    expect(together.structuredContent).toEqual({ from: 'demo' })
  })

  test('a kind of caller of its own: told apart, refused without a credential, and its secret stays out of texts', async () => {
    const { served, call } = await withWing()
    const { id } = await room(viaRest(served))
    const input = { thing: 'lamp', in_session: id, note: 'shiny' }
    expect(await call('work_on_thing', input)).toMatchObject({ status: 200, body: { thing: 'lamp', by: 'robot-0' } })
    for (const stranger of ['', 'toaster', `${ROBOT}-scrapped`]) expect((await call('work_on_thing', input, stranger)).status).toBe(401)
    expect((await call('work_on_thing', { ...input, note: `I am ${ROBOT}` })).body.error.code).toBe('secret_in_text')
    const overMcp = await served.client('/mcp/demo', { [HEADER]: ROBOT })
    expect((await overMcp.callTool({ name: 'work_on_thing', arguments: input })).structuredContent).toMatchObject({ thing: 'lamp' })
  })

  test('a subject of its own is locked: work on one thing comes one after the other, on two at the same time', async () => {
    const { served, call, seen } = await withWing()
    const { id } = await room(viaRest(served))
    const work = (thing: string) => call('work_on_thing', { thing, in_session: id, note: '' })
    const one = await Promise.all(Array.from({ length: 6 }, () => work('lamp')))
    expect(one.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200))
    expect(seen.mostAtOnce).toBe(1)
    expect((await work('lost')).body.error).toMatchObject({ code: 'not_found', details: { thing: 'lost' } })
    const key = { 'idempotency-key': 'once' }
    const input = { thing: 'vase', in_session: id, note: '' }
    const first = await call('work_on_thing', input, ROBOT, key)
    expect(await call('work_on_thing', input, ROBOT, key)).toEqual({ ...first, replayed: 'true' })
    expect((await call('work_on_thing', input, `${ROBOT}9`, key)).replayed).toBeNull() // another robot's key
  })

  test('a write appends to several logs, and the readers of each are woken; its kind of event is told in its words', async () => {
    const { served, call } = await withWing()
    const [here, there] = [await room(viaRest(served)), await room(viaRest(served))]
    const waits = [here, there].map(({ bea }) => done(bea('wait_for_messages', { since_cursor: 1, timeout: 20 })))
    await soon('both wait', () => served.services.waits.held === 2)
    const { body } = await call('work_on_thing', { thing: 'lamp', in_session: here.id, also_in: there.id, note: '' })
    expect(body.sequences).toEqual([2, 2])
    for (const { messages } of await Promise.all(waits))
      expect(messages).toMatchObject([{ type: 'system', event: 'thing_worked_on', by: 'Robot 7', thing: 'lamp' }])
    expect((await feedOf(here.alex)).at(-1)).toMatchObject({ event: 'thing_worked_on' })
    const page = await (await served.send(`/sessions/${here.id}`)).text()
    expect(page).toContain('polished the lamp')
  })

  test('a topic of its own wakes whoever waits for it, at another instance too', async () => {
    const [one, other] = [await withWing(), await withWing()]
    const { id } = await room(viaRest(one.served))
    const watchers = [one, other].map(({ call }) => call('watch_thing', { thing: 'lamp' }))
    await soon('both watch', () => [one, other].every(({ served }) => served.services.waiters.size === 1))
    await one.call('work_on_thing', { thing: 'lamp', in_session: id, note: '' })
    const woken = (await Promise.all(parley().engine === 'postgres' ? watchers : watchers.slice(0, 1))).map(({ body }) => body)
    for (const body of woken) expect(body).toEqual({ woken: true })
  })

  test('an operation that keys may call is opened by those that the wing names, and says to others which', async () => {
    const { served, call } = await withWing()
    const { id } = await room(viaRest(served))
    for (const scope of KEY_SCOPES) {
      const { status, body } = await call('count_jobs', {}, '', bearer(await keyOf(served, scope, id)))
      expect([scope, status]).toEqual([scope, scope === 'full' || scope === 'read' ? 200 : 403])
      if (status === 403) expect(body.error.message).toEndWith('Robots ask for a key of the scope full or read.')
    }
    expect((await call('count_jobs', {}, '')).status).toBe(401)
  })

  test('what is for people only refuses everybody else with its own sentence, without a word of it in the operation', async () => {
    const { served, call } = await withWing()
    const scrap = (thing: string, robot: string, headers: Record<string, string> = {}) => call('scrap_thing', { thing }, robot, headers)
    const { status, body } = await scrap('lamp', ROBOT)
    expect([status, body.error.code, body.error.message]).toEqual([403, 'forbidden', 'Only a signed-in person scraps a thing.'])
    expect((await scrap('lamp', 'toaster')).status).toBe(401)
    const person = { cookie: await cookieOf(served, { name: 'Robin', role: 'person' }) }
    expect(await scrap('lamp', '', person)).toMatchObject({ status: 200, body: { scrapped: 'lamp' } })
    expect((await scrap('lost', '', person)).status).toBe(404)
  })

  test('its job runs', async () => {
    const { seen } = await withWing()
    await soon('it ran three times', () => seen.jobs >= 3)
  })
})
