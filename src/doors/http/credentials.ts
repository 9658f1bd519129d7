// What a request brings to say who sends it: the cookie of a sign-in, a program's key. Found out once, before every handler (guards.ts),
// and again while a call is held or a stream is open, so that both end with the credential.
import { isAway } from '../../../db/errors.ts'
import { refuse, unauthorized } from '../../core/errors.ts'
import { parseToken } from '../../core/ids.ts'
import { holdsKey, isMeantAsKey } from '../../core/key-scopes.ts'
import { keyTopic } from '../../control/keys/keys.ts'
import type { Topic } from '../../log/topics.ts'
import type { Call } from '../../operations/call.ts'
import type { Services } from '../../process/services.ts'
import { signInTopic } from '../../process/sign-ins.ts'
import { personOf, signInCookieOf } from './cookies.ts'
import type { Http } from './http.ts'

const CHECK_MS = 5_000 // the longest that a revocation takes whose notification got lost: one query for all that is held, as the sweep's

export const bearerOf = (c: Http) => /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1]

// Operators and Prometheus come here to learn that the database is away. Figures alone stand there, so a credential counts as it was known
// last, though it may have ended meanwhile at another instance; whoever sends an unknown one is a stranger.
const ANSWERS_WHILE_AWAY = new Set(['/status', '/api/status', '/metrics'])

/** Looks up what the request brings. A cookie that is no good is passed over, and its browser is a stranger's; a key that is no good is 401. */
export const identify = async (c: Http, services: Services): Promise<void> => {
  const evenOld = ANSWERS_WHILE_AWAY.has(c.req.path)
  try {
    await lookUp(c, services, evenOld)
  } catch (error) {
    if (!evenOld || !isAway(error)) throw error
  }
}

const lookUp = async (c: Http, { credentials, config }: Services, evenOld: boolean): Promise<void> => {
  const token = parseToken(signInCookieOf(c) ?? '')
  if (token) c.set('signIn', await credentials.signInBy(token, evenOld))
  const bearer = bearerOf(c)
  if (bearer === undefined || !isMeantAsKey(bearer) || bearer === config.ACCESS_TOKEN) return
  const key = await credentials.keyBy(bearer, evenOld)
  if (!key) unauthorized('This key is not valid: it is unknown, was revoked, or is not complete. Ask whoever made it for a new one.')
  c.set('key', key)
}

/** Refuses a key in the address, which would end up in logs. */
export const refuseKeyInQuery = (c: Http): void => {
  const at = c.req.url.indexOf('?')
  if (at < 0 || !/ca(?:_|%5f)/i.test(c.req.url.slice(at))) return
  const found = Object.entries(c.req.queries()).find(([name, values]) => holdsKey(name) || values.some(holdsKey))
  if (found)
    refuse(
      'secret_in_text',
      'A key in the URL would end up in logs. Nothing was done. Send it as Authorization: Bearer KEY, and revoke this one.',
    )
}

const topicsOf = (c: Http): Topic[] => {
  const [signIn, key] = [c.get('signIn'), c.get('key')]
  return [...(signIn ? [signInTopic(signIn.id)] : []), ...(key ? [keyTopic(key.id)] : [])]
}

/** Does the request bring a credential that can end? */
export const bringsCredential = (c: Http): boolean => c.get('signIn') !== undefined || c.get('key') !== undefined

/** Whether what the request brought is as good as it was. */
export const isStillGood = async (c: Http, services: Services): Promise<boolean> => {
  const person = personOf(c, services)
  if (c.get('signIn') && !person) return false
  const token = person && parseToken(signInCookieOf(c) ?? '')
  if (token && !(await services.credentials.signInBy(token))) return false
  return !c.get('key') || (await services.credentials.keyBy(bearerOf(c) ?? '')) !== undefined
}

/** Calls `news` whenever one of the request's credentials may have ended, and every five seconds. Returns a function that stops
 *  watching. */
export const watchCredentials = (c: Http, { waiters }: Services, news: () => void): (() => void) => {
  const open = new Map<Topic, ReturnType<typeof waiters.subscribe>>()
  let over = false
  const follow = async (topic: Topic) => {
    while (!over) {
      const waiter = waiters.subscribe(topic)
      open.set(topic, waiter)
      await waiter.woken()
      waiter.unsubscribe()
      if (!over) news()
    }
  }
  for (const topic of topicsOf(c)) void follow(topic)
  const timer = setInterval(news, CHECK_MS)
  return () => {
    over = true
    clearInterval(timer)
    for (const waiter of open.values()) waiter.unsubscribe()
  }
}

// Checks once more after subscribing, for credentials that ended between the guards and the subscription.
const untilEnded =
  (c: Http, services: Services): NonNullable<Call['untilEnded']> =>
  async (signal, work) => {
    const ended = new AbortController()
    const check = () => void isStillGood(c, services).then((good) => good || ended.abort(), ignore)
    const stop = watchCredentials(c, services, check)
    check()
    try {
      const result = await work(AbortSignal.any([signal, ended.signal]))
      return ended.signal.aborted ? undefined : result
    } finally {
      stop()
    }
  }
const ignore = () => {} // the database is away: asked again

/** What an operation is told of the request's credentials. */
export const credentialsOf = (c: Http, services: Services): Pick<Call, 'key' | 'untilEnded' | 'refuseTokenless'> =>
  bringsCredential(c) || c.get('refuseTokenless')
    ? { key: c.get('key'), refuseTokenless: c.get('refuseTokenless'), ...(bringsCredential(c) && { untilEnded: untilEnded(c, services) }) }
    : NONE
const NONE = {}
