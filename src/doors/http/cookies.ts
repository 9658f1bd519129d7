// A signed-in person: a cookie that we signed, and nothing stored. A new operator key ends all of them.
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { sameText, sha256, signature } from '../../core/ids.ts'
import { nameIsPlain } from '../../core/text.ts'
import type { Services } from '../../process/services.ts'
import type { Asked, Http } from './http.ts'
import { calledScheme } from './origin.ts'

const COOKIE = 'parley_person'
const LASTS_S = 30 * 24 * 60 * 60

export interface Person {
  name: string
  role: 'person' | 'reader' // a reader signed in with the viewer's password: it changes nothing
}

export const cookieOf = (c: Asked, name: string): string | undefined => parse(c.req.header('cookie') ?? '', name)[name]

/** Who is signed in here, as a person or as a reader; undefined when the cookie is not ours, or over. */
export const personOf = (c: Asked, services: Services): Person | undefined => {
  const [payload, signed] = (cookieOf(c, COOKIE) ?? '').split('.')
  if (!payload || !signed || !sameText(signature(cookieKey(services), payload), signed)) return undefined
  const { until, ...person } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Person & { until: number }
  return until > Date.now() ? person : undefined
}

/** The name under which this request's person acts; undefined for readers and strangers. */
export const actorOf = (c: Http, services: Services): string | undefined => {
  const person = personOf(c, services)
  return person?.role === 'person' ? person.name : undefined
}

/** Gives the answer of `c` the cookie, for 30 days. */
export const signIn = (c: Http, services: Services, person: Person) => {
  const payload = Buffer.from(JSON.stringify({ ...person, until: Date.now() + LASTS_S * 1000 })).toString('base64url')
  setCookie(c, COOKIE, `${payload}.${signature(cookieKey(services), payload)}`, options(c, services, LASTS_S))
}

export const signOut = (c: Http, services: Services) => setCookie(c, COOKIE, '', options(c, services, 0))

/** Whom a key or password lets in; undefined when it is neither. */
export const roleOf = ({ config, setting }: Services, key: string): Person['role'] | undefined => {
  const hash = config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')
  if (hash && sameText(sha256(key), hash)) return 'person'
  return config.VIEWER_PASSWORD && sameText(sha256(key), sha256(config.VIEWER_PASSWORD)) ? 'reader' : undefined
}

export const personName = (wished: string | undefined): string => {
  const name = [...(wished ?? '').trim()].slice(0, 100).join('')
  return nameIsPlain(name) ? name : 'Operator'
}

const cookieKey = ({ config, setting }: Services) =>
  `${setting('server_secret')}/${config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')}/${config.VIEWER_PASSWORD ?? ''}`

const options = (c: Http, services: Services, maxAge: number) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Strict' as const,
  secure: calledScheme(c, services) === 'https',
  maxAge,
})
