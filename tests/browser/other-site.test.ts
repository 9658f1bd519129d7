// A page at another port, or of another site, in the browser of a person who is signed in: whatever it tries at this server, nothing is done
// and it reads nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { FULL } from '../support/full.ts'
import { indexed, sessionsIndexed } from '../support/history.ts'
import { asset, KEY, withSite } from '../support/site.ts'

const { parley, using, asRobin, robin } = withSite()

let session: string
let other: ReturnType<typeof Bun.serve>
let hub: ReturnType<typeof Bun.serve> // the same server at a port of its own, which notes what reaches it: a browser hides some answers
let reached: { status: number; method: string; path: string }[] = []
let routes: { method: string; path: string }[]
beforeAll(async () => {
  const created = await parley.post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  session = created.session_id!
  const app = await createApp(parley.services, { asset })
  hub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request, bun) {
      const response = await app.fetch(request, { untimed: () => bun.timeout(request, 0) })
      reached.push({ status: response.status, method: request.method, path: new URL(request.url).pathname })
      return response
    },
  })
  routes = app.routes.map(({ method, path }) => ({
    method,
    path: path.replace(/:(?:session_)?id\b/g, session).replace(/:\w+(\{.*?\})?/g, 'x'),
  }))
  await indexed(parley.services)
  await sessionsIndexed(parley) // the index's rows would be counted as the other page's
  const page = '<!doctype html><title>Elsewhere</title>'
  other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(page, { headers: { 'content-type': 'text/html' } }) })
}, 120_000)
afterAll(async () => {
  await other?.stop(true)
  await hub?.stop(true)
})

interface Attack {
  at: string
  /** Addresses that are asked for. */
  reads: string[]
  streams: string[]
  /** Where something is sent, and what. */
  writes: { path: string; body: string; types: string[] }[]
  forms: { path: string; name: string; value: string }[]
}

const JSON_BODIES: Record<string, string> = {
  '/api/sessions': '{"title":"owned","description":"","creator_team_name":"Eve"}',
  '/api/sessions/ID/messages': '{"content":"owned"}',
  '/api/sessions/ID/conclude': '{"summary_section":"owned"}',
  '/mcp':
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_session","arguments":{"title":"owned","description":"","creator_team_name":"Eve"}}}',
}
const TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'application/json'] // a browser asks before it sends the last

const attack = (): Attack => {
  const writes = [...new Set(routes.filter(({ method }) => method === 'POST').map(({ path }) => path))].map((path, n) => ({
    path,
    body: JSON_BODIES[path.replace(session, 'ID')] ?? '{}',
    types: FULL ? TYPES : [TYPES[n % TYPES.length]!],
  }))
  for (const write of writes) if (JSON_BODIES[write.path.replace(session, 'ID')]) write.types = TYPES
  return {
    at: `http://127.0.0.1:${hub.port}`,
    reads: [
      '/api/sessions',
      `/api/sessions/${session}`,
      `/api/sessions/${session}/doc`,
      `/sessions/${session}.md`,
      '/api/config',
      '/settings',
      '/metrics',
    ],
    streams: [`/api/sessions/${session}/stream`, `/sessions/${session}/live`],
    writes,
    forms: [
      { path: '/api/sessions', name: '{"title":"owned","description":"', value: '","creator_team_name":"Eve"}' }, // as text/plain it is JSON
      { path: `/api/sessions/${session}/messages`, name: '{"content":"', value: 'owned"}' },
      { path: `/sessions/${session}/messages`, name: 'text', value: 'owned' },
      { path: '/sign-out', name: 'x', value: 'x' },
    ],
  }
}

/** In the page: does all of it, and returns what it read. */
const carryOut = async ({ at, reads, streams, writes, forms }: Attack): Promise<string[]> => {
  const read: string[] = []
  const note = (what: string) => (text: string) => void (text && read.push(`${what}: ${text.slice(0, 100)}`))
  const ask = (path: string, how: RequestInit) =>
    fetch(at + path, how)
      .then((response) => response.text())
      .then(note(`${how.method ?? 'GET'} ${path}`))
      .catch(() => {})
  const within = (ms: number, begin: (done: () => void) => void) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, ms)
      begin(resolve)
    })
  const tries: Promise<unknown>[] = []
  for (const path of reads) {
    for (const credentials of ['include', 'omit'] as const)
      for (const mode of ['cors', 'no-cors'] as const) tries.push(ask(path, { credentials, mode }))
    tries.push(
      within(5_000, (done) => {
        const image = new Image()
        image.addEventListener('load', () => (note(`image ${path}`)('loaded'), done()))
        image.addEventListener('error', done)
        image.src = at + path
      }),
    )
  }
  for (const path of streams)
    for (const withCredentials of [true, false])
      tries.push(
        within(30_000, (done) => {
          const stream = new EventSource(at + path, { withCredentials })
          stream.addEventListener('open', () => (note(`stream ${path}`)('open'), stream.close(), done()))
          stream.addEventListener('error', () => (stream.close(), done()))
        }),
      )
  for (const { path, body, types } of writes)
    for (const type of types)
      tries.push(
        ask(path, {
          method: 'POST',
          mode: type === 'application/json' ? 'cors' : 'no-cors',
          credentials: 'include',
          headers: { 'content-type': type },
          body,
        }),
      )
  for (const [n, { path, name, value }] of forms.entries())
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded'])
      tries.push(
        within(5_000, (done) => {
          const frame = document.createElement('iframe')
          frame.name = `${n} ${enctype}`
          const form = Object.assign(document.createElement('form'), { method: 'post', action: at + path, target: frame.name, enctype })
          form.append(Object.assign(document.createElement('input'), { name, value }))
          document.body.append(frame, form)
          frame.addEventListener('load', () => {
            note(`form ${path}`)(frame.contentDocument?.body.innerText ?? '')
            if (frame.contentDocument === null || frame.contentDocument.location.href !== 'about:blank') done()
          })
          form.submit()
        }),
      )
  await Promise.all(tries)
  return read
}

/** How many rows each table has. */
const counts = async () => {
  const { database } = parley.services
  const tables = await database.query<{ name: string }>(`select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  return Promise.all(tables.map(({ name }) => database.query(`select '${name}' as name, count(*)::int as count from "${name}"`)))
}

const inForce = async () => {
  const response = await fetch(`${parley.url}/api/sessions/${session}`, { headers: { cookie: await robin() } })
  return [
    response.status,
    await response.json(),
    (await fetch(`${parley.url}/settings`, { headers: { cookie: await robin() }, redirect: 'manual' })).status,
  ]
}

describe.each(['127.0.0.1', 'localhost'])('from %s at another port', (host) => {
  test('a page does nothing here, and reads nothing', async () => {
    await using({}, async (page) => {
      await asRobin(page)
      const before = [await counts(), await inForce()]
      reached = []
      await page.goto(`http://${host}:${other.port}/`)
      const plan = attack()
      expect(await page.evaluate(carryOut, plan)).toEqual([])
      const sent = reached.filter(({ method }) => method !== 'GET')
      expect(sent.filter(({ status }) => status !== 403)).toEqual([])
      const paths = new Set(sent.map(({ path }) => path))
      expect(plan.writes.filter(({ path }) => !paths.has(path))).toEqual([])
      expect(sent.filter(({ method }) => method === 'POST').length).toBeGreaterThan(plan.writes.length / 2)
      expect([await counts(), await inForce()]).toEqual(before)
    })
  }, 120_000)
})

test('a link on a page of another site opens a page of ours as the person who is signed in, at its fragment, and Back leads back', async () => {
  await using({}, async (page, complaints) => {
    await page.goto(`/sign-in?key=${KEY}&name=Robin`)
    const elsewhere = `http://localhost:${other.port}/`
    const href = `${parley.url}/settings?x=1#notifications`
    await page.goto(elsewhere)
    await page.evaluate((to) => document.body.append(Object.assign(document.createElement('a'), { href: to, textContent: 'Parley' })), href)
    await page.getByRole('link', { name: 'Parley' }).click()
    await page.locator('html[data-acts]').waitFor()
    expect(page.url()).toBe(href)
    await page.goBack()
    expect(page.url()).toBe(elsewhere)
    expect(complaints).toEqual([])
  })
}, 180_000)

test('what these pages tried does and reads something where a page of ours does it', async () => {
  await using({}, async (page) => {
    await asRobin(page, '/')
    const { reads, streams, forms } = attack()
    const writes = [{ path: '/api/sessions', body: JSON_BODIES['/api/sessions']!, types: ['text/plain'] }]
    const [before] = await parley.services.database.query<{ n: number }>('select count(*)::int as n from sessions')
    const read = await page.evaluate(carryOut, { at: parley.url, reads, streams, writes, forms: forms.slice(0, 2) })
    for (const what of ['GET /api/sessions:', 'stream /api/sessions/', 'POST /api/sessions:'])
      expect(read.some((text) => text.startsWith(what))).toBe(true)
    const [after] = await parley.services.database.query<{ n: number }>('select count(*)::int as n from sessions')
    expect(after!.n).toBeGreaterThan(before!.n)
  })
}, 120_000)
