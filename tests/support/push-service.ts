// A stand-in for the push service of a browser: takes what the server sends over TLS, and decrypts it as that browser would (RFC 8291), without
// the library that encrypted it.
import { createECDH, randomBytes } from 'node:crypto'
import { selfSigned } from './proxy.ts'
import { isPublicAddress } from '../../src/notices/address-rule.ts'
import { createPushSender } from '../../src/notices/push-sender.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

export interface Pushed {
  path: string
  headers: Headers
  body: Uint8Array<ArrayBuffer>
}

export type PushService = Awaited<ReturnType<typeof startPushService>>

/** `host`: the name by which it is called, which its certificate has and `sender` finds. */
export const startPushService = async (host = 'push.example') => {
  const { key, cert } = selfSigned(host)
  const pushed: Pushed[] = []
  let answer: (path: string) => Response | Promise<Response> = () => new Response(null, { status: 201 })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { key, cert },
    async fetch(request) {
      const { pathname } = new URL(request.url)
      pushed.push({ path: pathname, headers: request.headers, body: new Uint8Array(await request.arrayBuffer()) })
      return answer(pathname)
    },
  })
  const url = `https://${host}:${server.port}`
  return {
    url,
    cert,
    pushed,
    at: (path: string) => pushed.filter((one) => one.path === path),
    answers: (next: typeof answer) => void (answer = next),
    /** A browser that has subscribed here. */
    browser: (path = `/${crypto.randomUUID()}`) => subscribed(`${url}${path}`),
    /** The server's own sender, which takes this machine for the internet. */
    sender: (names: Record<string, string[]> = {}) =>
      createPushSender({
        ca: cert,
        lookup: async (name) => names[name] ?? (name === host ? ['127.0.0.1'] : []),
        isAllowed: (address) => address === '127.0.0.1' || isPublicAddress(address),
      }),
    stop: () => server.stop(true),
  }
}

export type PushBrowser = ReturnType<typeof subscribed>

/** What a browser knows once it has subscribed: its endpoint, its keys, and so what was sent to it. */
const subscribed = (endpoint: string) => {
  const keys = createECDH('prime256v1')
  const own = keys.generateKeys()
  const auth = randomBytes(16)
  return {
    endpoint,
    p256dh: own.toString('base64url'),
    auth: auth.toString('base64url'),
    read: ({ body }: Pushed) => decrypted(body, (sender) => keys.computeSecret(sender), own, auth),
  }
}

// One record of aes128gcm (RFC 8188): salt, record size, the length of the sender's key, that key, and the text with its delimiter 2.
const decrypted = async (
  body: Uint8Array<ArrayBuffer>,
  sharedWith: (sender: Uint8Array) => Uint8Array<ArrayBuffer>,
  own: Uint8Array,
  auth: Uint8Array<ArrayBuffer>,
): Promise<any> => {
  const [salt, keyLength] = [body.slice(0, 16), body[20]!]
  const sender = body.slice(21, 21 + keyLength)
  const keying = await hkdf(auth, sharedWith(sender), Buffer.concat([bytesOf('WebPush: info\0'), own, sender]), 32)
  const secret = await hkdf(salt, keying, bytesOf('Content-Encoding: aes128gcm\0'), 16)
  const iv = await hkdf(salt, keying, bytesOf('Content-Encoding: nonce\0'), 12)
  const contentKey = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['decrypt'])
  const padded = new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, contentKey, body.slice(21 + keyLength)))
  return JSON.parse(new TextDecoder().decode(padded.slice(0, padded.lastIndexOf(2))))
}

const hkdf = async (salt: BufferSource, from: BufferSource, info: BufferSource, length: number): Promise<ArrayBuffer> =>
  crypto.subtle.deriveBits(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    await crypto.subtle.importKey('raw', from, 'HKDF', false, ['deriveBits']),
    8 * length,
  )

/** Who signed a push as its sender, or undefined when the signature does not hold (RFC 8292). */
export const signerOf = async ({ headers }: Pushed): Promise<{ key: string; claims: Record<string, any> } | undefined> => {
  const [, token = '', key = ''] = /^vapid t=(\S+), k=(\S+)$/.exec(headers.get('authorization') ?? '') ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const publicKey = await crypto.subtle.importKey('raw', Buffer.from(key, 'base64url'), algorithm, false, ['verify'])
  const holds = await crypto.subtle.verify(algorithm, publicKey, Buffer.from(signature, 'base64url'), bytesOf(`${head}.${claims}`))
  return holds ? { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) } : undefined
}
