// The forms by which a signed-in person is told that somebody is needed: in this browser, and a test of each way.
import { z } from 'zod'
import type { Notice } from '../../../components/site/link-card.tsx'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { whyUnreachable } from '../../core/unreachable.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { setSubscriptionCookie } from '../../doors/http/push-subscription-cookie.ts'
import { pushTestMessage, testMessage } from '../../notices/message.ts'
import { postToNotifyUrl } from '../../notices/notify-url.ts'
import { placeOf } from '../../notices/outages.ts'
import { ANSWER_WITHIN_S, type Outcome } from '../../notices/outcomes.ts'
import { EndpointRefused, isUsable, pushTo, type PushSender } from '../../notices/push.ts'
import { MOST_PER_PERSON, noteError, removeSubscription, saveSubscription, subscriptionsOf } from '../../notices/subscriptions.ts'
import type { Services } from '../../process/services.ts'
import { keysInForce } from '../../process/keys-in-force.ts'
import { assertActor } from '../forms/perform-as-person.ts'
import { formOf, valuesOf } from '../forms/fields.ts'
import { seeOther, type Site } from '../respond.tsx'
import { browserName } from './browser-name.ts'
import { renderSettings } from './settings.tsx'

const AT = 'notifications'

const target = z.object({
  endpoint: z.url({ protocol: /^https$/ }).max(2_000),
  p256dh: z.string().max(200),
  auth: z.string().max(100),
})

/** POST /settings/push: this browser, by what its PushManager gave it (`endpoint`, `p256dh`, `auth`), is told from now on, with `titles` of
 *  sessions or without. Nobody is let to name an endpoint that this server must not call. */
export const addThisBrowser = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  assertActor(c, site)
  const form = valuesOf(await formOf(c))
  const parsed = target.safeParse(form)
  const refused = (text: string) => renderSettings(c, site, { variant: 'destructive', text, at: AT }, undefined, 400)
  if (!parsed.success || !isUsable(parsed.data, services.pushIdentity()))
    return refused('Not turned on: what the browser sent is no push subscription of an https service.')
  const why = await whyNotCalled(services.pushSender, parsed.data.endpoint)
  if (why !== undefined) return refused(`Not turned on: ${why}.`)
  const person = personOf(c, services)!
  const id = await saveSubscription(services.database, keysInForce(services), {
    ...parsed.data,
    person: person.name,
    signInId: person.id,
    titles: form.titles !== undefined,
    browser: browserName(c.req.header('user-agent')),
  })
  if (id === undefined) return refused(`You are told in ${MOST_PER_PERSON} browsers already. Remove one of them first.`)
  setSubscriptionCookie(c, services, id)
  return seeOther(c, `/settings?done=told#${AT}`)
}

const whyNotCalled = async (sender: PushSender | undefined, endpoint: string): Promise<string | undefined> => {
  if (!sender) return 'this server has no way to reach push services'
  try {
    await sender.check(endpoint, AbortSignal.timeout(ANSWER_WITHIN_S * 1_000))
    return undefined
  } catch (error) {
    const service = `the push service ${new URL(endpoint).host}`
    if (error instanceof EndpointRefused) return `${service} is not called, because ${error.message}`
    return `${service} cannot be reached from this server: ${whyUnreachable(error, ANSWER_WITHIN_S)}`
  }
}

/** POST /settings/push/remove: the browser with this `id` is told no more. */
export const removeBrowser = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const id = (await formOf(c)).get('id') ?? ''
  if (!isUuid(id)) refuse('invalid_request', 'id: name a browser of the list on the settings page.', { field: 'id' })
  await removeSubscription(site.services.database, id)
  return seeOther(c, `/settings?done=told_no_more#${AT}`)
}

/** POST /settings/notices/test: sends a test by `way` (`notify_url`, or `push`: to all browsers of this person) and shows what came of it. */
export const sendTestNotice = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const way = (await formOf(c)).get('way')
  const results = way === 'push' ? await testPush(c, site.services) : await testNotifyUrl(site.services)
  const text = results.map(({ who, came, why }) => (came === 'ok' ? `${who} took it.` : `${who} ${why}.`)).join(' ')
  const ok = results.length > 0 && results.every(({ came }) => came === 'ok')
  const none = way === 'push' ? 'You are told in no browser yet.' : 'NOTIFY_URL is not set.'
  const notice: Notice = { variant: ok ? 'ok' : 'destructive', text: results.length > 0 ? `Test sent: ${text}` : none, at: AT }
  return renderSettings(c, site, notice)
}

type Result = Outcome & { who: string }

const testNotifyUrl = async ({ config, base, outages }: Services): Promise<Result[]> => {
  const { NOTIFY_URL } = config
  if (NOTIFY_URL === undefined) return []
  const outcome = await postToNotifyUrl(NOTIFY_URL, testMessage(base()))
  outages.note(placeOf(), outcome)
  return [{ who: 'NOTIFY_URL', ...outcome }]
}

const testPush = async (c: Http, services: Services): Promise<Result[]> => {
  const { database, pushSender, pushIdentity, outages } = services
  const me = personOf(c, services)!.name
  const mine = (await subscriptionsOf(database, keysInForce(services))).filter(({ person }) => person === me)
  if (!pushSender) return []
  return Promise.all(
    mine.map(async (subscription) => {
      const outcome = await pushTo(pushSender, subscription, pushIdentity(), { message: pushTestMessage, urgent: true })
      outages.note(placeOf(subscription.endpoint), outcome)
      if (outcome.came === 'gone') await removeSubscription(database, subscription.id)
      else await noteError(database, subscription.id, outcome.came === 'ok' ? undefined : outcome.why)
      return { who: subscription.browser, ...outcome, ...(outcome.came === 'gone' && { why: `${outcome.why}: it is forgotten` }) }
    }),
  )
}
