// A person's sign-in is a row, which a cookie names and proves. It ends with sign-out, after 30 days, or with a new operator key.
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { sameText, sha256, type Token } from '../../core/ids.ts'
import { LONGEST_NAME } from '../../core/text/text.ts'
import type { Services } from '../../process/services.ts'
import { keysInForce } from '../../process/keys-in-force.ts'
import { endSignIn, NAMELESS, signInAs } from '../../process/sign-ins.ts'
import type { SignIn } from '../../stores/sign-ins.ts'
import type { Http } from './http.ts'
import { calledScheme } from './origin.ts'

const COOKIE = 'parley_person'
const MARK = 'parley_in'
const LASTS_S = 30 * 24 * 60 * 60

/** A reader signed in with the viewer's password, and may change nothing. */
export type Person = Pick<SignIn, 'name' | 'role'>

export const cookieOf = (c: Http, name: string): string | undefined => parse(c.req.header('cookie') ?? '', name)[name]

/** The text of the sign-in's cookie, good or not. */
export const signInCookieOf = (c: Http): string | undefined => (c.req.header('cookie') === undefined ? undefined : cookieOf(c, COOKIE))

/** The person or reader who is signed in (the guards have looked the cookie up); undefined for everybody else. */
export const personOf = (c: Http, services: Services): SignIn | undefined => {
  const signIn = c.get('signIn')
  return signIn && sameText(signIn.under, keysInForce(services)) ? signIn : undefined
}

/** The person of this request who may change something; undefined for readers and strangers. */
export const actingPersonOf = (c: Http, services: Services): SignIn | undefined => {
  const person = personOf(c, services)
  return person?.role === 'person' ? person : undefined
}

/** The name under which this request's person acts; undefined for readers and strangers. */
export const actorOf = (c: Http, services: Services): string | undefined => actingPersonOf(c, services)?.name

/** Signs in under a typed name, and sets the cookie on the response, for 30 days. 409 for a name that is bound to a link. */
export const signIn = async (c: Http, services: Services, person: Person): Promise<Token> => {
  const made = await signInAs(services, person)
  setSignIn(c, services, made)
  return made
}

export const setSignIn = (c: Http, services: Services, { handle, secret }: Token): void =>
  setCookie(c, COOKIE, `${handle}.${secret}`, cookieOptions(c, services, LASTS_S))

/** Ends the sign-in everywhere, and takes the cookie from this browser. */
export const signOut = async (c: Http, services: Services): Promise<void> => {
  const signIn = c.get('signIn')
  if (signIn) await endSignIn(services, signIn.id)
  setCookie(c, COOKIE, '', cookieOptions(c, services, 0))
  unmarkBrowser(c, services)
}

// A browser that follows a link on another site's page withholds the sign-in's cookie, which is SameSite=Strict, and sends this mark, which
// is Lax and proves nothing.
const setMark = (c: Http, services: Services, value: string, maxAge: number) =>
  setCookie(c, MARK, value, { ...cookieOptions(c, services, maxAge), sameSite: 'Lax' })

/** Marks the browser of somebody who is signed in, unless it is marked. */
export const markBrowser = (c: Http, services: Services): void => {
  if (personOf(c, services) && cookieOf(c, MARK) === undefined) setMark(c, services, '1', LASTS_S)
}

export const unmarkBrowser = (c: Http, services: Services): void => setMark(c, services, '', 0)

/** Whether the browser may have withheld a sign-in's cookie from this request. */
export const maySignInBeWithheld = (c: Http): boolean => signInCookieOf(c) === undefined && cookieOf(c, MARK) !== undefined

/** The role that a key or password signs in to; undefined when it is neither the operator key nor the viewer's password. */
export const roleByKey = ({ config, setting }: Services, key: string): Person['role'] | undefined => {
  const hash = config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')
  if (hash && sameText(sha256(key), hash)) return 'person'
  return config.VIEWER_PASSWORD && sameText(sha256(key), sha256(config.VIEWER_PASSWORD)) ? 'reader' : undefined
}

/** The name a person typed, cut to 100 characters; "Operator" when there is none. */
export const signInName = (typed: string): string => [...typed.trim()].slice(0, LONGEST_NAME).join('') || NAMELESS

/** Of a cookie that only this server's own pages send. */
export const cookieOptions = (c: Http, services: Services, maxAge: number) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Strict' as const,
  secure: calledScheme(c, services) === 'https',
  maxAge,
})
