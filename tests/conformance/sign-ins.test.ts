// Sign-ins are rows: they end at once and everywhere, are listed, and a name that is bound to a link is nobody else's.
import { describe, expect } from 'bun:test'
import { newOperatorKey } from '../../src/process/operator-key.ts'
import { linkForPerson } from '../../src/process/sign-ins.ts'
import { test } from '../support/foreign.ts'
import { endsWithin, enterByLink, signInIdOf, verifiedCookie } from '../support/keys.ts'
import { fewestStatements } from '../support/fewest-statements.ts'
import { cookieOf, done, feedOf, onOneEngine, refused, room, soon, viaRest, whileHeld, type Served } from '../support/parley.ts'
import { importedAround } from '../support/transcripts.ts'

const ENV = { VIEWER_PASSWORD: 'look-but-do-not-touch', OPERATOR_KEY: 'chosen by a person' }

onOneEngine((parley) => {
  const page = (served: Served, path: string, cookie: string) => served.send(path, { headers: { cookie, accept: 'text/html' } })
  const submit = (served: Served, path: string, fields: Record<string, string>, cookie = '') =>
    served.send(path, {
      method: 'POST',
      headers: { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  const cookieIn = (response: Response) =>
    response.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('parley_person='))
      ?.split(';')[0] ?? ''
  const signIn = async (served: Served, name: string, key = ENV.OPERATOR_KEY) => cookieIn(await submit(served, '/sign-in', { key, name }))
  const isIn = async (served: Served, cookie: string) => (await page(served, '/settings', cookie)).status === 200

  test('a cookie that was copied before sign-out is refused on every instance at once, and its calls and streams end', async () => {
    const here = await parley().beside(ENV)
    const there = parley().engine === 'postgres' ? await parley().beside(ENV) : here
    const { id, alex } = await room(viaRest(parley()))
    const [cookie, other] = [await signIn(here, 'Robin'), await signIn(here, 'Robin')]
    for (const served of [here, there]) expect([await isIn(served, cookie), await isIn(served, other)]).toEqual([true, true])
    const streams = await Promise.all(
      [`/api/sessions/${id}/stream`, `/sessions/${id}/live?after=0&doc=0`].map((path) => there.send(path, { headers: { cookie } })),
    )
    const spared = await there.send(`/api/sessions/${id}/stream`, { headers: { cookie: other } })
    const wait = there.send(`/api/sessions/${id}/wait?since_cursor=1&timeout=20`, { headers: { cookie, 'x-team-id': alex.token } })
    const ends = streams.map((stream) => endsWithin(stream, 60_000))
    await soon('all are open', () => there.services.streams.open === 3 && there.services.waits.held === 1)

    const out = await submit(here, '/sign-out', {}, cookie)
    expect([out.status, cookieIn(out)]).toEqual([303, 'parley_person='])
    expect(await isIn(here, cookie)).toBe(false)
    await soon('the other instance has heard of it', async () => !(await isIn(there, cookie)))
    for (const served of [here, there]) {
      expect(await isIn(served, cookie)).toBe(false)
      expect((await served.send(`/api/sessions/${id}/messages`, { body: 'hello', headers: { cookie } })).status).toBe(401)
      expect(await isIn(served, other)).toBe(true)
    }
    expect(await Promise.all(ends)).toEqual([true, true])
    expect((await wait).status).toBe(401)
    await soon('the other one’s stream is all that is left', () => there.services.streams.open === 1)
    await spared.body?.cancel()
    await here.close()
    await there.close()
  })

  test('a stream that came with a sign-in ends with it also where everybody may read', async () => {
    const { id } = await room(viaRest(parley()))
    const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const stream = await parley().send(`/api/sessions/${id}/stream`, { headers: { cookie } })
    const ends = endsWithin(stream, 60_000)
    await submit(parley(), '/sign-out', {}, cookie)
    expect(await ends).toBe(true)
    expect((await page(parley(), '/', cookie)).status).toBe(200) // as a stranger
  })

  test.each([
    ['append_to_session_doc', { text: 'late' }],
    ['post_message', { content: 'late' }],
  ])('a write that waited while its sign-in ended is refused: %s', async (name, input) => {
    if (parley().engine === 'pglite') return // it has one connection: nothing waits beside another
    const { id, alex } = await room(viaRest(parley()))
    const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    await refused(
      whileHeld(
        parley(),
        id,
        () => viaRest(parley())(name, { session_id: id, ...input }, { person: cookie }),
        () => submit(parley(), '/sign-out', {}, cookie),
      ),
      'unauthorized',
    )
    expect((await done(alex('read_session_doc'))).version).toBe(0)
    expect(await feedOf(alex)).toHaveLength(1)
  })

  test('a message whose text comes in after its sign-in ended is refused', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    await done(viaRest(parley())('post_message', { session_id: id, content: 'in time' }, { person: cookie }))
    const [reading, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          reading.resolve()
          await ended.promise
          controller.enqueue(new TextEncoder().encode('late'))
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    const late = parley().send(`/api/sessions/${id}/messages`, { body, headers: { cookie, 'content-type': 'text/plain' } })
    await reading.promise
    await submit(parley(), '/sign-out', {}, cookie)
    ended.resolve()
    expect((await late).status).toBe(401)
    expect(await feedOf(alex)).toHaveLength(2)
  })

  test('cookies of another shape, forged, of another row, and those of earlier versions are a stranger’s', async () => {
    const served = await parley().beside(ENV)
    const good = await signIn(served, 'Robin')
    const other = await signIn(served, 'Kim')
    const [id, secret] = good.split('=')[1]!.split('.') as [string, string]
    const old = `${Buffer.from(JSON.stringify({ name: 'Robin', role: 'person', until: Date.now() + 1e9 })).toString('base64url')}.${'A'.repeat(43)}`
    for (const bad of [
      '',
      'x',
      id,
      `${id}.`,
      `${id}.${'A'.repeat(32)}`,
      `${signInIdOf(other)}.${secret}`,
      `${crypto.randomUUID()}.${secret}`,
      old,
    ])
      expect([bad, await isIn(served, `parley_person=${bad}`)]).toEqual([bad, false])
    expect(await isIn(served, good)).toBe(true)
    await served.close()
  })

  test('the operator key still ends all of them, and 30 days end each', async () => {
    const served = await parley().beside({ VIEWER_PASSWORD: ENV.VIEWER_PASSWORD })
    const key = await newOperatorKey(served.services)
    const [cookie, named] = [await signIn(served, 'Robin', key), await verifiedCookie(served, `Noa ${parley().engine}`)]
    expect([await isIn(served, cookie), await isIn(served, named)]).toEqual([true, true])
    let next = ''
    const { answer, added } = await importedAround(served, { cookie }, async () => (next = await newOperatorKey(served.services)))
    expect([answer.status, added]).toEqual([401, 0])
    expect([await isIn(served, cookie), await isIn(served, named)]).toEqual([false, false])
    const again = await signIn(served, 'Robin', next)
    await parley().database.query("update sign_ins set made_at = now() - interval '30 days' where id = $1", [signInIdOf(again)])
    expect(await isIn(served, again)).toBe(false)
    await served.close()
  })

  test('no row holds a cookie’s secret, and no log line', async () => {
    const served = await parley().beside(ENV)
    const cookie = await signIn(served, 'Robin')
    const rows = await parley().database.query<{ row: string }>('select sign_ins::text as row from sign_ins')
    const secret = cookie.split('.')[1]!
    expect(rows.map(({ row }) => row).join()).not.toContain(secret)
    expect(served.logged.join()).not.toContain(secret)
    await served.close()
  })

  test('costs no query while it is used without pause', async () => {
    const served = await parley().beside(ENV)
    const cookie = await signIn(served, 'Robin')
    const ask = async () => expect((await served.send('/api/config', { headers: { cookie } })).status).toBe(200)
    await soon('it is remembered', async () => {
      const before = served.database.statements()
      await ask()
      return served.database.statements() === before
    })
    const often = async () => {
      for (let n = 0; n < 20; n++) await ask()
    }
    expect(await fewestStatements(served.database, often, 4)).toBeLessThan(5) // background jobs, and a proof now and then
    await served.close()
  })

  describe('on /settings/keys', () => {
    test('each is listed, this one marked, when it was used last to the minute, and can be ended', async () => {
      const served = await parley().beside(ENV, undefined, { intervals: { 'last-uses': 20 } })
      const [own, other] = [await signIn(served, 'Robin'), await signIn(served, 'Kim at the office')]
      const reader = await signIn(served, 'Lee', ENV.VIEWER_PASSWORD)
      let listed = ''
      await soon('its use of three hours ago is shown', async () => {
        // Again, should the use by which it signed in be written only now.
        await parley().database.query("update sign_ins set last_used_at = now() - interval '3 hours' where id = $1", [signInIdOf(other)])
        listed = await (await page(served, '/settings/keys', own)).text()
        return listed.includes('3h ago')
      })
      expect(listed.match(/this one/g)).toHaveLength(1)
      expect(listed).toContain('Kim at the office')
      expect(listed).toContain('reads only')
      await page(served, '/settings', other)
      await soon('its use is written', async () => {
        const [row] = await parley().database.query<{ at: string }>('select last_used_at as at from sign_ins where id = $1', [
          signInIdOf(other),
        ])
        return row!.at.endsWith(':00.000Z')
      })
      expect((await submit(served, '/settings/sign-ins/end', { sign_in_id: signInIdOf(other) }, own)).headers.get('location')).toBe(
        '/settings/keys?done=ended',
      )
      expect([await isIn(served, other), await isIn(served, own), await isIn(served, reader)]).toEqual([false, true, true])
      expect(await (await page(served, '/settings/keys', own)).text()).not.toContain('Kim at the office')
      expect((await submit(served, '/settings/sign-ins/end', { sign_in_id: 'nonsense' }, own)).status).toBe(400)
      expect((await submit(served, '/settings/sign-ins/end', { sign_in_id: signInIdOf(own) }, own)).headers.get('location')).toBe('/')
      expect(await isIn(served, own)).toBe(false)
      await served.close()
    })

    test('all are reached, however many there are', async () => {
      const own = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await parley().database.query(
        `insert into sign_ins (id, secret_hash, name, role, verified, under, last_used_at)
         select gen_random_uuid(), '', 'Browser ' || n, 'person', false, (select under from sign_ins where id = $1),
           date_trunc('minute', now()) - interval '1 hour' from generate_series(1, 230) n`,
        [signInIdOf(own)],
      )
      const seen = new Set<string>()
      for (let path: string | undefined = '/settings/keys'; path !== undefined;) {
        const html: string = await (await page(parley(), path, own)).text()
        for (const [name] of html.matchAll(/Browser \d+/g)) seen.add(name)
        path = /href="([^"]*sign_ins=[^"#]*)/.exec(html)?.[1]
      }
      expect(seen.size).toBe(230)
      await parley().database.query("delete from sign_ins where name like 'Browser %'")
    })
  })

  describe('a name that is bound to a link', () => {
    const name = (n: string) => `${n} on ${parley().engine}`

    test('is signed in by the link once, and that person is verified', async () => {
      const served = await parley().beside(ENV)
      const { token } = await linkForPerson(served.services, name('Alex'))
      const path = `/sign-in?key=${token.handle}.${token.secret}&next=/settings`
      // A chat's preview of the link uses nothing up: it shows a button.
      for (const method of ['HEAD', 'GET', 'GET']) {
        const seen = await served.send(path, { method, headers: { accept: 'text/html' } })
        expect([seen.status, seen.headers.getSetCookie(), seen.headers.get('referrer-policy')]).toEqual([200, [], 'strict-origin'])
        if (method === 'GET') expect(await seen.text()).toContain(`Sign in as ${name('Alex')}`)
      }
      const press = (headers: Record<string, string> = {}) =>
        served.send('/sign-in', {
          method: 'POST',
          headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams({ key: `${token.handle}.${token.secret}`, next: '/settings' }).toString(),
        })
      for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
        expect((await press(foreign)).status).toBe(403)
      const entered = await press()
      expect([entered.status, entered.headers.get('location')]).toEqual([303, '/settings'])
      const { id, alex } = await room(viaRest(parley()))
      await done(viaRest(served)('post_message', { session_id: id, content: 'It is me.' }, { person: cookieIn(entered) }))
      expect((await feedOf(alex)).at(-1)).toMatchObject({ author: 'person', team: name('Alex') })
      const [row] = await parley().database.query('select name, verified, role from sign_ins where id = $1', [
        signInIdOf(cookieIn(entered)),
      ])
      expect(row).toEqual({ name: name('Alex'), verified: true, role: 'person' })
      expect(await (await page(served, '/settings/keys', cookieIn(entered))).text()).toContain('named')
      for (const again of [await served.send(path, { headers: { accept: 'text/html' } }), await press()]) {
        expect([again.status, cookieIn(again)]).toEqual([401, ''])
        expect(await again.text()).toMatch(/This link has signed .* in, once, .*bun run key person/)
      }
      await served.close()
    })

    test('of 10 who press the link’s button at once one is let in', async () => {
      const { token } = await linkForPerson(parley().services, name('Bea'))
      const answers = await Promise.all(Array.from({ length: 10 }, () => enterByLink(parley(), `${token.handle}.${token.secret}`)))
      expect(answers.filter((answer) => cookieIn(answer) !== '')).toHaveLength(1)
    })

    test('cannot be typed by whoever has the operator key, however it is written: 409, and nobody is signed in', async () => {
      const served = await parley().beside(ENV)
      await linkForPerson(served.services, name('Cléo'))
      const width = [...name('Cléo')].map((c) => (/[!-~]/.test(c) ? String.fromCodePoint(c.codePointAt(0)! + 0xfee0) : c)).join('')
      for (const typed of [name('Cléo'), name('cléo').toUpperCase(), name('Cle\u0301o'), ` ${name('Cléo')} `, width]) {
        for (const response of [
          await submit(served, '/sign-in', { key: ENV.OPERATOR_KEY, name: typed }),
          await served.send(`/sign-in?${new URLSearchParams({ key: ENV.OPERATOR_KEY, name: typed })}`, {
            headers: { accept: 'text/html' },
          }),
        ]) {
          expect([typed, response.status, cookieIn(response)]).toEqual([typed, 409, ''])
          expect(await response.text()).toContain('signs in by a link of their own')
        }
      }
      const wrong = await submit(served, '/sign-in', { key: 'a wrong key, not it', name: name('Cléo') })
      expect([wrong.status, (await wrong.text()).includes('link of their own')]).toEqual([401, false]) // told to nobody without the key
      expect(await signIn(served, name('Cleo'))).not.toBe('')
      await served.close()
    })

    test('ends the sign-ins of that name that were typed before, and no other’s', async () => {
      const served = await parley().beside(ENV)
      const [typed, other] = [await signIn(served, name('dan')), await signIn(served, name('Daniel'))]
      await linkForPerson(served.services, name('Dan'))
      expect([await isIn(served, typed), await isIn(served, other)]).toEqual([false, true])
      await served.close()
    })

    test('gets a new link, which replaces the one before and leaves the person signed in', async () => {
      const served = await parley().beside(ENV)
      const cookie = await verifiedCookie(served, name('Eve'))
      const [first, second] = [await linkForPerson(served.services, name('Eve')), await linkForPerson(served.services, name('Eve'))]
      const open = async ({ token }: typeof first) => cookieIn(await enterByLink(served, `${token.handle}.${token.secret}`))
      const told = async ({ token }: typeof first) => (await served.send(`/sign-in?key=${token.handle}.${token.secret}`)).text()
      expect(await told(first)).toContain('a newer one has replaced it. Ask whoever runs this server')
      expect(await open(first)).toBe('')
      expect(await open(second)).not.toBe('')
      expect(await isIn(served, cookie)).toBe(true)
      const { token, expiresAt } = await linkForPerson(served.services, name('Eve'))
      expect(Date.parse(expiresAt) - Date.now()).toBeWithin(6.9 * 86_400_000, 7.1 * 86_400_000)
      await parley().database.query('update people set link_expires_at = now() where link_id = $1', [token.handle])
      expect(await open({ token } as typeof first)).toBe('')
      expect(await told({ token } as typeof first)).toMatch(/This link expired on .* Ask whoever runs this server/)
      await served.close()
    })

    test('is bound on the page by whoever has the operator key, where it has no link yet, and again by its person alone', async () => {
      const served = await parley().beside(ENV)
      const make = async (cookie: string, fields: Record<string, string>) => {
        const response = await submit(served, '/settings/sign-ins/link', fields, cookie)
        const text = await response.text()
        return { status: response.status, text, link: /\/sign-in\?key=([\w.-]+)/.exec(text)?.[1] ?? '' }
      }
      const robin = await signIn(served, name('Robin'))
      const lost = await make(robin, { person: ` ${name('Fay')} ` })
      expect(lost).toMatchObject({ status: 200, text: expect.stringContaining(`The sign-in link of ${name('Fay')}`) })
      const made = await make(robin, { person: name('Fay') }) // nobody has used the first one
      expect(cookieIn(await enterByLink(served, lost.link))).toBe('')
      for (const none of [{}, { person: '' }, { person: 'Operator' }])
        expect(await make(robin, none)).toMatchObject({ status: 400, link: '' })
      const fay = cookieIn(await enterByLink(served, made.link))
      expect(await make(robin, { person: name('FAY') })).toMatchObject({ status: 409, link: '' })
      expect(await make(fay, { person: name('Gil') })).toMatchObject({ status: 403, link: '' })
      const elsewhere = cookieIn(await enterByLink(served, (await make(fay, {})).link))
      for (const cookie of [robin, fay, elsewhere]) expect(await isIn(served, cookie)).toBe(true)
      // A link is no way back for somebody who was signed out.
      const kept = await make(fay, {})
      await submit(served, '/settings/sign-ins/end', { sign_in_id: signInIdOf(fay) }, robin)
      expect(cookieIn(await enterByLink(served, kept.link))).toBe('')
      const mine = await make(elsewhere, {})
      await submit(served, '/settings/sign-ins/end', { sign_in_id: signInIdOf(elsewhere) }, elsewhere)
      expect(cookieIn(await enterByLink(served, mine.link))).not.toBe('')
      const old = await make(robin, { person: name('Gil') })
      const later = await parley().beside({ ...ENV, OPERATOR_KEY: 'another-operator-key-of-the-test' })
      expect(cookieIn(await enterByLink(later, old.link))).toBe('')
      await later.close()
      await served.close()
    })

    test.each(['', '   ', 'x'.repeat(101), 'A\u202elex', 'Operator', 'OPERATOR'])('cannot be %j', async (bad) => {
      await expect(linkForPerson(parley().services, bad)).rejects.toMatchObject({ code: 'invalid_request' })
    })
  })
})
