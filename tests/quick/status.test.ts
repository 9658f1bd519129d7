// What /status makes of one figure that is bad while all others are good: each level of the table of limits has a cause that reaches it, and the
// page has the level, and what to do, in words. tests/conformance/status.test.ts has the real causes.
import { afterEach, expect, spyOn, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { StatusParts } from '../../components/site/status-page.tsx'
import type { Database } from '../../db/database.ts'
import { Metrics } from '../../src/core/runtime/metrics.ts'
import type { Notifier } from '../../src/log/notifier.ts'
import { RULES } from '../../src/process/status/alerts.ts'
import { LIMITS, limitOf, type LimitName } from '../../src/process/status/alarm-levels.ts'
import { wireOf } from '../../src/process/status/instances.ts'
import { createStatus } from '../../src/process/status/status.ts'
import type { Sample } from '../support/metrics.ts'
import { fires, metricsIn } from '../support/promql.ts'

const MIB = 1024 ** 2

const WELL = {
  lag: 0,
  memory: 200 * MIB,
  hears: true,
  waits: 0, // of ten, with peeks; and so are streams
  peeks: 0,
  streams: 0,
  wake: 0.002, // seconds
  behind: 0, // seconds
  places: 0, // where people cannot be told
  givenUp: 0,
  jobs: 0, // that fail
  failed: 0,
  answersIn: 1, // milliseconds
  free: 50_000 * MIB,
  lost: 0,
  silent: 0 as number | undefined,
}

const CAUSES: Record<LimitName, { amber?: Partial<typeof WELL>; red?: Partial<typeof WELL> }> = {
  event_loop: { amber: { lag: 0.25 }, red: { lag: 1 } },
  memory: { amber: { memory: 1024 * MIB }, red: { memory: 2048 * MIB } },
  listening: { red: { hears: false } },
  waits: { amber: { waits: 5, peeks: 4 }, red: { waits: 10 } },
  streams: { amber: { streams: 9 }, red: { streams: 10 } },
  wakes: { amber: { wake: 0.3 }, red: { wake: 1.1 } },
  index: { amber: { behind: 30 }, red: { behind: 900 } },
  telling: { amber: { places: 1 } },
  notices: { amber: { givenUp: 1 } },
  jobs: { amber: { jobs: 1 } },
  failures: { amber: { failed: 1 }, red: { failed: 20 } },
  database: { amber: { answersIn: 250 }, red: { answersIn: 2_000 } },
  disk: { amber: { free: 1024 * MIB }, red: { free: 256 * MIB } },
  runners: { amber: { lost: 1 } },
  instances: { amber: { silent: 1 } },
}

const LEVELS = ['amber', 'red'] as const
const levels = LIMITS.flatMap((limit) => LEVELS.filter((level) => limit[level] !== undefined).map((level) => [limit.name, level] as const))

const spies: { mockRestore(): void }[] = []
afterEach(() => spies.splice(0).forEach((spy) => spy.mockRestore()))

/** What a server says of itself of which all is well but this. */
const lookAt = async (but: Partial<typeof WELL>, reports: Record<string, string> = {}) => {
  const is = { ...WELL, ...but }
  let clock = 0
  spies.push(spyOn(performance, 'now').mockImplementation(() => clock))
  spies.push(spyOn(process.memoryUsage, 'rss').mockImplementation(() => is.memory))
  const query = async (sql: string) => {
    if (!sql.includes('runners')) return [{ bytes: MIB }]
    clock += is.answersIn
    return [{ online: 1, lost: is.lost }]
  }
  const listeners = async () => {
    if (is.silent === undefined) throw new Error('the database does not say')
    return 1 + is.silent + Object.keys(reports).length
  }
  const database = { engine: 'postgres', query, listeners, freeBytes: () => is.free }
  const notifier = {
    async ask() {
      await new Promise(setImmediate) // the database has answered by then
      clock += 1_000 // the longest that others are waited for
      for (const [from, text] of Object.entries(reports)) status.receiveReport(from, text)
    },
  }
  const metrics = new Metrics()
  const parts = { database: database as unknown as Database, notifier: notifier as Notifier, instance: 'one', metrics }
  const failing = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `number ${n}`, since: new Date(0) }))
  const status = createStatus(parts)
  status.measure(() => ({
    config: { MAX_WAITS: 10, MAX_STREAMS: 10 },
    waits: { held: is.waits },
    peeks: { held: is.peeks },
    streams: { open: is.streams },
    indexer: { lagSeconds: is.behind },
    outages: { failing: () => failing(is.places) },
    failingJobs: () => failing(is.jobs),
    hearsItself: () => is.hears,
  }))
  status.stop()
  Object.defineProperty(status.lag, 'p99Seconds', { value: is.lag })
  metrics.wakeSeconds.observe(is.wake)
  metrics.noticesSent.inc({ way: 'push', outcome: 'failed' }, is.givenUp)
  metrics.callsFailed.inc(is.failed)
  return status.read()
}

type Status = Awaited<ReturnType<typeof lookAt>>
const checksOf = ({ instances, shared }: Status) => [...instances.flatMap(({ checks }) => checks), ...shared]

const wordsOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
/** The page's first sentence, and each of its lines, as they are read out. */
const readOut = (status: Status) => {
  const html = renderToStaticMarkup(StatusParts({ status }))
  const parts = (tag: string) => [...html.matchAll(new RegExp(`<${tag}\\b.*?</${tag}>`, 'gs'))].map(([part]) => wordsOf(part))
  return { first: parts('p')[0], lines: parts('li'), links: [...html.matchAll(/href="(.*?)"/g)].map(([, href]) => href) }
}

test('a server that is well says so, and asks nothing of anybody', async () => {
  const status = await lookAt({})
  expect(checksOf(status).filter(({ level, todo }) => level !== 'green' || todo)).toEqual([])
  const { first, lines } = readOut(status)
  expect([status.level, first]).toEqual(['green', expect.stringMatching(/^green All is well as of /)])
  expect(lines.length).toBe(LIMITS.length - 1) // silent instances are a line only when there are some
  for (const line of lines) expect(line).toStartWith('green ')
})

test('what fails is named, with the minute since when', async () => {
  const checks = checksOf(await lookAt({ places: 1, jobs: 2 }))
  const valueOf = (wanted: LimitName) => checks.find(({ name }) => name === wanted)!.value
  expect(valueOf('telling')).toBe('number 0 fails since 1970-01-01 00:00 UTC')
  expect(valueOf('jobs')).toBe('number 0 fails since 1970-01-01 00:00 UTC, number 1 fails since 1970-01-01 00:00 UTC')
})

test('a server that cannot find out whether others listen says so, and does not claim to be alone', async () => {
  const status = await lookAt({ silent: undefined })
  expect(status.shared.find(({ name }) => name === 'instances')).toMatchObject({ level: 'green', value: 'unknown' })
})

test('of another version’s report it shows what it knows, and one that is no report counts as none', async () => {
  const figures = { memory: { value: 1, text: '1 MiB' }, later: { value: 9, text: 'of a later version' } }
  const report = (more: object) => JSON.stringify({ version: '9.0.0', started_at: new Date().toISOString(), figures, ...more })
  const wrong = [{ figures: { memory: 7 } }, { figures: null }, { version: 9 }, { started_at: 'soon' }].map(report)
  const status = await lookAt({}, { two: report({}), ...Object.fromEntries(['no JSON', '[]', ...wrong].map((text, i) => [`x${i}`, text])) })
  expect(status.instances.map(({ id }) => id)).toEqual(['one', 'two'])
  expect(status.instances[1]!.checks).toEqual([{ name: 'memory', title: 'Memory', level: 'green', value: '1 MiB' }])
  expect(status.shared.find(({ name }) => name === 'instances')).toMatchObject({ level: 'amber', value: '6' })
  expect(readOut(status).first).toContain('needs a look')
})

test('a report has what instances before it do not know beside the figures, where they do not meet it', async () => {
  const figures = { memory: { value: 1, text: '1 MiB' }, telling: { value: 1, text: 'NOTIFY_URL fails' }, jobs: { value: 0, text: 'none' } }
  const text = wireOf({ id: 'two', version: '0.2.0', started_at: new Date().toISOString(), figures })
  expect(Object.keys(JSON.parse(text).figures)).toEqual(['memory'])
  const { checks } = (await lookAt({}, { two: text })).instances[1]!
  expect(checks.map(({ name, level }) => [name, level])).toEqual([
    ['memory', 'green'],
    ['telling', 'amber'],
    ['jobs', 'green'],
  ])
})

test('each level of the table has its cause here', () => {
  const here = Object.entries(CAUSES).flatMap(([name, causes]) => LEVELS.filter((level) => causes[level]).map((level) => [name, level]))
  expect(here.toSorted()).toEqual(levels.map((one) => [...one]).toSorted())
})

test.each(levels)('%s is %s when its cause is there, alone; the page says so, and what to do', async (name, level) => {
  const status = await lookAt(CAUSES[name][level]!)
  const { title, todo } = limitOf(name)
  expect(checksOf(status).filter((check) => check.level !== 'green')).toEqual([{ name, title, level, value: expect.any(String), todo }])
  const { first, lines, links } = readOut(status)
  expect(links).toEqual(name === 'runners' ? ['/worktrees'] : [])
  const worst = level === 'red' ? 'Something is wrong' : 'It works, but something needs a look'
  expect([status.level, first]).toEqual([level, expect.stringContaining(`${level} ${worst} as of `)])
  const escaped = wordsOf(renderToStaticMarkup(todo))
  expect(lines.filter((line) => !line.startsWith('green '))).toEqual([expect.stringMatching(new RegExp(`^${level} ${title} .+`))])
  expect(lines.find((line) => line.startsWith(level))).toEndWith(` ${escaped}`)
})

/** Two scrapes between which the rule's figure has come to this. */
const scrapesAt = (expr: string, value: number): [now: Sample[], before: Sample[]] => {
  const [name, ...more] = metricsIn(expr) as [string, ...string[]]
  const sample = (value: number, labels = {}, of = name): Sample => ({ name: of, labels, value })
  if (expr.startsWith('histogram_quantile(0.99')) {
    const buckets = (count: number) => [sample(count, { le: String(value / 0.99) }), sample(count, { le: '+Inf' })]
    return [buckets(100), buckets(0)]
  }
  const labels = Object.fromEntries([...expr.matchAll(/(\w+)="(\w+)"/g)].map(([, label, word]) => [label!, word!]))
  const others = more.map((other) => sample(other.includes('_max_') ? 1 : 0, {}, other))
  return [
    [sample(value, labels), ...others],
    [sample(0, labels), ...others],
  ]
}

test.each(levels.filter(([name]) => limitOf(name).alert))('the rule of %s for %s fires at the limit and not before', (name, level) => {
  const { alert, worse, ...limit } = limitOf(name)
  const severity = level === 'red' ? 'critical' : 'warning'
  const { expr } = RULES.find((rule) => rule.name === alert!.name && rule.severity === severity)!
  const step = (worse === 'more' ? 1e-6 : -1e-6) * (limit[level]! || 1)
  expect(fires(expr, ...scrapesAt(expr, limit[level]! + step))).toBe(true)
  expect(fires(expr, ...scrapesAt(expr, limit[level]! - step))).toBe(false)
})
