// MAX_WAITS_PER_ADDRESS and MAX_STREAMS_PER_ADDRESS: what one address may hold, so that it cannot take all places.
import { expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, refused, room, soon, throughBothDoors, type Served } from '../support/parley.ts'

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const ENV = { TRUST_PROXY: 'true', MAX_WAITS_PER_ADDRESS: '2', MAX_STREAMS_PER_ADDRESS: '1' }

throughBothDoors((call, parley) => {
  const waits = (held: number) => soon(`${held} held`, () => parley().services.waits.held + parley().services.peeks.held === held)

  test('the port that some proxies add makes no other address of it', async () => {
    const { alex, bea } = await room(call)
    const { cursor: since_cursor } = await done(alex('post_message', { content: 'go' }))
    const wait = (address: string) => bea('wait_for_messages', { since_cursor, timeout: 20 }, from(address))
    const held = [wait('10.0.0.7:50123'), wait('10.0.0.7:50124'), wait('[2001:db8:7::1]:50123'), wait('2001:db8:7::2')]
    await waits(4)
    for (const address of ['10.0.0.7', '10.0.0.7:50125', '[2001:db8:7::3]:50125', '[2001:db8:7::3]'])
      await refused(wait(address), 'rate_limited')
    await done(alex('post_message', { content: 'that ends them' }))
    await Promise.all(held)
    await waits(0)
  })

  test('waits and peeks of an address past its limit are 429 with when to come again; another address has its own', async () => {
    const { id, alex, bea } = await room(call)
    const { cursor: since_cursor } = await done(alex('post_message', { content: 'go' }))
    const wait = { since_cursor, timeout: 20 }
    const held = [alex('wait_for_messages', wait, from('10.0.0.1')), bea('peek', { after: since_cursor, timeout: 20 }, from('10.0.0.1'))]
    await waits(2)
    for (const [tool, input] of [
      ['wait_for_messages', wait],
      ['peek', { after: since_cursor, timeout: 20 }],
    ] as const) {
      const error = await refused(bea(tool, input, from('10.0.0.1')), 'rate_limited')
      expect(error.message).toContain('MAX_WAITS_PER_ADDRESS')
      expect(error.details.retry_after).toBeGreaterThan(0)
    }
    const any = { waits: [{ session_id: id, team_id: bea.token, since_cursor }] }
    const { results } = await done(call('wait_for_any', { ...any, timeout: 20 }, from('10.0.0.1')))
    expect(results).toMatchObject([{ error: { code: 'rate_limited' } }])
    await done(bea('wait_for_messages', { since_cursor: 0, timeout: 20 }, from('10.0.0.1'))) // need not be held
    held.push(bea('wait_for_messages', wait, from('10.0.0.2')))
    await waits(3)
    await done(alex('post_message', { content: 'end' }))
    for (const one of held) await done(one)
    await waits(0)
    expect(parley().services.waitsOfAddress.holders).toBe(0)
  })

  test('of IPv6 all addresses of one /64 are one, and a mapped address is that of IPv4', async () => {
    const { alex, bea } = await room(call)
    const { cursor: since_cursor } = await done(alex('post_message', { content: 'go' }))
    const wait = { since_cursor, timeout: 20 }
    const held = [
      ...['2001:db8:0:1::a', '2001:DB8::1:2:3:4:5'].map((address) => alex('wait_for_messages', wait, from(address))),
      ...['10.0.0.1', '::ffff:10.0.0.1'].map((address) => bea('wait_for_messages', wait, from(address))),
    ]
    await waits(4)
    for (const address of ['2001:db8:0:1:ffff::1', '::ffff:a00:1'])
      await refused(bea('wait_for_messages', wait, from(address)), 'rate_limited')
    held.push(bea('wait_for_messages', wait, from('2001:db8:0:2::a')))
    await waits(5)
    await done(alex('post_message', { content: 'end' }))
    for (const one of held) await done(one)
  })

  test('a stream of an address past its limit is 429, of whichever kind, until another of its own ends', async () => {
    const { id } = await room(call)
    const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const paths = [`/api/sessions/${id}/stream`, `/sessions/${id}/live`, '/approvals/live']
    const open = (path: string, address: string, method = 'GET') =>
      parley().send(path, { method, headers: { cookie, ...from(address).headers } })
    for (const first of paths) {
      const stream = await open(first, '10.0.0.1')
      expect([first, stream.status]).toEqual([first, 200])
      for (const path of paths) {
        const refusal = await open(path, '10.0.0.1')
        expect([path, refusal.status, Number(refusal.headers.get('retry-after')) > 0]).toEqual([path, 429, true])
        await refusal.body?.cancel()
      }
      const other = await open(first, '10.0.0.2')
      expect(other.status).toBe(200)
      await Promise.all([stream.body!.cancel(), other.body!.cancel()])
      await none(parley())
    }
    for (const path of paths) await open(path, '10.0.0.1', 'HEAD')
    await none(parley())
  })
}, ENV)

const none = ({ services }: Served) => soon('none is open', () => services.streams.open === 0 && services.streamsOfAddress.holders === 0)
