// A person's sign-in is a signed cookie; the server stores nothing about it. A new operator key invalidates all such cookies.
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { sameText, sha256, signature } from '../../core/ids.ts'
import { nameIsPlain } from '../../core/text.ts'
import { signInKey } from '../../process/sign-in-key.ts'
import type { Services } from '../../process/services.ts'
import type { Http } from './http.ts'
import { calledScheme } from './origin.ts'

const COOKIE = 'parley_person'
const LASTS_S = 30 * 24 * 60 * 60

export interface Person {
  name: string
  role: 'person' | 'reader' // a reader signed in with the viewer's password, and may change nothing
}

export const cookieOf = (c: Http, name: string): string | undefined => parse(c.req.header('cookie') ?? '', name)[name]

/** The person or reader who is signed in; undefined when the cookie is missing, forged or expired. */
export const personOf = (c: Http, services: Services): Person | undefined => {
  const [payload, signed] = (cookieOf(c, COOKIE) ?? '').split('.')
  if (!payload || !signed || !sameText(signature(signInKey(services), payload), signed)) return undefined
  const { until, ...person } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Person & { until: number }
  return until > Date.now() ? person : undefined
}

/** The name under which this request's person acts; undefined for readers and strangers. */
export const actorOf = (c: Http, services: Services): string | undefined => {
  const person = personOf(c, services)
  return person?.role === 'person' ? person.name : undefined
}

/** Sets the cookie on the response, for 30 days. */
export const signIn = (c: Http, services: Services, person: Person) => {
  const payload = Buffer.from(JSON.stringify({ ...person, until: Date.now() + LASTS_S * 1000 })).toString('base64url')
  setCookie(c, COOKIE, `${payload}.${signature(signInKey(services), payload)}`, cookieOptions(c, services, LASTS_S))
}

export const signOut = (c: Http, services: Services) => setCookie(c, COOKIE, '', cookieOptions(c, services, 0))

/** The role that a key or password signs in to; undefined when it is neither the operator key nor the viewer's password. */
export const roleOf = ({ config, setting }: Services, key: string): Person['role'] | undefined => {
  const hash = config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')
  if (hash && sameText(sha256(key), hash)) return 'person'
  return config.VIEWER_PASSWORD && sameText(sha256(key), sha256(config.VIEWER_PASSWORD)) ? 'reader' : undefined
}

/** The name a person typed, cut to 100 characters; "Operator" when it is empty or has invisible characters. */
export const personName = (typed: string | undefined): string => {
  const name = [...(typed ?? '').trim()].slice(0, 100).join('')
  return nameIsPlain(name) ? name : 'Operator'
}

/** Of a cookie that only this server's own pages send. */
export const cookieOptions = (c: Http, services: Services, maxAge: number) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Strict' as const,
  secure: calledScheme(c, services) === 'https',
  maxAge,
})
