// /status, /api/status and /alerts.yml: instances show each other, and each rule fires when its cause is there, and not before.
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { revokeByPrefix } from '../../src/control/keys/keys.ts'
import { prefixOf } from '../../src/core/key-scopes.ts'
import type { ErrorBody } from '../../src/core/errors.ts'
import { createPushSender } from '../../src/notices/push-sender.ts'
import { problemOf } from '../../src/pages/forms/perform-as-person.ts'
import { RULES } from '../../src/process/status/alerts.ts'
import { LIMITS, levelOf } from '../../src/process/status/alarm-levels.ts'
import { FULL } from '../support/full.ts'
import { holdLock } from '../support/held-lock.ts'
import { samplesOf, type Sample } from '../support/metrics.ts'
import { startNotifyReceiver } from '../support/notify-receiver.ts'
import { BASE, cookieOf, done, refused, room, say, soon, startParley, viaRest, type Parley, type Served } from '../support/parley.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { embeddedDatabase } from '../support/pglite.ts'
import { fires, metricsIn } from '../support/promql.ts'
import { thatCanBeEmpty, withoutNotifications } from '../support/proxy.ts'

const FORM = 'application/x-www-form-urlencoded'

let parley: Parley
beforeAll(async () => void (parley = await startParley({ engine: 'postgres', intervals: { settings: 50 } })), 180_000)
afterAll(() => parley?.close(), 180_000)

const scrape = async (served: Served): Promise<Sample[]> => samplesOf(await (await served.send('/metrics')).text())
const firing = (now: Sample[], before: Sample[]) =>
  [...new Set(RULES.filter(({ expr }) => fires(expr, now, before)).map(({ name }) => name))].toSorted()
const statusAt = async (served: Served): Promise<any> => (await served.send('/api/status')).json()

const seen = new Set<string>()
/** The rule comes to fire at this instance. `before`: its first scrape. */
const comesToFire = (name: string, served: Served, before: Sample[] = []) =>
  soon(`${name} fires`, async () => firing(await scrape(served), before).includes(name), 20).then(() => void seen.add(name))
const firesNot = (name: string, served: Served, before: Sample[] = []) =>
  soon(`${name} fires no more`, async () => !firing(await scrape(served), before).includes(name), 20)
/** What the page says of an instance itself, or of what all of them share. */
const checkAt = async (served: Served, wanted: string): Promise<any> => {
  const { instances, shared } = await statusAt(served)
  return [...instances.find(({ own }: any) => own).checks, ...shared].find(({ name }: any) => name === wanted)
}

/** The page as it is read out. */
const pageAt = async (served: Served): Promise<string> => {
  const response = await served.send('/status', { headers: { accept: 'text/html' } })
  expect(response.status).toBe(200)
  return (await response.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

test('each of two instances shows the other, with its own figures, also while that one starts', async () => {
  expect((await statusAt(parley)).instances).toHaveLength(1)
  const database = await openPostgres(parley.url!) // listens for itself
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  let greeting = true
  const query: typeof database.query = async (sql, ...rest) => {
    if (greeting && sql.includes('pg_notify')) {
      greeting = false
      await goesOn
    }
    return database.query(sql, ...rest)
  }
  const opened = { database: { ...database, query }, url: parley.url!, drop: async () => {} }
  const starting = startParley({ engine: 'postgres', opened, env: { MAX_WAITS: '7' } })
  // An instance waits a second for the others' answers.
  const both = async (served: Served): Promise<any[]> => {
    let instances: any[] = []
    await soon('both are shown', async () => ({ instances } = await statusAt(served)).instances.length === 2)
    return instances
  }
  await soon('it greets', () => !greeting)
  const begun = (await both(parley)).find(({ own }) => !own)
  expect(begun.checks.map(({ name }: any) => name)).toEqual(['event_loop', 'memory'])
  goOn()
  const other = await starting
  for (const served of [parley, other]) {
    const instances = await both(served)
    expect(instances.map(({ id }: any) => id).toSorted()).toEqual([parley.services.instance!, other.services.instance!].toSorted())
    expect(instances.find(({ own }: any) => own).id).toBe(served.services.instance!)
  }
  const instances = await both(parley)
  expect(instances[1].checks.find(({ name }: any) => name === 'waits').value).toBe('0 of 7')
  await other.close()
}, 180_000)

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
  const gone = RULES.find(({ name }) => name === 'ParleyGone')!
  expect(fires(gone.expr, [])).toBe(true)
  seen.add(gone.name)
})

test('waits and streams at their limits, a blocked process and slow wakes fire, and are red on the page', async () => {
  const small = await parley.beside({ MAX_WAITS: '1', MAX_STREAMS: '1' })
  try {
    const { id, alex, bea } = await room(viaRest(small))
    const before = await scrape(small)
    const waiting = done(bea('wait_for_messages', { since_cursor: 1, timeout: 30 }))
    await comesToFire('ParleyWaitsNearLimit', small)
    expect(await checkAt(small, 'waits')).toMatchObject({ level: 'red', todo: expect.stringContaining('MAX_WAITS') })
    const stream = await small.send(`/api/sessions/${id}/stream`)
    await comesToFire('ParleyStreamsNearLimit', small)
    expect(await checkAt(small, 'streams')).toMatchObject({ level: 'red', todo: expect.stringContaining('MAX_STREAMS') })
    expect((await statusAt(small)).level).toBe('red')
    const page = await pageAt(small)
    expect(page).toContain('red Something is wrong')
    expect(page).toContain('red Held waits 1 of 1 At the limit more are refused. Raise MAX_WAITS')
    await stream.body!.cancel()
    await firesNot('ParleyStreamsNearLimit', small)
    small.services.onEvents(() => block(700))
    await say(alex, 'It is slow.')
    await waiting
    await comesToFire('ParleyEventLoopSlow', small, before)
    await comesToFire('ParleyWakesSlow', small, before)
  } finally {
    await small.close()
  }
}, 120_000)

const block = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until;);
}

test('notifications that do not come through fire, and are red on the page', async () => {
  const proxy = await withoutNotifications(parley.url!)
  const opened = { database: await openPostgres(proxy.url), url: proxy.url, drop: () => proxy.close() }
  const deaf = await startParley({ engine: 'postgres', opened })
  try {
    await comesToFire('ParleyNotListening', deaf)
    expect(await checkAt(deaf, 'listening')).toMatchObject({ level: 'red', value: 'no' })
  } finally {
    await deaf.close()
  }
}, 120_000)

test('an index that is far behind fires, until it has caught up', async () => {
  const { database } = parley
  const release = await holdLock(parley.database, 'select pg_advisory_xact_lock(7423000002)') // as an instance has it that is indexing
  try {
    const { id } = await room(viaRest(parley))
    await database.query(`update events set at = at - interval '1 hour' where session_id = $1`, [id])
    const later = await parley.beside({})
    await comesToFire('ParleySearchIndexBehind', later)
    expect(await checkAt(later, 'index')).toMatchObject({ level: 'red', value: '60 min' })
    await release()
    await firesNot('ParleySearchIndexBehind', later)
    await later.close()
  } finally {
    await release()
  }
}, 120_000)

test('a place where people cannot be told fires until it works, and so does a notice that nobody got', async () => {
  const receiver = startNotifyReceiver()
  receiver.answers(() => new Response('no', { status: 503 }))
  const parts = { pushSender: createPushSender(), intervals: { notices: 30 } }
  const served = await parley.beside({ NOTIFY_URL: receiver.url }, {}, parts)
  try {
    const before = await scrape(served)
    const { id, alex } = await room(viaRest(served))
    await done(alex('conclude_session', { summary_section: 'Done.' }))
    await comesToFire('ParleyTellingFails', served)
    const value = expect.stringMatching(/^NOTIFY_URL fails since \d{4}-\d\d-\d\d \d\d:\d\d UTC$/)
    expect(await checkAt(served, 'telling')).toMatchObject({ level: 'amber', value })
    expect(await checkAt(served, 'notices')).toMatchObject({ level: 'green' })
    await soon('it was tried for the last time', async () => {
      await parley.database.query('update notice_deliveries set due_at = now() from notices n where n.id = notice_id and session_id = $1', [id])
      return receiver.bodies.length >= 5
    }) // prettier-ignore
    await comesToFire('ParleyNoticesFailing', served, before)
    expect(await checkAt(served, 'notices')).toMatchObject({ level: 'amber' })
    expect(await checkAt(served, 'telling')).toMatchObject({ level: 'amber' })
    receiver.answers(() => new Response('ok'))
    const headers = { cookie: await cookieOf(served, { name: 'Robin', role: 'person' }), origin: BASE, 'content-type': FORM }
    await served.send('/settings/notices/test', { method: 'POST', headers, body: 'way=notify_url' })
    await firesNot('ParleyTellingFails', served)
    expect(await checkAt(served, 'telling')).toMatchObject({ level: 'green', value: 'nothing fails' })
  } finally {
    await served.close()
    await receiver.stop()
  }
}, 120_000)

test('a background job that fails fires until it works, and has its name on the page', async () => {
  let works = false
  const run = () => {
    if (!works) throw new Error('not yet')
  }
  const served = await parley.beside({}, {}, { jobs: () => [{ name: 'of this test', everyMs: 30, run }] })
  try {
    await comesToFire('ParleyJobsFailing', served)
    expect(await pageAt(served)).toMatch(/amber Background jobs of this test fails since [-\d]+ [:\d]+ UTC What they do waits/)
    works = true
    await firesNot('ParleyJobsFailing', served)
  } finally {
    await served.close()
  }
}, 120_000)

test('a database that keeps a question waiting fires, until it answers', async () => {
  const release = await holdLock(parley.database, 'lock table settings in access exclusive mode')
  await comesToFire('ParleyDatabaseSlow', parley).finally(release)
  await firesNot('ParleyDatabaseSlow', parley)
}, 180_000)

test('the embedded database’s answers are timed as well', async () => {
  const own = await startParley({ intervals: { settings: 20 } })
  try {
    const held = own.database.transaction(() => Bun.sleep(400))
    await comesToFire('ParleyDatabaseSlow', own)
    await held
    await firesNot('ParleyDatabaseSlow', own)
  } finally {
    await own.close()
  }
}, 120_000)

test('a process that takes a gibibyte fires, and is amber on the page', async () => {
  const limit = LIMITS.find(({ name }) => name === 'memory')!.amber!
  const resident = spyOn(process.memoryUsage, 'rss').mockReturnValue(limit)
  try {
    await comesToFire('ParleyMemoryHigh', parley)
    expect(await checkAt(parley, 'memory')).toMatchObject({ level: 'amber' })
  } finally {
    resident.mockRestore()
  }
})

test('a disk with little space left fires, and is red on the page', async () => {
  const own = await startParley()
  try {
    own.database.freeBytes = () => 100 * 1024 ** 2
    await comesToFire('ParleyDiskFull', own)
    // A purge is refused where nothing is written, and the files do not shrink by it.
    const todo = expect.stringMatching(/nothing can be purged\. Make room.* gives none back/)
    expect(await checkAt(own, 'disk')).toMatchObject({ level: 'red', value: '100 MiB free', todo })
  } finally {
    await own.close()
  }
}, 120_000)

test('calls that fail because the database cannot write fire, and are red on the page', async () => {
  let space = true
  const own = await startParley({ opened: { database: await embeddedDatabase(() => space), drop: async () => {} } })
  try {
    const { alex } = await room(viaRest(own))
    const before = await scrape(own)
    expect(await checkAt(own, 'failures')).toMatchObject({ level: 'green' })
    space = false
    const full = await refused(alex('post_message', { content: { text: 'Is there room?' } }), 'unavailable')
    expect(full).toMatchObject({ message: expect.stringContaining('The disk of the database is full'), details: { disk_full: true } })
    expect(problemOf(full as ErrorBody).text).toContain('The disk of the database is full, so nothing was saved')
    await comesToFire('ParleyCallsFailing', own, before)
    for (let n = 1; n < 20; n++) await refused(alex('post_message', { content: { text: 'And now?' } }), 'unavailable')
    expect(await checkAt(own, 'failures')).toMatchObject({ level: 'red', todo: expect.stringContaining('disk may be full') })
    const why = own.logged.filter((line) => line.includes('its caller was told to try again'))
    expect(why).toEqual([expect.stringMatching(/"level":"warn","message":"rooms\.post_message failed.*"code":"53100"/)])
  } finally {
    await own.close()
  }
}, 120_000)

test('no rule has never been seen to fire', () => {
  expect(RULES.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual([])
})

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
}, 180_000)

test.skipIf(!FULL)(
  'while the database is away, whoever was let in before still learns so; who was not, or not any more, is a stranger',
  async () => {
    const proxy = await thatCanBeEmpty(parley.url!)
    const opened = { database: await openPostgres(proxy.url), url: proxy.url, drop: () => proxy.close() }
    const closed = await startParley({ engine: 'postgres', opened, env: { VIEWER_PASSWORD: 'a password of this test' } })
    try {
      const [known, unknown, revoked] = await Promise.all([keyOf(closed, 'read'), keyOf(closed, 'read'), keyOf(closed, 'read')])
      const person = { cookie: await cookieOf(closed, { name: 'Robin', role: 'person' }) }
      const ask = (path: string, headers: Record<string, string>) => closed.send(path, { headers })
      const statusOf = async (path: string, headers: Record<string, string>) => (await ask(path, headers)).status
      expect(await statusOf('/metrics', bearer(revoked))).toBe(200)
      await revokeByPrefix(closed.services, prefixOf(revoked))
      for (const who of [bearer(known), person]) expect(await statusOf('/metrics', who)).toBe(200)
      proxy.empty()
      await soon('the database is away', async () => (await statusOf('/api/sessions', bearer(known))) === 503)
      await Bun.sleep(6_000) // longer than a credential is remembered as fresh
      expect(await statusOf('/metrics', bearer(known))).toBe(200)
      expect(await (await ask('/api/status', person)).json()).toMatchObject({ level: 'red' })
      const page = await ask('/status', { ...person, accept: 'text/html' })
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('not at all')])
      for (const key of [unknown, revoked]) expect(await statusOf('/metrics', bearer(key))).toBe(401)
      expect(await statusOf('/', { ...person, accept: 'text/html' })).toBe(503) // all else waits for the database
    } finally {
      proxy.fill()
      await closed.close()
    }
  },
  180_000,
)
