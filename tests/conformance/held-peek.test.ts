// peek with a timeout: it is held until a message may wake the team, consumes nothing and moves no cursor.
import { describe, expect } from 'bun:test'
import { purgeArguments } from '../../src/cli/purge.ts'
import { purge } from '../../src/process/purge.ts'
import { test } from '../support/foreign.ts'
import { figureIn } from '../support/metrics.ts'
import { cookieOf, done, leaveTrace, refused, room, say, seat, soon, throughBothDoors, viaRest, type Seat } from '../support/parley.ts'

const watch = (who: Seat, more: Record<string, unknown> = {}, signal?: AbortSignal) =>
  who('peek', { timeout: 20, ...more }, signal ? { signal } : {})
const waited = (who: Seat, more: Record<string, unknown> = {}) => done(who('wait_for_messages', { timeout: 0, ...more }))
const texts = (messages: any[]) => messages.filter(({ content }) => content).map(({ content }) => content.text)

throughBothDoors((call, parley) => {
  const held = (count: number) => soon(`${count} held`, () => parley().services.peeks.held === count)
  const three = async () => {
    const { id, alex, bea } = await room(call)
    const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: 'Cleo' })))
    for (const who of [alex, bea, cleo]) await waited(who)
    return { id, alex, bea, cleo }
  }

  describe('a held peek', () => {
    test('ends when another team posts, says how much there is, and consumes nothing', async () => {
      const { alex, bea } = await three()
      const watching = watch(bea)
      await held(1)
      const { cursor } = await say(alex, 'wake up', { to: [bea.handle] })
      const answer = { unread: 1, addressed: 1, last_cursor: cursor, doc_version: 0, wake: true }
      expect(await done(watching)).toEqual(answer)
      expect(await done(bea('peek'))).toEqual(answer)
      expect(await done(watch(bea))).toEqual(answer) // without `after`, what was delivered: nothing was
      expect(texts((await waited(bea)).messages)).toEqual(['wake up'])
      await held(0)
    })

    test('answers at once when something is there already, whatever landed between the look and the hold', async () => {
      const { alex, bea } = await three()
      const { cursor } = await say(alex, 'first')
      const rounds = 20
      for (let after = cursor, n = 0; n < rounds; n++) {
        const [posted, woken] = await Promise.all([say(alex, `message ${n}`), done(watch(bea, { after }))])
        expect(woken).toMatchObject({ unread: 1, last_cursor: posted.cursor, wake: true })
        after = woken.last_cursor
      }
    })

    test('goes on with after: what was told once is not told again, though nobody has read it', async () => {
      const { alex, bea } = await three()
      const { cursor } = await say(alex, 'one')
      const first = await done(watch(bea))
      expect(first).toMatchObject({ unread: 1, last_cursor: cursor, wake: true })
      const again = watch(bea, { after: first.last_cursor })
      await held(1)
      await say(alex, 'two')
      expect(await done(again)).toMatchObject({ unread: 1, last_cursor: cursor + 1, wake: true })
      expect(await done(bea('peek', { after: cursor }))).toMatchObject({ unread: 1, wake: true })
      expect(await done(bea('peek'))).toMatchObject({ unread: 2, wake: true })
    })

    test('ends with its time when nothing comes, and then says so', async () => {
      const { bea } = await three()
      const { last_cursor } = await done(bea('peek'))
      const began = performance.now()
      const nothing = { unread: 0, addressed: 0, last_cursor, doc_version: 0, wake: false }
      expect(await done(watch(bea, { timeout: 0.2, after: last_cursor }))).toEqual(nothing)
      expect(performance.now() - began).toBeGreaterThanOrEqual(190)
      expect(await done(bea('peek', { timeout: 0, after: last_cursor }))).toEqual(nothing)
      expect(await done(bea('peek', { timeout: -1 }))).toMatchObject({ wake: false })
    })

    test('sleeps through what its own team says and does, and through the trace', async () => {
      const { id, alex, bea } = await three()
      const watching = watch(bea)
      await held(1)
      await say(bea, 'my own')
      await done(bea('update_session_metadata', { title: 'Another title', reason: 'I changed my mind.' }))
      await leaveTrace(parley(), id, 'tool_call', 'rg parser')
      await done(alex('append_to_session_doc', { text: 'A note is no message.' }))
      await Bun.sleep(50)
      expect(parley().services.peeks.held).toBe(1)
      await say(alex, 'and this is one')
      expect(await done(watching)).toMatchObject({ unread: 1, addressed: 0, doc_version: 1, wake: true })
    })

    test('for addressed messages alone ends with what names the team or answers it', async () => {
      const { alex, bea, cleo } = await three()
      const asked = await say(bea, 'Who takes the lexer?')
      for (const more of [{ to: ["Bea's Team"] }, { reply_to: asked.message_id }]) {
        const { last_cursor: after } = await done(bea('peek'))
        const watching = watch(bea, { only: 'addressed', after })
        await held(1)
        await say(alex, 'for nobody in particular')
        await say(alex, 'for Cleo', { to: [cleo.handle] })
        const forAlex = await say(cleo, 'a question of my own')
        await say(alex, 'an answer to Cleo', { reply_to: forAlex.message_id })
        await Bun.sleep(50)
        expect(parley().services.peeks.held).toBe(1)
        await say(alex, 'for Bea', more)
        expect(await done(watching)).toMatchObject({ unread: 5, addressed: 1, wake: true })
      }
    })

    test('a message wakes the sleepers of its own session alone', async () => {
      const [one, other] = [await three(), await three()]
      const [watching, sleeping] = [watch(one.bea), watch(other.bea)]
      await held(2)
      await say(one.alex, 'here')
      expect(await done(watching)).toMatchObject({ wake: true })
      await held(1)
      await say(other.alex, 'there')
      expect(await done(sleeping)).toMatchObject({ wake: true })
    })

    test('a conclusion wakes, and a peek in a concluded session is not held', async () => {
      const { alex, bea } = await three()
      const watching = watch(bea)
      await held(1)
      await done(alex('conclude_session', { summary_section: 'It ships.' }))
      const answer = await done(watching)
      expect(answer).toMatchObject({ unread: 1, doc_version: 1, wake: true, session_closed: true })
      const after = answer.last_cursor
      expect(await done(watch(bea, { after }))).toMatchObject({ unread: 0, wake: false, session_closed: true })
      expect(await done(watch(alex))).toMatchObject({ wake: false, session_closed: true }) // its own conclusion is no news to it
    })

    test('what a person says wakes', async () => {
      const { id, bea } = await three()
      const watching = watch(bea)
      await held(1)
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await done(viaRest(parley())('post_message', { session_id: id, content: 'Stop.' }, { person }))
      expect(await done(watching)).toMatchObject({ unread: 1, wake: true })
    })

    test('refuses a cursor beyond the end, and says where the end is', async () => {
      const { alex, bea } = await three()
      const { last_sequence } = await done(alex('get_session'))
      for (const timeout of [0, 20]) {
        const { details } = await refused(bea('peek', { timeout, after: last_sequence + 1 }), 'invalid_request')
        expect(details).toMatchObject({ field: 'after', last_sequence })
      }
      await refused(bea('peek', { after: -1 }), 'invalid_request')
      await refused(bea('peek', { only: 'others' }), 'invalid_request')
      expect(parley().services.peeks.held).toBe(0)
    })

    test('a team holds 32 at once, and a message ends them all as one wake', async () => {
      const { alex, bea } = await three()
      const watching = Array.from({ length: 32 }, () => done(watch(bea)))
      await held(32)
      const { details } = await refused(watch(bea), 'rate_limited')
      expect(details.retry_after).toBeGreaterThan(0)
      const before = await parley().services.metrics.text()
      await say(alex, 'all of you')
      expect((await Promise.all(watching)).map(({ wake }) => wake)).toEqual(Array(32).fill(true))
      await held(0)
      expect(allowedIn(await parley().services.metrics.text()) - allowedIn(before)).toBe(1)
    })

    test('ends when its session is purged, and is the end of no other that is asked with it', async () => {
      const [gone, stays] = [await three(), await three()]
      const watching = watch(gone.bea, { timeout: 3 }) // the purge is over by then
      await held(1)
      const { services } = parley()
      expect(await purge(services, purgeArguments([gone.id, '--yes']))).toMatchObject({ purged: 1 })
      await refused(watching, 'unauthorized')
      const ask = ({ id, bea }: typeof gone) =>
        services.wakes.ask({ sessionId: id, teamId: bea.handle, after: 1, addressedAfter: 1, addressedOnly: false, claims: true })
      const together = await Promise.allSettled([ask(gone), ask(stays)])
      expect(together).toMatchObject([
        { status: 'rejected', reason: { code: 'unauthorized' } },
        { status: 'fulfilled', value: { unread: 1, wake: true } },
      ])
    })

    test('a team that has left holds no peek', async () => {
      const { bea } = await three()
      await done(bea('leave_session'))
      await refused(watch(bea), 'unauthorized')
    })
  })
})

const allowedIn = (metrics: string) => figureIn(metrics, 'parley_wakes_total{outcome="allowed"}')

throughBothDoors((call, parley, transport) => {
  if (transport === 'MCP') return
  const url = (id: string, query = '') => `/api/sessions/${id}/unread?${query}`

  describe('GET /:id/unread?timeout=', () => {
    test('is streamed to who asks for events, with something at once that keeps the connection open', async () => {
      const { id, alex, bea } = await room(call)
      await waited(bea)
      const headers = { 'x-team-id': bea.token, accept: 'text/event-stream' }
      const response = await parley().send(url(id, 'timeout=20'), { headers })
      expect([response.status, response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
        null,
      ])
      const reader = response.body!.getReader()
      const text = async () => new TextDecoder().decode((await reader.read()).value)
      expect(await text()).toBe(': waiting\n\n')
      await say(alex, 'news')
      const [event, data] = (await text()).trim().split('\ndata: ')
      expect([event, JSON.parse(data!).wake]).toEqual(['event: message', true])
    })

    test('the ETag is another one once the document is', async () => {
      const { id, alex, bea } = await room(call)
      await waited(bea)
      const ask = (etag = '') => parley().send(url(id), { headers: { 'x-team-id': bea.token, 'if-none-match': etag } })
      const etag = (await ask()).headers.get('etag')!
      expect((await ask(etag)).status).toBe(304)
      await done(alex('append_to_session_doc', { text: '- a note' }))
      const changed = await ask(etag)
      expect([changed.status, (await changed.json()).doc_version]).toEqual([200, 1])
    })

    test('when the server stops it is answered, wakes nobody and takes no wake', async () => {
      const other = await parley().beside({})
      const { id, alex, bea } = await room(viaRest(other))
      await waited(bea)
      const watching = done(watch(bea))
      await soon('it is held', () => other.services.peeks.held === 1)
      other.services.drain()
      expect(await done(alex('post_message', { content: 'too late' }))).toMatchObject({ cursor: 2 })
      expect((await watching).wake).toBe(false)
      expect(allowedIn(await other.services.metrics.text())).toBe(0)
      await other.close()
      const back = seat(call, { session_id: id, team_id: bea.token, handle: bea.handle })
      expect(await done(watch(back))).toMatchObject({ unread: 1, wake: true })
    })

    // Over MCP a client says so by a notification, which the door drops.
    test('ends when its caller hangs up, who takes no wake', async () => {
      const { alex, bea } = await room(call)
      await waited(bea)
      const gone = new AbortController()
      const watching = watch(bea, {}, gone.signal).catch(() => {})
      await soon('it is held', () => parley().services.peeks.held === 1)
      gone.abort()
      await soon('it is let go', () => parley().services.peeks.held === 0 && parley().services.waiters.size === 0)
      await watching
      await say(alex, 'late')
      expect(await done(watch(bea))).toMatchObject({ unread: 1, wake: true })
    })

    test('a HEAD request is not held, and takes no wake', async () => {
      const { id, alex, bea } = await room(call)
      await waited(bea)
      const head = () => parley().send(url(id, 'timeout=20'), { method: 'HEAD', headers: { 'x-team-id': bea.token } })
      expect((await head()).status).toBe(200)
      await say(alex, 'news')
      const before = allowedIn(await parley().services.metrics.text())
      expect((await head()).status).toBe(200)
      expect(allowedIn(await parley().services.metrics.text())).toBe(before)
      expect((await done(watch(bea))).wake).toBe(true)
    })
  })
})
