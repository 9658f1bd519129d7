// A session's read-only link opens that session's page, board, records, turns, tasks, streams and exports. GET /shared/<token> turns the link
// into a cookie for these paths; every request looks up whether the link is still active.
import { setCookie } from 'hono/cookie'
import { parse } from 'hono/utils/cookie'
import { refuse } from '../../core/errors.ts'
import { parseToken, type Token } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import { cookieOf } from './cookies.ts'
import type { Http } from './http.ts'
import { calledScheme } from './origin.ts'

const LASTS_S = 30 * 24 * 60 * 60
const OPENED =
  /^(?:\/sessions\/([0-9a-f-]{36})(?:\/live|\/rows|\/board|\/records|\/document|\.md|\/feed\.jsonl|\/turns(?:\/\d+)?|\/tasks\/\d+|\/events\/\d+\.txt)?|\/api\/sessions\/([0-9a-f-]{36})\/(?:stream|handoff\.md))$/
const NAME = /^parley_shared_([0-9a-f-]{36})$/
const nameFor = (sessionId: string) => `parley_shared_${sessionId}`

// Browsers would send a cookie for all paths with every request, and after some 130 opened links each page would answer 431. A cookie's path
// ends at a slash, so /sessions/ID.md needs one of its own. Browsers keep 180 cookies of a site, 60 links, and drop the oldest: that link
// works again once it is followed again.
const pathsFor = (sessionId: string) => [`/sessions/${sessionId}`, `/sessions/${sessionId}.md`, `/api/sessions/${sessionId}`]

const isFor = (sessionId: string, requested: string) =>
  pathsFor(sessionId).some((path) => requested === path || requested.startsWith(`${path}/`))

/** GET /shared/:token */
export const openShared = async (c: Http, services: Services): Promise<Response> => {
  const text = c.req.param('token') ?? ''
  const token = parseToken(text)
  const sessionId = token && (await services.sharedBy(token))
  if (!sessionId) return refuse('not_found', 'This link is invalid or has been revoked. Ask the person who gave it to you for a new one.')
  keep(c, services, sessionId, text)
  return c.body(null, 303, { location: `/sessions/${sessionId}`, 'cache-control': 'no-store' })
}

const keep = (c: Http, services: Services, sessionId: string, token: string) => {
  // Lax, where a person's own cookie is Strict: such a link is followed from other sites.
  const options = { httpOnly: true, sameSite: 'Lax', secure: calledScheme(c, services) === 'https' } as const
  for (const path of pathsFor(sessionId)) setCookie(c, nameFor(sessionId), token, { ...options, path, maxAge: LASTS_S })
  setCookie(c, nameFor(sessionId), '', { ...options, path: '/', maxAge: 0 }) // what earlier versions set
}

const MOVED_AT_ONCE = 4 // some 3 KB of headers: proxies take 4 KB or 8

/** Earlier versions set a link's cookie for all paths. Such a cookie, known by coming with a request for another path, is replaced by those
 *  of `pathsFor`; not on a response that a proxy may cache for others. */
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

/** Does an active link open this request's path? */
export const isShared = async (c: Http, services: Services): Promise<boolean> => {
  const shared = sharedTokenOf(c)
  return shared !== undefined && (await services.sharedBy(shared.token)) === shared.sessionId
}

/** The token in the cookie, for a request whose path a link could open. Not looked up yet. */
export const sharedTokenOf = (c: Http): { sessionId: string; token: Token } | undefined => {
  const [, page, api] = OPENED.exec(c.req.path) ?? []
  const sessionId = page ?? api
  const token = sessionId && parseToken(cookieOf(c, nameFor(sessionId)) ?? '')
  return sessionId && token ? { sessionId, token } : undefined
}
