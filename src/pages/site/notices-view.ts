// Who is told, and how, for the settings page.
import type { NoticesView } from '../../../components/site/notices-panel.tsx'
import { ago, day } from '../../../components/parts/time.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { subscriptionCookie } from '../../doors/http/push-subscription-cookie.ts'
import { publicKeyOf } from '../../notices/push.ts'
import { subscriptionsOf } from '../../notices/subscriptions.ts'
import type { Services } from '../../process/services.ts'
import { keysInForce } from '../../process/keys-in-force.ts'

/** For signed-in people; undefined for others, who learn nothing of who is told. */
export const noticesView = async (c: Http, services: Services): Promise<NoticesView | undefined> => {
  const person = actorOf(c, services)
  if (person === undefined) return undefined
  const subscriptions = await subscriptionsOf(services.database, keysInForce(services))
  const here = subscriptionCookie(c)
  const now = services.clock.now()
  return {
    notifyUrl: services.config.NOTIFY_URL !== undefined,
    publicKey: services.pushSender && publicKeyOf(services.pushIdentity().keys),
    here: subscriptions.find(({ id }) => id === here)?.endpointHash,
    browsers: subscriptions.map(({ id, person: owner, browser, titles, madeAt, until, lastError, endpoint }) => ({
      id,
      browser,
      person: owner,
      mine: owner === person,
      here: id === here,
      titles,
      since: ago(madeAt, now),
      until: day(until),
      service: new URL(endpoint).host,
      problem: lastError ?? undefined,
    })),
  }
}
