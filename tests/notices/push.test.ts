// Web Push from the form to the browser: who is told, what the push service learns, and what becomes of endpoints that fail.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { newOperatorKey } from '../../src/process/operator-key.ts'
import { endSignIn } from '../../src/process/sign-ins.ts'
import { MOST_PER_PERSON, removeEnded } from '../../src/notices/subscriptions.ts'
import { BASE, cookieOf, done, onOneEngine, room, say, soon, TITLE, viaRest, type Served } from '../support/parley.ts'
import { signerOf, startPushService, type PushBrowser, type PushService } from '../support/push-service.ts'

const SECRET = 'The secret ingredient is nutmeg.'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let service: PushService
beforeAll(async () => void (service = await startPushService()))
afterAll(() => service.stop())

onOneEngine((parley) => {
  let served: Served
  let robin: string
  beforeEach(async () => {
    service.answers(() => new Response(null, { status: 201 }))
    await parley().database.query('delete from push_subscriptions')
    served = await parley().beside({}, {}, { pushSender: service.sender({ 'inside.example': ['10.0.0.1'] }), intervals: { notices: 30 } })
    robin = await cookieOf(served, { name: 'Robin', role: 'person' })
  })
  afterEach(() => served.close())

  const post = (path: string, fields: Record<string, string>, cookie?: string, headers: Record<string, string> = {}) =>
    served.send(path, {
      method: 'POST',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...(cookie && { cookie }), ...headers },
      body: new URLSearchParams(fields).toString(),
    })
  const fieldsOf = ({ endpoint, p256dh, auth }: PushBrowser) => ({ endpoint, p256dh, auth })
  /** Turns it on, and returns the cookies that the browser then has. */
  const turnOn = async (browser: PushBrowser, { titles = false, cookie = robin } = {}) => {
    const response = await post('/settings/push', { ...fieldsOf(browser), ...(titles && { titles: '1' }) }, cookie, {
      'user-agent': FIREFOX,
    })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/settings?done=told#notifications'])
    return `${cookie}; ${
      response.headers
        .getSetCookie()
        .find((set) => set.startsWith('parley_push='))!
        .split(';')[0]
    }`
  }
  const settings = async (cookie?: string, query = '') =>
    (await served.send(`/settings${query}`, { headers: { accept: 'text/html', ...(cookie && { cookie }) } })).text()
  const conclude = async (title = TITLE) => {
    const { id, alex } = await room(viaRest(served), { title })
    await say(alex, SECRET)
    await done(alex('conclude_session', { summary_section: SECRET }))
    return id
  }
  const pathOf = ({ endpoint }: PushBrowser) => new URL(endpoint).pathname
  const arrived = async (browser: PushBrowser, count = 1) => {
    await soon(`${count} arrived`, () => service.at(pathOf(browser)).length >= count)
    return service.at(pathOf(browser)).at(-1)!
  }
  const subscriptions = () => served.database.query<{ person: string; last_error: string | null }>('select * from push_subscriptions')
  const untouched = async (response: Response | Promise<Response>, status: number) => {
    expect((await response).status).toBe(status)
    expect(await subscriptions()).toEqual([])
  }

  describe('a browser that is told', () => {
    test('gets kind, session and link, encrypted for it alone and signed by this server; without titles, and no text of a message', async () => {
      const browser = service.browser()
      await turnOn(browser)
      const id = await conclude()
      const pushed = await arrived(browser)
      expect(await browser.read(pushed)).toEqual({
        kind: 'session_concluded',
        session_id: id,
        url: `/sessions/${id}`,
        text: 'The session is concluded.',
      })
      expect(Object.fromEntries(pushed.headers)).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'normal' })
      expect(Buffer.from(pushed.body).toString('latin1')).not.toContain(id)
      expect(JSON.stringify([...pushed.headers])).not.toContain(id)
      const { key, claims } = (await signerOf(pushed))!
      expect(claims).toMatchObject({ aud: service.url, sub: expect.stringMatching(/^(mailto:|https:)/) })
      expect(claims.exp * 1000).toBeWithin(Date.now(), Date.now() + 24 * 60 * 60_000)
      expect(await settings(robin)).toContain(`data-key="${key}"`)
      await expect(service.browser().read(pushed)).rejects.toThrow()
    })

    test('gets the title where its person wants it, and still no text of a message', async () => {
      const browser = service.browser()
      await turnOn(browser, { titles: true })
      await conclude('Nutmeg or not')
      const message = await browser.read(await arrived(browser))
      expect(message).toMatchObject({ title: 'Nutmeg or not', text: 'The session is concluded.' })
      expect(JSON.stringify(message)).not.toContain(SECRET)
    })

    test('stands on the settings page with its owner, and is removed there', async () => {
      const browser = service.browser()
      const cookies = await turnOn(browser)
      const page = await settings(cookies)
      for (const part of ['Firefox on Linux', 'This browser', 'Robin, ', 'without titles', 'push.example']) expect(page).toContain(part)
      expect(page).not.toContain(pathOf(browser))
      expect(await settings(robin)).not.toContain('This browser<')
      const [, id] = /name="id" value="([^"]+)"/.exec(page)!
      expect((await post('/settings/push/remove', { id: id! }, robin)).headers.get('location')).toContain('done=told_no_more')
      await conclude()
      await soon('it is looked at', async () => (await served.database.query('select from notices where not addressed')).length === 0)
      expect([await subscriptions(), service.at(pathOf(browser))]).toEqual([[], []])
    })

    test('that turns it on again is one browser still, with what was chosen last', async () => {
      const browser = service.browser()
      await turnOn(browser)
      await turnOn(browser, { titles: true, cookie: await cookieOf(served, { name: 'Dana', role: 'person' }) })
      expect(await subscriptions()).toMatchObject([{ person: 'Dana', titles: true }])
    })

    test('is told no more once its person signs out there, and the others are', async () => {
      const [here, elsewhere] = [service.browser(), service.browser()]
      const cookies = await turnOn(here, { cookie: await cookieOf(served, { name: 'Robin', role: 'person' }) })
      await turnOn(elsewhere)
      const response = await post('/sign-out', {}, cookies)
      expect(response.headers.getSetCookie().filter((set) => /^parley_(person|push)=;/.test(set))).toHaveLength(2)
      await conclude()
      await arrived(elsewhere)
      expect(service.at(pathOf(here))).toEqual([])
    })

    test('is told no more once there is a new operator key; its row stays, for an instance that has the key it was signed in by', async () => {
      const [before, after] = [service.browser(), service.browser()]
      await turnOn(before)
      await newOperatorKey(served.services)
      const again = await cookieOf(served, { name: 'Robin', role: 'person' })
      expect(await settings(again)).not.toContain('Firefox on Linux')
      await turnOn(after, { cookie: again })
      await conclude()
      await arrived(after)
      expect([service.at(pathOf(before)), (await subscriptions()).length]).toEqual([[], 2])
    })

    describe('is told again, once its sign-in has run out,', () => {
      let browser: PushBrowser
      let key: string
      let cookies: string
      beforeEach(async () => {
        browser = service.browser()
        key = await newOperatorKey(served.services)
        cookies = await turnOn(browser, { cookie: await cookieOf(served, { name: 'Robin', role: 'person' }) })
      })
      const signInId = () => /parley_person=([^.]+)/.exec(cookies)![1]!
      const runOut = (days: number) =>
        served.database.query(`update sign_ins set made_at = now() - $2::int * interval '1 day' where id = $1`, [signInId(), days])
      const enter = async (name: string) =>
        expect((await post('/sign-in', { key, name }, cookies.replace(/^[^;]+; /, ''), { origin: BASE })).status).toBe(303)
      const isTold = async () => {
        const before = service.at(pathOf(browser)).length
        await conclude()
        await soon('it is looked at', async () => (await served.database.query('select from notices where not addressed')).length === 0)
        await soon('it is sent', async () => (await served.database.query('select from notice_deliveries')).length === 0)
        return service.at(pathOf(browser)).length > before
      }

      test('by the same person, who signs in there again; until when at the latest, the page says', async () => {
        await runOut(29)
        const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
        const inDays = (days: number) => day.format(Date.now() + days * 86_400_000)
        expect(await settings(cookies)).toContain(`or until ${inDays(1)}: signing in again here`)
        await runOut(31)
        await removeEnded(served.database)
        await enter('Dana')
        expect(await isTold()).toBe(false)
        await enter('Robin')
        expect(await isTold()).toBe(true)
        expect(await settings(await cookieOf(served, { name: 'Kim', role: 'person' }))).toContain(`, until ${inDays(30)}<`)
      })

      test('unless that is a month ago, or somebody has ended it', async () => {
        await endSignIn(served.services, signInId())
        await enter('Robin')
        expect(await isTold()).toBe(false)
        await removeEnded(served.database)
        expect(await subscriptions()).toEqual([])
        cookies = await turnOn(browser, { cookie: await cookieOf(served, { name: 'Robin', role: 'person' }) })
        await runOut(61)
        await removeEnded(served.database)
        expect(await subscriptions()).toEqual([])
      })
    })

    test('no person has more than ten', async () => {
      for (let n = 0; n < MOST_PER_PERSON; n++) await turnOn(service.browser())
      const response = await post('/settings/push', fieldsOf(service.browser()), robin)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain(`You are told in ${MOST_PER_PERSON} browsers already. Remove one of them first.`)
      await turnOn(service.browser(), { cookie: await cookieOf(served, { name: 'Dana', role: 'person' }) })
      expect(await subscriptions()).toHaveLength(MOST_PER_PERSON + 1)
    })
  })

  test('what was still to be tried again is not sent once there is a new operator key', async () => {
    const browser = service.browser()
    service.answers(() => new Response(null, { status: 503 }))
    await turnOn(browser)
    await conclude()
    await soon('it failed', async () => (await subscriptions())[0]?.last_error === 'answered 503')
    await newOperatorKey(served.services)
    await served.database.query('update notice_deliveries set due_at = now()')
    await Bun.sleep(300) // ten looks
    expect(service.at(pathOf(browser))).toHaveLength(1)
  })

  describe('a push service that', () => {
    test.each([404, 410])('answers %i has its subscription forgotten', async (status) => {
      const [gone, there] = [service.browser(`/gone/${crypto.randomUUID()}`), service.browser()]
      service.answers((path) => new Response(null, { status: path.startsWith('/gone/') ? status : 201 }))
      await turnOn(gone)
      await turnOn(there)
      await conclude()
      await arrived(there)
      await soon('it is forgotten', async () => (await subscriptions()).length === 1)
      const counted = async (outcome: string) =>
        (await (await served.send('/metrics')).text()).includes(`parley_notices_total{way="push",outcome="${outcome}"} 1\n`)
      await soon('both are counted', async () => (await counted('gone')) && (await counted('ok')))
    })

    test('answers slowly holds up nobody', async () => {
      const [slow, quick] = [service.browser(`/slow/${crypto.randomUUID()}`), service.browser()]
      const silence = Promise.withResolvers<Response>()
      service.answers((path) => (path.startsWith('/slow/') ? silence.promise : new Response(null, { status: 201 })))
      await turnOn(slow)
      await turnOn(quick)
      for (let n = 1; n <= 3; n++) {
        await conclude()
        await arrived(quick, n)
      }
      await soon('the slow one was sent all three', () => service.at(pathOf(slow)).length === 3)
      silence.resolve(new Response(null, { status: 201 }))
    })

    test('fails is told of on the page, without the endpoint, and no more once it works', async () => {
      const browser = service.browser()
      service.answers(() => new Response(null, { status: 503 }))
      await turnOn(browser)
      await conclude()
      await soon('it is noted', async () => (await subscriptions())[0]?.last_error === 'answered 503')
      expect(await settings(robin)).toContain('The last notice did not arrive: push.example')
      service.answers(() => new Response(null, { status: 201 }))
      await conclude()
      await soon('it works', async () => (await subscriptions())[0]?.last_error === null)
      const warnings = served.logged.filter((line) => line.includes('could not be told'))
      expect(warnings).toHaveLength(1)
      expect(served.logged.join()).not.toContain(pathOf(browser))
    })

    test('redirects is not followed', async () => {
      const browser = service.browser(`/moved/${crypto.randomUUID()}`)
      const location = `${service.url}/elsewhere`
      service.answers((path) => new Response(null, path.startsWith('/moved/') ? { status: 307, headers: { location } } : { status: 201 }))
      await turnOn(browser)
      await conclude()
      await soon('it is noted', async () => (await subscriptions())[0]?.last_error?.includes('not followed') === true)
      expect(service.at('/elsewhere')).toEqual([])
    })

    test('has moved to a private address since is not called', async () => {
      const browser = service.browser()
      await turnOn(browser)
      await served.database.query('update push_subscriptions set endpoint = $1', ['https://inside.example/x'])
      await conclude()
      await soon('it is noted', async () => (await subscriptions())[0]?.last_error === 'is not called: its address is not a public one')
    })
  })

  describe('an endpoint is refused with a sentence when it', () => {
    const endpoints: [string, string, string][] = [
      ['is plain http', 'http://push.example/x', 'no push subscription of an https service'],
      ['is no URL', 'push.example', 'no push subscription of an https service'],
      ['is a private address', 'https://10.0.0.1/x', 'is not called, because its address is not a public one'],
      ['is IPv6 loopback', 'https://[::1]:7423/x', 'is not called, because its address is not a public one'],
      ['has a name that leads to a private address', 'https://inside.example/x', 'is not called, because its address is not a public one'],
      ['is too long', `https://push.example/${'x'.repeat(2_000)}`, 'no push subscription of an https service'],
    ]
    test.each(endpoints)('%s', async (_, endpoint, sentence) => {
      const response = await post('/settings/push', { ...fieldsOf(service.browser()), endpoint }, robin)
      expect(await response.clone().text()).toContain(sentence)
      await untouched(response, 400)
    })

    test('comes with keys that nothing can be encrypted with', async () => {
      const good = fieldsOf(service.browser())
      for (const bad of [{ p256dh: 'AAAA' }, { auth: 'AAAA' }, { p256dh: Buffer.alloc(65, 4).toString('base64url') }, { p256dh: '' }])
        await untouched(post('/settings/push', { ...good, ...bad }, robin), 400)
    })
  })

  describe('nobody but a signed-in person', () => {
    const FORMS: [string, () => Record<string, string>][] = [
      ['/settings/push', () => fieldsOf(service.browser())],
      ['/settings/push/remove', () => ({ id: crypto.randomUUID() })],
      ['/settings/notices/test', () => ({ way: 'push' })],
    ]
    test.each(FORMS)('uses %s', async (path, fields) => {
      await untouched(post(path, fields()), 401)
      await untouched(post(path, fields(), await cookieOf(served, { name: 'Gale', role: 'reader' })), 403)
      await untouched(post(path, fields(), robin, { origin: 'https://evil.example' }), 403)
      await untouched(post(path, fields(), robin, { 'sec-fetch-site': 'cross-site' }), 403)
    })

    test('sees who is told', async () => {
      await turnOn(service.browser())
      for (const page of [await settings(), await settings(await cookieOf(served, { name: 'Gale', role: 'reader' }))]) {
        expect(page).toContain('Notifications')
        expect(page).not.toContain('Firefox on Linux')
      }
    })
  })

  test('a test notification goes to all of a person’s browsers, and the answer says what came of each', async () => {
    const [mine, gone, danas] = [service.browser(), service.browser(`/gone/${crypto.randomUUID()}`), service.browser()]
    await turnOn(mine)
    await turnOn(gone)
    await turnOn(danas, { cookie: await cookieOf(served, { name: 'Dana', role: 'person' }) })
    service.answers((path) => new Response(null, { status: path.startsWith('/gone/') ? 410 : 201 }))
    const page = await (await post('/settings/notices/test', { way: 'push' }, robin, { origin: BASE })).text()
    expect(page).toContain('Test sent: Firefox on Linux took it. Firefox on Linux answered 410: it is forgotten.')
    expect(await mine.read(await arrived(mine))).toMatchObject({ kind: 'test', session_id: null, url: '/settings' })
    expect([service.at(pathOf(danas)), (await subscriptions()).length]).toEqual([[], 2])
  })

  test('the private half of the keys is on no page and in no log, and both halves outlive a restart', async () => {
    const keys = () => JSON.parse(served.services.pushIdentity().keys) as { publicKey: string; privateKey: string }
    const { publicKey, privateKey } = keys()
    await turnOn(service.browser())
    const shown = [await settings(robin), await (await served.send('/api/config')).text(), ...served.logged].join()
    expect(shown).toContain(publicKey)
    expect(shown).not.toContain(privateKey)
    const next = await parley().beside({}, {}, { pushSender: service.sender() })
    expect(JSON.parse(next.services.pushIdentity().keys)).toEqual({ publicKey, privateKey })
    await next.close()
  })
})
