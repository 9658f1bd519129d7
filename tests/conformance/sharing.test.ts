import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { BASE, cookieOf, done, onOneEngine, refused, room, say, soon, viaRest, type Served } from '../support/parley.ts'
import { FULL } from '../support/full.ts'

const LINKS = FULL ? 200 : 15

const PASSWORD = { VIEWER_PASSWORD: 'the viewers password' }
const HTML = { accept: 'text/html' }

onOneEngine((parley) => {
  const asset = async () => new Response('p{}')
  const begin = async (env: Record<string, string> = PASSWORD) => {
    const served = await parley().beside(env, { asset })
    const person = await cookieOf(served, { name: 'Robin', role: 'person' })
    const seats = await room(viaRest(parley()), { title: 'The shared one' })
    const other = await room(viaRest(parley()), { title: 'The secret one' })
    const auth: Record<string, string> = env.ACCESS_TOKEN ? { authorization: `Bearer ${env.ACCESS_TOKEN}` } : {}
    const robin = (name: string, key?: string) => viaRest(served)(name, { session_id: seats.id }, { person, key, headers: auth })
    const { url } = await done(robin('share_session'))
    return { served, person, robin, other, url: url as string, ...seats }
  }
  const open = async (served: Served, url: string) => {
    const response = await served.send(new URL(url).pathname, { headers: HTML })
    return {
      status: response.status,
      location: response.headers.get('location'),
      cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '',
    }
  }
  const statusOf = async (served: Served, path: string, cookie: string, headers: Record<string, string> = {}) => {
    const signal = AbortSignal.timeout(5_000)
    const response = await served.send(path, { headers: { cookie, ...headers }, signal })
    await response.body?.cancel()
    return response.status
  }
  const OPENED = (id: string) => [
    `/sessions/${id}`,
    `/sessions/${id}.md`,
    `/sessions/${id}/feed.jsonl`,
    `/sessions/${id}/turns`,
    `/sessions/${id}/turns/1`,
    `/sessions/${id}/events/1.txt`,
    `/sessions/${id}/rows?before=2`,
    `/sessions/${id}/document?version=0`,
    `/sessions/${id}/live?after=0&doc=0`,
    `/api/sessions/${id}/stream`,
    `/api/sessions/${id}/handoff.md`,
  ]

  test('the link leads a stranger to the session, where page, streams and exports are open', async () => {
    const { served, id, url, alex } = await begin()
    await say(alex, 'hello')
    expect(url).toMatch(new RegExp(`^${BASE}/shared/[0-9a-f-]{36}\\.[A-Za-z0-9_-]{32}$`))
    const { status, location, cookie } = await open(served, url)
    expect([status, location]).toEqual([303, `/sessions/${id}`])
    for (const path of OPENED(id)) expect([path, await statusOf(served, path, cookie)]).toEqual([path, 200])
    expect(await statusOf(served, `/sessions/${id}/tasks/1`, cookie)).toBe(404) // open, but this session has no agent
    const page = await (await served.send(`/sessions/${id}`, { headers: { cookie, ...HTML } })).text()
    expect(page).toContain('The shared one')
    expect(page).not.toContain('The secret one')
  })

  describe('in a browser, which sends a cookie to its path and what lies below', () => {
    const shared = async () => {
      const given = await begin()
      const jar = new Jar()
      const get = (path: string, headers: Record<string, string> = {}) => jar.get(given.served, path, { ...HTML, ...headers })
      return { ...given, jar, get }
    }

    test('the link opens all that it opens, and goes nowhere else', async () => {
      const { url, id, other, jar, get } = await shared()
      expect((await get(new URL(url).pathname)).status).toBe(303)
      for (const path of OPENED(id)) expect([path, (await get(path)).status]).toEqual([path, 200])
      for (const path of [
        '/',
        '/sign-in',
        '/api/config',
        '/public/app.css',
        `/sessions/${other.id}`,
        `/api/sessions/${other.id}/doc`,
        '/mcp',
      ])
        expect([path, jar.sentTo(path)]).toEqual([path, ''])
    })

    test(`${LINKS} links opened one after the other leave every page readable`, async () => {
      const { served, person, jar, get } = await shared()
      const ids: string[] = []
      for (let n = 0; n < LINKS; n++) {
        const { id } = await room(viaRest(parley()))
        const { url } = await done(viaRest(served)('share_session', { session_id: id }, { person }))
        await get(new URL(url).pathname)
        ids.push(id)
      }
      for (const id of [ids[0]!, ids.at(-1)!]) {
        for (const path of OPENED(id)) expect([path, (await get(path)).status]).toEqual([path, 200])
        expect(jar.sentTo(`/sessions/${id}`).length).toBeLessThan(200)
      }
      expect(jar.sentTo('/')).toBe('')
    }, 180_000)

    test('a cookie of earlier versions, for all paths, still opens its session, and is replaced', async () => {
      const { url, id, robin, jar, get } = await shared()
      const old = () => jar.set(`parley_shared_${id}=${url.split('/').at(-1)}; Path=/`)
      old()
      for (const path of OPENED(id)) expect([path, (await get(path)).status]).toEqual([path, 200])
      await get('/sign-in')
      expect(jar.sentTo('/sign-in')).toBe('')
      for (const path of OPENED(id)) expect([path, (await get(path)).status]).toEqual([path, 200])
      old()
      const next = await done(robin('share_session')) // ends the link before
      expect((await get(`/sessions/${id}`)).status).toBe(303)
      await get(new URL(next.url).pathname)
      expect(jar.sentTo('/')).toBe('')
      for (const path of OPENED(id)) expect([path, (await get(path)).status]).toEqual([path, 200])
    })

    test('many cookies of earlier versions are replaced a few at a time, and none on an answer that a proxy may keep for others', async () => {
      const { jar, get } = await shared()
      const count = 40
      for (let n = 0; n < count; n++) jar.set(`parley_shared_${crypto.randomUUID()}=${crypto.randomUUID()}.${'A'.repeat(32)}; Path=/`)
      const stylesheet = await get('/public/app.css')
      expect([stylesheet.status, stylesheet.headers.getSetCookie()]).toEqual([200, []])
      for (let n = 0; n < count; n++) {
        const cookies = (await get('/sign-in')).headers.getSetCookie()
        expect(cookies.join('').length).toBeLessThan(4_000)
      }
      expect(jar.sentTo('/')).toBe('')
    })
  })

  test('who reads by the link is offered nothing that is closed to them', async () => {
    const { served, id, url, person, alex } = await begin()
    await say(alex, 'hello')
    const { cookie } = await open(served, url)
    for (const path of [`/sessions/${id}`, `/sessions/${id}/turns`]) {
      const page = await (await served.send(path, { headers: { cookie, ...HTML } })).text()
      expect(page).toContain('Shared, read only')
      const offered = [...page.matchAll(/ (?:href|action|data-copy)="(\/[^"]*)"/g)].map(([, to]) => to!)
      expect(offered.length).toBeGreaterThan(3)
      for (const to of new Set(offered.filter((to) => to !== '/theme' && !to.startsWith('/public/'))))
        expect([to, await statusOf(served, to.replaceAll('&amp;', '&'), cookie)]).toEqual([to, 200])
    }
    const shown = async (as: string) => (await served.send(`/sessions/${id}`, { headers: { cookie: as, ...HTML } })).text()
    expect(await shown(cookie)).toContain('You are reading a shared link.')
    expect(await shown(`${cookie}; ${person}`)).not.toContain('Shared, read only') // who is signed in loses nothing by it
    expect(await shown(`${cookie}; ${person}`)).toContain('href="/search"')
  })

  describe('who reads by the link learns', () => {
    const textOf = async (served: Served, path: string, cookie: string) =>
      (await served.send(path, { headers: { cookie, ...HTML } })).text()

    test('of no other session of the series, also where a person has just looked', async () => {
      const { served, id, url, person, alex } = await begin()
      await done(alex('conclude_session', { summary_section: 'end' }))
      const next = { title: 'The secret sequel', description: '', creator_team_name: 'Alex', resume_from: id }
      const { session_id } = await done(viaRest(parley())('create_session', next))
      const { cookie } = await open(served, url)
      for (const path of [`/sessions/${id}/records`, `/sessions/${id}/records?part=panel&mark=1`]) {
        const seen = await textOf(served, path, person)
        expect(seen).toContain('The secret sequel')
        const shown = await textOf(served, path, cookie)
        expect(shown).toContain('data-panel="records"')
        expect(shown).not.toContain('The secret sequel')
        expect(shown).not.toContain(session_id)
      }
    })

    test('nothing of how much waits for a person', async () => {
      const { served, id, url, person, other } = await begin()
      const decision = { title: 'We leave it as it is', description: 'It works.' }
      await done(viaRest(parley())('records.propose_decision', decision, { team: other.alex.token }))
      const { cookie } = await open(served, url)
      const told = async (as: string) => {
        const reader = (await served.send(`/sessions/${id}/live?after=0&doc=0`, { headers: { cookie: as } })).body!.getReader()
        let text = ''
        while (!text.includes('data-waiting')) text += new TextDecoder().decode((await reader.read()).value)
        await reader.cancel()
        return /data-waiting="(\d+)"/.exec(text)![1]
      }
      await soon('it counts for a person', async () => !(await textOf(served, '/', person)).includes('data-waiting="0"'))
      expect(await told(person)).not.toBe('0')
      expect(await told(cookie)).toBe('0')
    })
  })

  test('with an access token too', async () => {
    const { served, id, url } = await begin({ ACCESS_TOKEN: 'the-access-token-here' })
    const { cookie } = await open(served, url)
    for (const path of OPENED(id)) expect([path, await statusOf(served, path, cookie)]).toEqual([path, 200])
    expect(await statusOf(served, `/api/sessions/${id}/stream`, cookie.replace(/.{4}$/, 'AAAA'))).toBe(401)
  })

  test('the link opens nothing else: no other session, page, operation or tool', async () => {
    const { served, id, other, url } = await begin()
    const { cookie } = await open(served, url)
    const closed = [
      '/',
      '/?q=secret',
      '/connect',
      '/settings',
      '/sessions/new',
      ...['history', 'share', 'edit', 'conclude', 'reopen', 'resume', 'convener', 'release'].map((part) => `/sessions/${id}/${part}`),
      `/sessions/${id}/history/1.md`,
      '/metrics',
      ...['', '/messages', '/doc', '/doc/history', '/participants', '/unread', '/wait?timeout=0'].map(
        (part) => `/api/sessions/${id}${part}`,
      ),
      ...OPENED(other.id),
      ...OPENED(id).map((path) => path.replace(id, id.toUpperCase())),
    ]
    for (const path of closed) {
      const status = await statusOf(served, path, cookie)
      expect([path, [303, 401, 404].includes(status)]).toEqual([path, true])
      expect([path, status]).toEqual([path, await statusOf(served, path, '')]) // as for a stranger
    }
    const stolen = cookie.replace(id, other.id) // the same token under another session's name
    for (const path of OPENED(other.id))
      expect([path, await statusOf(served, path, stolen)]).toEqual([path, await statusOf(served, path, '')])
  })

  test('it changes nothing', async () => {
    const { served, id, url, alex } = await begin()
    const { cookie } = await open(served, url)
    const writes = ['messages', 'doc', 'doc/append', 'metadata', 'conclude', 'share', 'unshare', 'release', 'convener']
    for (const path of [...writes.map((name) => `/api/sessions/${id}/${name}`), ...writes.map((name) => `/sessions/${id}/${name}`)]) {
      const body = path.startsWith('/api') ? '{"content":"x","text":"x"}' : 'text=x&key='
      const response = await served.send(path, { method: 'POST', headers: { cookie }, body })
      expect([path, response.status >= 400]).toEqual([path, true])
    }
    expect(await done(alex('get_session'))).toMatchObject({ last_sequence: 1, status: 'active', session_doc_version: 0 })
  })

  describe('the link ends', () => {
    test('when it is taken back, for those who are inside too', async () => {
      const { served, id, url, robin } = await begin()
      const { cookie } = await open(served, url)
      expect(await done(robin('unshare_session'))).toEqual({ url: null })
      for (const path of OPENED(id)) expect([path, await statusOf(served, path, cookie)]).toEqual([path, await statusOf(served, path, '')])
      expect((await open(served, url)).status).toBe(404)
    })

    test('when another takes its place', async () => {
      const { served, id, url, robin } = await begin()
      const { cookie } = await open(served, url)
      const next = await done(robin('share_session'))
      expect(next.url).not.toBe(url)
      expect(await statusOf(served, `/sessions/${id}.md`, cookie)).toBe(401)
      const { cookie: second } = await open(served, next.url)
      expect(await statusOf(served, `/sessions/${id}.md`, second)).toBe(200)
    })

    test.each(['/api/sessions/ID/stream', '/sessions/ID/live?after=0&doc=0'])('and %s that it had opened ends with it', async (path) => {
      const { served, id, url, robin, alex } = await begin()
      const { cookie } = await open(served, url)
      const response = await served.send(path.replace('ID', id), { headers: { cookie } })
      const reader = response.body!.getReader()
      await reader.read()
      await done(robin('unshare_session'))
      await Bun.sleep(1_100) // it is looked at again after a second
      await done(viaRest(served)('post_message', { session_id: id, content: 'not for strangers any more' }, { team: alex.token }))
      let [text, over] = ['', false]
      void (async () => {
        for (let part = await reader.read(); !part.done; part = await reader.read()) text += Buffer.from(part.value).toString()
        over = true
      })()
      await soon('the stream ends', () => over)
      expect(text).not.toContain('not for strangers any more')
      await soon('its place is free again', () => served.services.streams.open === 0)
    })
  })

  test('streams that it opened are looked at in one statement each second, however many they are', async () => {
    const { served, id, url } = await begin()
    const { cookie } = await open(served, url)
    const streams = await Promise.all(Array.from({ length: 60 }, () => served.send(`/api/sessions/${id}/stream`, { headers: { cookie } })))
    const fewAre = async () => {
      const before = served.database.statements()
      await Bun.sleep(1_000)
      return served.database.statements() - before < streams.length // jobs in the background send some too
    }
    await soon('a second passes with fewer statements than streams', fewAre, 10)
    for (const { body } of streams) await body!.cancel()
    await served.close()
  })

  test('a signed-in person shares, no team, no reader and no stranger', async () => {
    const { served, id, alex } = await begin()
    const call = viaRest(served)
    const reader = await cookieOf(served, { name: 'Robin', role: 'reader' })
    for (const name of ['share_session', 'unshare_session']) {
      await refused(alex(name), 'forbidden')
      await refused(call(name, { session_id: id }, { person: reader }), 'unauthorized')
      await refused(call(name, { session_id: id }), 'unauthorized')
    }
  })

  test('a concluded session can be shared', async () => {
    const { alex, robin } = await begin()
    await done(alex('conclude_session', { summary_section: 'end' }))
    await done(robin('share_session'))
    await done(robin('unshare_session'))
  })

  test('the secret is stored and logged nowhere, and a retry with the key still has the same link', async () => {
    const { served, id, robin, alex } = await begin()
    const key = crypto.randomUUID()
    const { url } = await done(robin('share_session', key))
    expect(await done(robin('share_session', key))).toEqual({ url })
    const secret = url.split('.').at(-1)!
    const tables = await Promise.all(
      ['shares', 'idempotency', 'sessions', 'events', 'settings'].map((table) => parley().database.query(`select * from ${table}`)),
    )
    expect(JSON.stringify(tables)).not.toContain(secret)
    expect(JSON.stringify(tables)).toContain(id)
    await open(served, `${url}x`)
    await open(served, url)
    expect([...parley().logged, ...served.logged].join('\n')).not.toContain(secret)
    await refused(alex('post_message', { content: `read this: ${url}` }), 'secret_in_text')
  })

  test('what is no link opens nothing and tells nothing', async () => {
    const { served, url } = await begin()
    for (const bad of [
      '/shared/x',
      `/shared/${crypto.randomUUID()}.${'A'.repeat(32)}`,
      `${new URL(url).pathname}A`,
      new URL(url).pathname.slice(0, -1),
    ])
      expect([bad, (await open(served, `${BASE}${bad}`)).status]).toEqual([bad, 404])
  })

  test('a person makes and ends it on a page of its own, and sees it once', async () => {
    const { served, id, person } = await begin()
    const at = `/sessions/${id}/share`
    expect((await served.send(at, { headers: HTML })).status).toBe(303)
    const headers = { cookie: person, origin: BASE, 'content-type': 'application/x-www-form-urlencoded', ...HTML }
    const made = await served.send(at, { method: 'POST', headers, body: 'key=' })
    const [url] = /http[^<\s]+\/shared\/[^<\s]+/.exec(await made.text())!
    const { cookie } = await open(served, url)
    expect(await statusOf(served, `/sessions/${id}.md`, cookie)).toBe(200)
    const later = await (await served.send(at, { headers })).text()
    expect(later).toContain('made by Robin')
    expect(later).not.toContain('/shared/')
    expect((await served.send(`/sessions/${id}/unshare`, { method: 'POST', headers, body: '' })).status).toBe(303)
    expect(await (await served.send(at, { headers })).text()).toContain('No link is active')
  })
})

/** A browser's cookies: RFC 6265, as far as paths go. */
class Jar {
  #cookies: { name: string; value: string; path: string }[] = []

  set(header: string) {
    const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(header)!
    const path = /; Path=([^;]*)/.exec(attributes!)![1]!
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.path !== path)
    if (!attributes!.includes('Max-Age=0')) this.#cookies.push({ name: name!, value: value!, path })
  }

  sentTo(path: string): string {
    const [plain] = path.split('?')
    const sent = this.#cookies.filter((one) => one.path === '/' || plain === one.path || plain!.startsWith(`${one.path}/`))
    return sent
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  async get(served: Served, path: string, headers: Record<string, string>): Promise<Response> {
    const cookie = this.sentTo(path)
    const response = await served.send(path, { headers: { ...headers, ...(cookie && { cookie }) }, signal: AbortSignal.timeout(5_000) })
    for (const header of response.headers.getSetCookie()) this.set(header)
    await response.body?.cancel()
    return response
  }
}
