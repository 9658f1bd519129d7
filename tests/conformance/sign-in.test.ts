// Who signs in, how often somebody may try, and what a page of somebody else can do about it.
import { describe, expect } from 'bun:test'
import { newOperatorKey } from '../../src/process/operator-key.ts'
import { linkForPerson } from '../../src/process/sign-ins.ts'
import { test } from '../support/foreign.ts'
import { BASE, onOneEngine, room, viaRest, type Sending, type Served } from '../support/parley.ts'

const CHOSEN = { OPERATOR_KEY: 'chosen by a person', VIEWER_PASSWORD: 'the viewers password' }
const TRIES = 10
const HTML = { accept: 'text/html' }

const link = (served: Served, key: string, headers: Record<string, string> = {}) =>
  served.send(`/sign-in?key=${encodeURIComponent(key)}&name=Robin`, { headers: { ...HTML, ...headers } })
const form = (served: Served, key: string, headers: Record<string, string> = {}, more: Sending = {}) =>
  served.send('/sign-in', {
    method: 'POST',
    headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded', origin: BASE, ...headers },
    body: new URLSearchParams({ key, name: 'Robin' }).toString(),
    ...more,
  })
const isIn = (response: Response) => response.headers.getSetCookie().some((cookie) => /^parley_person=[^;]/.test(cookie))

const from = (site: string, mode?: string, dest?: string) => ({
  'sec-fetch-site': site,
  ...(mode && { 'sec-fetch-mode': mode }),
  ...(dest && { 'sec-fetch-dest': dest }),
})
const OPENED = from('none', 'navigate', 'document')
const EVIL = { origin: 'https://evil.example' }

// What a page of somebody else can have this person's browser send, as Chromium sends it. Without Sec-Fetch headers: to a server on plain
// http that is not loopback, they are never sent.
const VECTORS: [name: string, send: (served: Served, key: string) => Promise<Response>, passes: boolean][] = [
  ['an image', (served, key) => link(served, key, { ...from('cross-site', 'no-cors', 'image'), accept: 'image/*' }), false],
  ['an image of a page on another port of this machine', (served, key) => link(served, key, from('same-site', 'no-cors', 'image')), false],
  ['a fetch without CORS', (served, key) => link(served, key, from('cross-site', 'no-cors', 'empty')), false],
  ['a fetch with CORS', (served, key) => link(served, key, { ...from('cross-site', 'cors', 'empty'), ...EVIL }), false],
  ['a prefetch', (served, key) => link(served, key, { ...from('cross-site', 'no-cors', 'empty'), 'sec-purpose': 'prefetch' }), false],
  ['a script', (served, key) => link(served, key, from('cross-site', 'no-cors', 'script')), false],
  ['a frame', (served, key) => link(served, key, from('cross-site', 'navigate', 'iframe')), false],
  ['an object', (served, key) => link(served, key, from('same-site', 'navigate', 'object')), false],
  ['an image that one of our pages shows', (served, key) => link(served, key, from('same-origin', 'no-cors', 'image')), false],
  ['a form', (served, key) => form(served, key, { ...from('cross-site', 'navigate', 'document'), ...EVIL }), false],
  ['a form on another port of this machine', (served, key) => form(served, key, { origin: 'http://127.0.0.1:8080', ...from('same-site', 'navigate', 'document') }), false],
  ['a form in a sandbox', (served, key) => form(served, key, { origin: 'null', ...from('cross-site', 'navigate', 'document') }), false],
  ['a form, on plain http', (served, key) => form(served, key, EVIL), false],
  ['a form in a sandbox, on plain http', (served, key) => form(served, key, { origin: 'null' }), false],
  ['windows that it opens', (served, key) => link(served, key, from('cross-site', 'navigate', 'document')), true],
  ['windows that a page on another port of this machine opens', (served, key) => link(served, key, from('same-site', 'navigate', 'document')), true],
  ['anything, on plain http', (served, key) => link(served, key), true],
] // prettier-ignore

onOneEngine((parley) => {
  const chosen = () => parley().beside(CHOSEN)
  const generated = async () => {
    const served = await parley().beside({})
    return { served, key: await newOperatorKey(served.services) }
  }

  describe('a page of somebody else', () => {
    test.each(VECTORS)('keeps nobody from signing in by %s', async (_, send) => {
      const served = await chosen()
      for (let n = 0; n < 3 * TRIES; n++) expect((await send(served, 'x')).status).toBeOneOf([401, 403, 429])
      for (const key of Object.values(CHOSEN)) {
        expect([(await form(served, key)).status, isIn(await form(served, key))]).toEqual([303, true])
        expect(isIn(await link(served, key, OPENED))).toBe(true)
      }
    })

    test('keeps nobody from signing in by all of these together, under a RATE_LIMIT either', async () => {
      const served = await parley().beside({ ...CHOSEN, RATE_LIMIT: '1' })
      for (const [, send] of VECTORS) for (let n = 0; n < TRIES; n++) await send(served, 'x')
      for (let n = 0; n < 100; n++) await served.send('/', { headers: from('cross-site', 'navigate', 'document') })
      expect(isIn(await form(served, CHOSEN.OPERATOR_KEY))).toBe(true)
    })

    test.each(VECTORS)('learns nothing and signs nobody in by %s, unless that is a link that was opened', async (_, send, passes) => {
      const served = await chosen()
      const response = await send(served, CHOSEN.OPERATOR_KEY)
      expect(isIn(response)).toBe(passes)
      if (passes) return
      expect(response.status).toBe(403)
      expect(await response.text()).toBe(await (await send(served, 'another key, not right')).text())
    })
  })

  describe('a key or password that a person chose', () => {
    test.each([
      ['the form', form],
      ['links', link],
    ])('may be guessed at ten times a minute and address by %s, and then the right one is not taken either', async (_, send) => {
      const served = await chosen()
      for (let n = 0; n < TRIES; n++) expect((await send(served, `wrong ${n}`)).status).toBe(401)
      for (const key of ['wrong', ...Object.values(CHOSEN)]) {
        const late = await send(served, key)
        expect([late.status, isIn(late)]).toEqual([429, false])
        expect(Number(late.headers.get('retry-after'))).toBeWithin(1, 61)
        expect(await late.text()).toContain('action="/sign-in"')
      }
      expect((await form(served, 'wrong', {}, { address: '192.0.2.7' })).status).toBe(401)
    })

    test('a link that the person opened counts with the form', async () => {
      const served = await chosen()
      for (let n = 0; n < TRIES; n++) expect((await (n % 2 ? link(served, 'wrong', OPENED) : form(served, 'wrong'))).status).toBe(401)
      expect((await form(served, 'wrong')).status).toBe(429)
      expect((await link(served, 'wrong', OPENED)).status).toBe(429)
    })

    test('past the tries of links the page tells to use the form', async () => {
      const served = await chosen()
      for (let n = 0; n < TRIES; n++) await link(served, 'wrong')
      expect(await (await link(served, CHOSEN.OPERATOR_KEY)).text()).toContain('Enter the key below')
      expect(isIn(await form(served, CHOSEN.OPERATOR_KEY))).toBe(true)
    })
  })

  test('a name with invisible characters signs nobody in, for it could pass for another one; without a name one is the Operator', async () => {
    const served = await chosen()
    const named = (name: string) =>
      form(served, CHOSEN.OPERATOR_KEY, {}, { body: new URLSearchParams({ key: CHOSEN.OPERATOR_KEY, name }).toString() })
    for (const name of ['Ev\u202Eil', 'Robin\u0007', '\u2060']) {
      const answer = await named(name)
      expect([name, answer.status, isIn(answer)]).toEqual([name, 400, false])
      expect(await answer.text()).toContain('invisible characters')
    }
    expect(isIn(await named('  '))).toBe(true)
  })

  test('a key or token typed as the name signs nobody in, and is not shown again', async () => {
    const served = await chosen()
    const { alex } = await room(viaRest(served))
    const { OPERATOR_KEY, VIEWER_PASSWORD } = CHOSEN
    for (const [key, secret] of [
      [OPERATOR_KEY, OPERATOR_KEY],
      [VIEWER_PASSWORD, `Robin ${VIEWER_PASSWORD}`],
      [OPERATOR_KEY, alex.token],
      ['wrong', alex.token],
    ] as const) {
      const body = new URLSearchParams({ key, name: secret }).toString()
      for (const answer of [
        await form(served, key, {}, { body }),
        await served.send(`/sign-in?${body}`, { headers: { ...HTML, ...OPENED } }),
      ]) {
        expect([answer.status, isIn(answer)]).toEqual([key === 'wrong' ? 401 : 400, false])
        const page = await answer.text()
        expect(page).toContain('action="/sign-in"')
        expect(page).not.toContain(secret)
      }
    }
    await expect(linkForPerson(served.services, `Alex ${alex.token}`)).rejects.toMatchObject({ code: 'secret_in_text' })
  })

  test('whoever was led here leaves for where they came from, though its address had a credential or signs of another script', async () => {
    const served = await chosen()
    const { alex } = await room(viaRest(served))
    for (const [path, back] of [
      [`/search?q=${alex.token}`, `/search?q=${alex.handle}%E2%80%A6`],
      ['/search?q=%E6%BC%A2', '/search?q=%E6%BC%A2'],
    ] as const) {
      const next = new URL((await served.send(path, { headers: HTML })).headers.get('location')!, BASE).searchParams.get('next')!
      const body = new URLSearchParams({ key: CHOSEN.OPERATOR_KEY, name: 'Robin', next }).toString()
      const entered = await form(served, '', {}, { body })
      expect([entered.status, entered.headers.get('location'), isIn(entered)]).toEqual([303, back, true])
      const at = `/sign-in?key=${encodeURIComponent(CHOSEN.OPERATOR_KEY)}&name=Robin&next=${encodeURIComponent(next)}`
      const arrived = await served.send(at, { headers: { ...HTML, ...from('cross-site', 'navigate', 'document') } })
      expect([arrived.status, arrived.headers.get('refresh')]).toEqual([200, `0; url=${back}`])
    }
    const path = '/sessions/%E6%BC%A2%0D%0A/board/new'
    const dialog = await parley().send(path, { headers: { ...HTML, 'hx-request': 'true' } })
    expect([dialog.status, dialog.headers.get('hx-redirect')]).toEqual([200, path])
  })

  describe('a link on another page, followed without the cookie that browsers withhold there,', () => {
    const followed = (served: Served, path: string, cookie?: string, more: Record<string, string> = {}) =>
      served.send(path, { headers: { ...HTML, ...from('cross-site', 'navigate', 'document'), ...(cookie && { cookie }), ...more } })
    const setOf = (response: Response) => response.headers.getSetCookie().map((set) => set.split(';')[0])
    const isAskedAgain = async (response: Response) => response.status === 200 && (await response.text()).includes('/public/again.js')

    test('is asked for once more by a page of ours, once, where somebody has signed in', async () => {
      const served = await chosen()
      const person = (await form(served, CHOSEN.OPERATOR_KEY)).headers.getSetCookie()[0]!.split(';')[0]!
      const marked = (await served.send('/approvals', { headers: { ...HTML, cookie: person } })).headers.getSetCookie()
      expect(marked).toEqual([expect.stringMatching(/^parley_in=1; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)])
      expect(setOf(await served.send('/approvals', { headers: { ...HTML, cookie: `${person}; parley_in=1` } }))).toEqual([])

      const first = await followed(served, '/search?q=%E6%BC%A2&url=//evil.example"', 'parley_in=1')
      expect([first.headers.get('cache-control'), first.headers.get('location'), setOf(first)]).toEqual(['no-store', null, ['parley_in=']])
      const text = await first.text()
      expect(text).toContain('content="0; url=/search?q=%E6%BC%A2&amp;url=//evil.example%22"')
      expect(text).toContain('/public/again.js')
      expect((await followed(served, '/search?q=x')).headers.get('location')).toBe('/sign-in?next=%2Fsearch%3Fq%3Dx')
      expect(await isAskedAgain(await followed(served, '/search', `parley_in=1; ${person}`))).toBe(false)
    })

    test('is answered at once where nobody has, and where it leads to no page', async () => {
      const { id } = await room(viaRest(parley()))
      for (const path of ['/', '/approvals', `/sessions/${id}`, '/settings']) {
        expect([path, await isAskedAgain(await followed(parley(), path))]).toEqual([path, false])
        expect([path, await isAskedAgain(await followed(parley(), path, 'parley_in=1'))]).toEqual([path, true])
        expect(await isAskedAgain(await followed(parley(), path, 'parley_in=1', { 'hx-request': 'true' }))).toBe(false)
      }
      for (const path of [`/sessions/${id}.md`, `/sessions/${id}/feed.jsonl`, '/shared/x', '/join/x', '/sign-in', '/public/icon.svg'])
        expect([path, await isAskedAgain(await followed(parley(), path, 'parley_in=1'))]).toEqual([path, false])
    })

    test('is answered at once after signing out', async () => {
      const response = await parley().send('/sign-out', { method: 'POST', headers: { ...HTML, origin: BASE } })
      expect(setOf(response)).toContain('parley_in=')
    })
  })

  test('the page says where the key is from: chosen, or made here', async () => {
    const said = async (served: Served) => (await served.send('/sign-in', { headers: HTML })).text()
    expect(await said(await chosen())).toMatch(/The key is the <code[^>]*>OPERATOR_KEY<\/code>/)
    expect(await said(parley())).toMatch(/<code[^>]*>bun run operator-key<\/code> makes a new one/)
  })

  // As where all visitors come from a proxy's address.
  test('the key that was made here passes however many wrong ones came from its address', async () => {
    const { served, key } = await generated()
    for (let n = 0; n < 2 * TRIES; n++) for (const send of [form, link]) await send(served, `op_${'A'.repeat(32)}`)
    expect([(await form(served, 'wrong')).status, (await link(served, 'wrong')).status]).toEqual([429, 429])
    expect(isIn(await form(served, key))).toBe(true)
    expect(isIn(await link(served, key, OPENED))).toBe(true)
    expect(isIn(await link(served, key, from('cross-site', 'navigate', 'document')))).toBe(true)
    expect(
      (
        await form(
          served,
          key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
        )
      ).status,
    ).toBe(429)
    const old = key
    await newOperatorKey(served.services)
    expect(isIn(await form(served, old))).toBe(false)
  })
})
