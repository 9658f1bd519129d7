// To where this server can be made to send by whoever names an endpoint: a subscription comes from a browser, and is not trusted.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isPublicAddress } from '../../src/notices/address-rule.ts'
import { EndpointRefused } from '../../src/notices/push.ts'
import { createPushSender } from '../../src/notices/push-sender.ts'
import { startPushService, type PushService } from '../support/push-service.ts'

const PRIVATE = {
  'this machine': ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '::'],
  'a private network': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1', 'fec0::1'],
  'the local link, where clouds have their metadata': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  'a provider’s shared network': ['100.64.0.1', '100.127.255.255'],
  'IPv4 in IPv6 clothes': ['::ffff:10.0.0.1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::10.0.0.1', '64:ff9b::10.0.0.1', '2002:a00:1::1', '2001::1'],
  'a group or everybody': ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  'documentation, tests and the future': ['192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1', '2001:db8::1', '192.0.0.1'],
  'no address at all': ['', 'localhost', 'push.example', '1.2.3', '1.2.3.4.5'],
} // prettier-ignore
const PUBLIC = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8']

describe('the address rule', () => {
  test.each(Object.entries(PRIVATE))('takes nothing of %s for public', (_, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })

  test('takes public addresses of both kinds for public', () => {
    expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([])
  })
})

const soonEnough = () => AbortSignal.timeout(5_000)
const body = new Uint8Array([1, 2, 3])
const refusal = async (pending: Promise<unknown>): Promise<string> =>
  pending.then(
    () => 'it was sent',
    (error) => (error instanceof EndpointRefused ? error.message : `${(error as Error).name}: ${(error as Error).message}`),
  )

describe('an endpoint is refused before anything is sent', () => {
  const looked: string[] = []
  const NAMES: Record<string, string[]> = {
    'inside.example': ['10.1.2.3'],
    'both.example': ['8.8.8.8', '192.168.0.10'],
    'six.example': ['::1'],
    'mapped.example': ['::ffff:169.254.169.254'],
    'nothing.example': [],
  }
  const sender = createPushSender({ lookup: async (name) => (looked.push(name), NAMES[name] ?? []) })
  const NOT_PUBLIC = 'its address is not a public one'

  test.each([
    ['plain http', 'http://push.example/x', 'it is not https'],
    ['another scheme', 'ftp://push.example/x', 'it is not https'],
    ['a private address', 'https://10.0.0.1/x', NOT_PUBLIC],
    ['a private address in one number', 'https://2130706433/x', NOT_PUBLIC],
    ['a private address in hexadecimal', 'https://0x7f.1/x', NOT_PUBLIC],
    ['a private IPv6 address', 'https://[fd00::1]/x', NOT_PUBLIC],
    ['loopback in IPv6', 'https://[::1]:7423/x', NOT_PUBLIC],
    ['IPv4 within IPv6', 'https://[::ffff:127.0.0.1]/x', NOT_PUBLIC],
    ['a name that resolves to a private address', 'https://inside.example/x', NOT_PUBLIC],
    ['a name with a public and a private address', 'https://both.example/x', NOT_PUBLIC],
    ['a name that resolves to IPv6 loopback', 'https://six.example/x', NOT_PUBLIC],
    ['a name that resolves to IPv4 within IPv6', 'https://mapped.example/x', NOT_PUBLIC],
    ['a name without an address', 'https://nothing.example/x', NOT_PUBLIC],
  ])('%s', async (_, endpoint, why) => {
    expect(await refusal(sender.check(endpoint, soonEnough()))).toBe(why)
    expect(await refusal(sender.send({ endpoint, headers: {}, body, signal: soonEnough() }))).toBe(why)
  })

  test('a number is never looked up as a name', () => {
    expect(looked.filter((name) => /^[\d.x:[\]]+$/.test(name))).toEqual([])
  })
})

describe('what is sent', () => {
  let service: PushService
  beforeAll(async () => void (service = await startPushService()))
  afterAll(() => service.stop())
  const to = (path: string) => ({ endpoint: `${service.url}${path}`, headers: { ttl: '10' }, body, signal: soonEnough() })

  test('goes to the address that was looked up, under the name, whose certificate is checked', async () => {
    const { status } = await service.sender().send(to('/checked'))
    expect(status).toBe(201)
    const [pushed] = service.at('/checked')
    expect(pushed!.headers.get('host')).toBe(new URL(service.url).host)
    expect([...pushed!.body]).toEqual([1, 2, 3])
    const impostor = { ...to('/impostor'), endpoint: service.url.replace('push.example', 'other.example') }
    expect(await refusal(service.sender({ 'other.example': ['127.0.0.1'] }).send(impostor))).toContain('altnames')
    expect(service.at('/impostor')).toEqual([])
  })

  test('is looked up once: a name that answers otherwise the second time leads nowhere else', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    let looks = 0
    const rebinding = createPushSender({
      ca: service.cert,
      lookup: async () => answers[looks++]!,
      isAllowed: (address) => address === '127.0.0.1',
    })
    expect((await rebinding.send(to('/rebound'))).status).toBe(201)
    expect([looks, service.at('/rebound').length]).toEqual([1, 1])
    expect(await refusal(rebinding.send(to('/rebound')))).toContain('not a public one')
  })

  test('tries the next address where one does not answer', async () => {
    const sender = createPushSender({ ca: service.cert, lookup: async () => ['127.0.0.3', '127.0.0.1'], isAllowed: () => true })
    expect((await sender.send(to('/second'))).status).toBe(201)
  })

  test.each([301, 302, 307, 308])('does not follow a redirect (%i)', async (status) => {
    service.answers((path) =>
      path === '/moved'
        ? new Response(null, { status, headers: { location: `${service.url}/elsewhere` } })
        : new Response(null, { status: 201 }),
    )
    expect((await service.sender().send(to('/moved'))).status).toBe(status)
    expect(service.at('/elsewhere')).toEqual([])
  })

  test('does not read an answer that never ends', async () => {
    service.answers(
      () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }), { status: 201 }),
    )
    expect((await service.sender().send(to('/endless'))).status).toBe(201)
  })

  test('ends with its signal, while the name is looked up and while the answer is waited for', async () => {
    service.answers(() => new Promise<Response>(() => {}))
    const signal = AbortSignal.timeout(200)
    expect(await refusal(service.sender().send({ ...to('/silent'), signal }))).toMatch(/abort|timed out/i)
    const unresolved = createPushSender({ lookup: () => new Promise<string[]>(() => {}) })
    expect(await refusal(unresolved.send({ ...to('/unresolved'), signal: AbortSignal.timeout(200) }))).toMatch(/abort|timed out/i)
  })
})
