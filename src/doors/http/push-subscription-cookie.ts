// The cookie that names this browser's push subscription (notices/subscriptions.ts), so that signing out removes that too, without script,
// and signing in again renews it. It opens nothing: the worst that one who has it can do is to end the subscription.
import { setCookie } from 'hono/cookie'
import { isUuid } from '../../core/ids.ts'
import { describeError } from '../../core/runtime/log.ts'
import { removeSubscription, renewSubscription } from '../../notices/subscriptions.ts'
import type { Services } from '../../process/services.ts'
import { cookieOf, cookieOptions } from './cookies.ts'
import type { Http } from './http.ts'

const COOKIE = 'parley_push'
const LASTS_S = 400 * 24 * 60 * 60 // the longest that browsers keep a cookie

/** The id of this browser's subscription, as its cookie says. */
export const subscriptionCookie = (c: Http): string | undefined => {
  const id = cookieOf(c, COOKIE) ?? ''
  return isUuid(id) ? id : undefined
}

export const setSubscriptionCookie = (c: Http, services: Services, id: string) =>
  setCookie(c, COOKIE, id, cookieOptions(c, services, LASTS_S))

/** Has this browser's subscription last as long as its person's new sign-in. While the database is away signing in succeeds all the same. */
export const keepSubscription = async (c: Http, services: Services, signInId: string): Promise<void> => {
  const id = subscriptionCookie(c)
  if (id === undefined) return
  await renewSubscription(services.database, id, signInId).catch((error) =>
    services.log('warn', 'a browser that signed in again is not told for longer', describeError(error)),
  )
}

/** Removes this browser's subscription. While the database is away signing out succeeds all the same: the settings page still lists it
 *  then. */
export const endSubscription = async (c: Http, services: Services): Promise<void> => {
  const id = subscriptionCookie(c)
  if (id === undefined) return
  setCookie(c, COOKIE, '', cookieOptions(c, services, 0))
  await removeSubscription(services.database, id).catch((error) =>
    services.log('warn', 'a browser that signed out is still told', describeError(error)),
  )
}
