// What a session's read-only link opens: the page with what belongs to it, its turns, the streams and the exports of that one session.
// GET /shared/<token> turns the link into a cookie of that session; whether it is active is looked up with every request.
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { refuse } from '../../core/errors.ts'
import { parseToken, type Token } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import { sharedBy } from '../../stores/shares.ts'
import { cookieOf } from './cookies.ts'
import type { Asked, Http } from './http.ts'
import { calledScheme } from './origin.ts'

const LASTS_S = 30 * 24 * 60 * 60
const OPENED =
  /^(?:\/sessions\/([0-9a-f-]{36})(?:\/live|\/rows|\/document|\.md|\/feed\.jsonl|\/turns(?:\/\d+)?|\/events\/\d+\.txt)?|\/api\/sessions\/([0-9a-f-]{36})\/(?:stream|handoff\.md))$/
const NAME = /^parley_shared_([0-9a-f-]{36})$/
const nameFor = (sessionId: string) => `parley_shared_${sessionId}`

// A cookie for all paths would go along with every request: with some 130 links opened, each page would be 431. A cookie has one path, and
// that ends at a slash: /sessions/ID.md is not below /sessions/ID. Browsers keep 180 cookies of a site and forget the oldest then, a link
// opened long ago among 60 others, which opens again when it is followed again.
const pathsFor = (sessionId: string) => [`/sessions/${sessionId}`, `/sessions/${sessionId}.md`, `/api/sessions/${sessionId}`]

const isFor = (sessionId: string, asked: string) => pathsFor(sessionId).some((path) => asked === path || asked.startsWith(`${path}/`))

/** GET /shared/:token */
export const openShared = async (c: Http, services: Services): Promise<Response> => {
  const text = c.req.param('token') ?? ''
  const token = parseToken(text)
  const sessionId = token && (await sharedBy(services.database, token))
  if (!sessionId) return refuse('not_found', 'This link is invalid or has been revoked. Ask the person who gave it to you for a new one.')
  keep(c, services, sessionId, text)
  return c.body(null, 303, { location: `/sessions/${sessionId}`, 'cache-control': 'no-store' })
}

const keep = (c: Http, services: Services, sessionId: string, token: string) => {
  // Not strict, as a person's own is: such a link is followed from anywhere.
  const options = { httpOnly: true, sameSite: 'Lax', secure: calledScheme(c, services) === 'https' } as const
  for (const path of pathsFor(sessionId)) setCookie(c, nameFor(sessionId), token, { ...options, path, maxAge: LASTS_S })
  setCookie(c, nameFor(sessionId), '', { ...options, path: '/', maxAge: 0 }) // what earlier versions set
}

const MOVED_AT_ONCE = 4 // some 3 KB of headers: proxies take 4 KB or 8

/** Earlier versions set the cookie of a link for all paths. One that comes with a request for something else is such a cookie, and gets its
 *  paths now. Not with an answer that a proxy may keep for others. */
export const moveOldCookies = (c: Http, services: Services) => {
  const header = c.req.header('cookie')
  if (!header?.includes('parley_shared_') || c.res.headers.get('cache-control') !== 'no-store') return
  const justSet = c.res.headers.getSetCookie().join()
  const old = Object.entries(parse(header)).flatMap(([name, token]) => {
    const sessionId = NAME.exec(name)?.[1]
    return sessionId && !justSet.includes(name) && !isFor(sessionId, c.req.path) ? [{ sessionId, token }] : []
  })
  for (const { sessionId, token } of old.slice(0, MOVED_AT_ONCE)) keep(c, services, sessionId, token)
}

/** Does an active link open what this request asks for? */
export const isShared = async (c: Http, services: Services): Promise<boolean> => {
  const shared = sharedTokenOf(c)
  return shared !== undefined && (await sharedBy(services.database, shared.token)) === shared.sessionId
}

/** The token that came with a request for what such a link opens, believed or not. */
export const sharedTokenOf = (c: Asked): { sessionId: string; token: Token } | undefined => {
  const [, page, api] = OPENED.exec(c.req.path) ?? []
  const sessionId = page ?? api
  const token = sessionId && parseToken(cookieOf(c, nameFor(sessionId)) ?? '')
  return sessionId && token ? { sessionId, token } : undefined
}
