// What a session's read-only link opens: the page with what belongs to it, its turns, the streams and the exports of that one session.
// GET /shared/<token> turns the link into a cookie of that session; whether it is active is looked up with every request.
import { setCookie } from 'hono/cookie'
import { refuse } from '../core/errors.ts'
import { parseToken, type Token } from '../core/ids.ts'
import type { Services } from '../services.ts'
import { sharedBy } from '../stores/shares.ts'
import { cookieOf } from './cookies.ts'
import type { Asked, Http } from './http.ts'
import { calledScheme } from './origin.ts'

const LASTS_S = 30 * 24 * 60 * 60
const OPENED =
  /^(?:\/sessions\/([0-9a-f-]{36})(?:\/live|\/rows|\/document|\.md|\/feed\.jsonl|\/turns(?:\/\d+)?|\/events\/\d+\.txt)?|\/api\/sessions\/([0-9a-f-]{36})\/(?:stream|handoff\.md))$/
const nameFor = (sessionId: string) => `parley_shared_${sessionId}`

/** GET /shared/:token */
export const openShared = async (c: Http, services: Services): Promise<Response> => {
  const text = c.req.param('token') ?? ''
  const token = parseToken(text)
  const sessionId = token && (await sharedBy(services.database, token))
  if (!sessionId) return refuse('not_found', 'This link is invalid or has been revoked. Ask the person who gave it to you for a new one.')
  // Not strict, as a person's own is: such a link is followed from anywhere.
  const secure = calledScheme(c, services) === 'https'
  setCookie(c, nameFor(sessionId), text, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: LASTS_S })
  return c.body(null, 303, { location: `/sessions/${sessionId}`, 'cache-control': 'no-store' })
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
