import { afterEach, expect, test } from 'bun:test'
import { hubCalls, type HubCalls } from '../../src/client/runner/hub-calls.ts'
import { newOutbox, Store, type WireEvent } from '../../src/client/runner/outbox.ts'
import { shrunk } from '../../src/client/runner/shrink.ts'

const OF = { runner_id: 'r', task_id: 't' }
const event = (key: string, text: string): WireEvent => ({ key, type: 'assistant_response', content: { text } })

const servers: { stop(now: boolean): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) void server.stop(true)
})

/** A hub whose `takes` says with which status it refuses a request's events. */
const hubThat = (takes: (events: WireEvent[]) => number | void | Promise<void>) => {
  const got: WireEvent[][] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { events } = (await request.json()) as { events: WireEvent[] }
      const status = await takes(events)
      if (status) return Response.json({ error: { code: 'refused', message: `No: ${status}.` } }, { status })
      got.push(events)
      return Response.json({ last_sequence: 1 })
    },
  })
  servers.push(server)
  return { hub: hubCalls(`http://127.0.0.1:${server.port}`, 'a key', () => {}), got }
}
const boxOn = (hub: HubCalls, store: Store, failed: (error: unknown) => void = () => {}) =>
  newOutbox(hub, store, OF, new AbortController().signal, failed)

test('while nothing can be sent, all tasks together keep so much: the largest are cut, with a mark, and the order stays', async () => {
  const most = 1024 * 1024
  let free!: () => void
  const away = new Promise<void>((resolve) => (free = resolve))
  const { hub, got } = hubThat(() => away)
  const store = new Store(most)
  const [one, two] = [boxOn(hub, store), boxOn(hub, store)]
  for (let i = 0; i < 40; i++) {
    one.add(event(`large-${i}`, 'x'.repeat(100_000)))
    two.add(event(`small-${i}`, `line ${i}`))
    expect(store.bytes).toBeLessThanOrEqual(most + 100_200)
  }
  free()
  await Promise.all([one.drained(), two.drained()])
  const told = got.flat()
  expect(told.filter(({ key }) => key.startsWith('large')).map(({ key }) => key)).toEqual(
    Array.from({ length: 40 }, (_, i) => `large-${i}`),
  )
  expect(told.filter(({ key }) => key.startsWith('small')).map(({ content }) => content.text)).toEqual(
    Array.from({ length: 40 }, (_, i) => `line ${i}`),
  )
  expect(told.filter(({ content }) => String(content.text).includes('[… cut by the runner: 99,744 more]')).length).toBeGreaterThan(25)
  expect(store.bytes).toBe(0)
})

test('of small events, too, no more than twice that is kept: the oldest but those under way make room, and a line says how many', async () => {
  const most = 64 * 1024
  let free!: () => void
  const away = new Promise<void>((resolve) => (free = resolve))
  const { hub, got } = hubThat(() => away)
  const store = new Store(most)
  const [box, other] = [boxOn(hub, store), boxOn(hub, store)]
  other.add(event('other', 'line'))
  let highest = 0
  for (let i = 0; i < 5_000; i++) {
    box.add(event(String(i), `line ${i}`))
    if (i === 300) await Bun.sleep(20) // the first are under way
    highest = Math.max(highest, store.bytes)
  }
  expect(highest).toBeLessThan(2 * most + 200)
  free()
  await Promise.all([box.drained(), other.drained()])
  const told = got.flat().filter(({ key }) => key !== 'other')
  const at = told.findIndex(({ type }) => type === 'runtime')
  const left = Number(/^\d+/.exec(String(told[at]!.content.text))![0])
  expect(told).toHaveLength(5_000 - left + 1)
  expect(told.map(({ key }) => key)).toEqual([
    ...Array.from({ length: 200 }, (_, i) => String(i)),
    told[at]!.key,
    ...Array.from({ length: 4_800 - left }, (_, i) => String(200 + left + i)),
  ])
  expect([got.flat().some(({ key }) => key === 'other'), store.bytes]).toEqual([true, 0])
})

test('a request has at most 200 events, and one is in flight at a time', async () => {
  let [inFlight, most] = [0, 0]
  const { hub, got } = hubThat(async () => {
    most = Math.max(most, ++inFlight)
    await Bun.sleep(1)
    inFlight--
  })
  const box = boxOn(hub, new Store())
  for (let i = 0; i < 450; i++) box.add(event(String(i), 'x'))
  await box.drained()
  expect([most, got.map((events) => events.length)]).toEqual([1, [200, 200, 50]])
})

test('between two requests the hub is left to others for longer than the first took, and what comes meanwhile goes along', async () => {
  const times: number[] = []
  const { hub, got } = hubThat(async () => {
    times.push(performance.now())
    await Bun.sleep(15)
    times.push(performance.now())
  })
  const box = boxOn(hub, new Store())
  for (let i = 0; i < 250; i++) box.add(event(String(i), 'x'))
  while (got.length === 0) await Bun.sleep(1)
  for (let i = 250; i < 300; i++) box.add(event(String(i), 'x'))
  await box.drained()
  const [begun, answered, next] = times as [number, number, number]
  expect(next - answered).toBeGreaterThan(Math.min(1.5 * (answered - begun), 45)) // it rests for 50 ms at most
  expect(got.map((events) => events.length)).toEqual([200, 100])
})

test('what is too large for the hub is cut until it fits, and what fits nowhere leaves a line', async () => {
  const { hub, got } = hubThat((events) => {
    if (JSON.stringify(events).length > 100_000) return 413
    if (events.some(({ content }) => String(content.text).startsWith('never'))) return 400
  })
  const box = boxOn(hub, new Store())
  for (const text of ['a', 'b'.repeat(600_000), 'c', 'never', 'd']) box.add(event(text[0]!, text))
  await box.drained()
  const told = got.flat()
  expect(told.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'n', 'd'])
  expect(told[1]!.content.text).toContain('[… cut by the runner')
  expect(told[3]).toMatchObject({ type: 'runtime', content: { event: 'not_taken', text: expect.stringContaining('No: 400.') } })
})

test('a proxy before the hub that finds a call too large is heard, and what else it says is waited out', async () => {
  let asked = 0
  const told: string[] = []
  const said: string[] = []
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      if (text.length > 100_000) return new Response('<h1>413 Request Entity Too Large</h1>', { status: 413 })
      if (++asked <= 2) return new Response('404 page not found', { status: asked === 1 ? 404 : 200 })
      told.push(...JSON.parse(text).events.map(({ key }: WireEvent) => key))
      return Response.json({ last_sequence: 1 })
    },
  })
  servers.push(proxy)
  const box = boxOn(
    hubCalls(`http://127.0.0.1:${proxy.port}`, 'a key', (line) => said.push(line)),
    new Store(),
  )
  for (const text of ['a', 'b'.repeat(600_000), 'c']) box.add(event(text[0]!, text))
  await box.drained()
  expect(told).toEqual(['a', 'b', 'c'])
  expect(said).toEqual([expect.stringContaining('(HTTP 404, and not from Parley)'), expect.stringContaining('answers again')])
})

test('a task that is no longer ours sends nothing more, and says so once', async () => {
  let asked = 0
  const { hub } = hubThat(() => {
    asked++
    return 409
  })
  const errors: unknown[] = []
  const store = new Store()
  const box = boxOn(hub, store, (error) => errors.push(error))
  for (let i = 0; i < 300; i++) box.add(event(String(i), 'x'))
  expect(await box.drained().catch((error) => error.status)).toBe(409)
  await Bun.sleep(5)
  box.add(event('late', 'x'))
  await box.drained()
  expect([asked, errors.length, store.bytes, store.queues.size]).toEqual([1, 1, 0, 0])
})

test('a content without long texts is made small too, and keeps its fields', () => {
  const small = shrunk({ arguments: Array.from({ length: 100_000 }, (_, i) => i), text: 'short' }, 1_000)
  expect(small).toEqual({ arguments: expect.stringContaining('[… cut by the runner'), text: 'short' })
})
