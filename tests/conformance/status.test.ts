// /status, /api/status and /alerts.yml: instances show each other, and each rule that can be brought about here fires then, and not before.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { RULES } from '../../src/process/status/alerts.ts'
import { LIMITS, levelOf } from '../../src/process/status/limits.ts'
import { samplesOf, type Sample } from '../support/metrics.ts'
import { done, room, say, soon, startParley, viaRest, type Parley, type Served } from '../support/parley.ts'
import { fires, metricsIn } from '../support/promql.ts'

let parley: Parley
beforeAll(async () => void (parley = await startParley({ engine: 'postgres', intervals: { settings: 50 } })), 180_000)
afterAll(() => parley?.close(), 60_000)

const scrape = async (served: Served): Promise<Sample[]> => samplesOf(await (await served.send('/metrics')).text())
const firing = (now: Sample[], before: Sample[]) =>
  [...new Set(RULES.filter(({ expr }) => fires(expr, now, before)).map(({ name }) => name))].toSorted()
const statusAt = async (served: Served): Promise<any> => (await served.send('/api/status')).json()

test('each of two instances shows the other, with its own figures', async () => {
  expect((await statusAt(parley)).instances).toHaveLength(1)
  const opened = { database: await openPostgres(parley.url!), url: parley.url!, drop: async () => {} } // listens for itself
  const other = await startParley({ engine: 'postgres', opened, env: { MAX_WAITS: '7' } })
  for (const served of [parley, other]) {
    const { instances } = await statusAt(served)
    expect(instances.map(({ id }: any) => id).toSorted()).toEqual([parley.services.instance!, other.services.instance!].toSorted())
    expect(instances.find(({ own }: any) => own).id).toBe(served.services.instance!)
  }
  const { instances } = await statusAt(parley)
  expect(instances[1].checks.find(({ name }: any) => name === 'waits').value).toBe('0 of 7')
  await other.close()
}, 60_000)

test('a rule names only metrics that are there, and the file has them all', async () => {
  const names = new Set((await scrape(parley)).map(({ name }) => name))
  for (const { expr } of RULES) for (const name of metricsIn(expr)) expect([...names]).toContain(name)
  const file = await (await parley.send('/alerts.yml')).text()
  expect(file.match(/- alert: /g)).toHaveLength(RULES.length)
  expect(() => fires('sum(parley_waits_held) >= 1', [])).toThrow('does not know')
})

test('nothing fires on a server that is well; nothing at all is what ParleyGone fires at', async () => {
  const now = await scrape(parley)
  const busy = ['ParleyEventLoopSlow', 'ParleyWakesSlow', 'ParleyDatabaseSlow', 'ParleyMemoryHigh'] // of a machine that is shared
  expect(firing(now, now).filter((name) => !busy.includes(name))).toEqual([])
  expect(fires('absent(parley_resident_bytes)', [])).toBe(true)
})

test('waits at their limit, a blocked process and slow wakes fire, and are red on the page', async () => {
  const small = await parley.beside({ MAX_WAITS: '1' })
  try {
    const { alex, bea } = await room(viaRest(small))
    const before = await scrape(small)
    const waiting = done(bea('wait_for_messages', { since_cursor: 1, timeout: 30 }))
    await soon('it waits', () => small.services.waits.held === 1)
    expect(firing(await scrape(small), before)).toContain('ParleyWaitsNearLimit')
    const { level, instances } = await statusAt(small)
    expect(level).toBe('red')
    expect(instances.find(({ own }: any) => own).checks.find(({ name }: any) => name === 'waits').todo).toContain('MAX_WAITS')
    small.services.onEvents(() => block(2_500))
    await say(alex, 'It is slow.')
    await waiting
    await soon('the delay was measured', async () => firing(await scrape(small), before).includes('ParleyEventLoopSlow'))
    expect(firing(await scrape(small), before)).toContain('ParleyWakesSlow')
  } finally {
    await small.close()
  }
}, 120_000)

const block = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('a disk with little space left fires, and is red on the page', async () => {
  const own = await startParley()
  try {
    own.database.freeBytes = () => 100 * 1024 ** 2
    expect(firing(await scrape(own), [])).toContain('ParleyDiskFull')
    expect((await statusAt(own)).shared.find(({ name }: any) => name === 'disk')).toMatchObject({ level: 'red', value: '100 MiB free' })
  } finally {
    await own.close()
  }
}, 120_000)

test('levels follow from the table', () => {
  for (const limit of LIMITS) {
    const { amber, red, worse } = limit
    const step = (worse === 'more' ? 1 : -1) * (amber ?? 0) * 1e-9
    if (red !== undefined) expect(levelOf(limit, red)).toBe('red')
    if (amber !== undefined) expect([levelOf(limit, amber), levelOf(limit, amber - step)]).toEqual(['amber', 'green'])
    expect(levelOf(limit, NaN)).toBe('green')
  }
})

test('who may not read pages may not read the status', async () => {
  const locked = await parley.beside({ VIEWER_PASSWORD: 'a password of this test' })
  expect((await locked.send('/api/status')).status).toBe(401)
  expect((await locked.send('/status', { headers: { accept: 'text/html' } })).headers.get('location')).toContain('/sign-in')
  await locked.close()
}, 60_000)
