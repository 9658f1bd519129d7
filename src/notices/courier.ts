// Tells people, in the background of every instance: finds what is to be told, takes deliveries, and sends them without waiting for one
// another. A try that fails is made again later, each time after a longer pause, by whichever instance is there then. An instance that
// dies between an answer and the row's end leaves the delivery to be made once more: rather twice than never.
import type { Database } from '../../db/database.ts'
import type { Job } from '../core/runtime/job.ts'
import { describeError, type Log } from '../core/runtime/log.ts'
import type { Metrics } from '../core/runtime/metrics.ts'
import { pause } from '../core/runtime/pause.ts'
import { KINDS } from './kinds.ts'
import { messageFor, pushMessageFor } from './message.ts'
import { postToNotifyUrl } from './notify-url.ts'
import type { Outcome } from './outcomes.ts'
import {
  addressNotices,
  dropLateDeliveries,
  endDelivery,
  forgetOldNotices,
  isSomethingWaiting,
  postponeDelivery,
  takeDeliveries,
  type Delivery,
} from './outbox.ts'
import { placeOf, type Outages } from './outages.ts'
import { pushTo, type PushIdentity, type PushSender } from './push.ts'
import { noteError, removeEnded, removeSubscription } from './subscriptions.ts'
import { notifyPeople, type Fact } from './notify-people.ts'

const EVERY_MS = 5_000
const FORGET_EVERY_MS = 60 * 60_000
const AT_ONCE = 64 // deliveries under way; one that is slow takes up its place for ten seconds
const RETRY_AFTER_S = [10, 60, 300, 1_800] // then it is given up
const STOP_WITHIN_MS = 3_000

interface Parts {
  database: Database
  config: { NOTIFY_URL: string | undefined }
  log: Log
  metrics: Metrics
  outages: Outages
  /** The sessions that need a person now, all of them each time: what people were told before is dropped. */
  needs: () => Promise<Fact[]>
  pushSender: PushSender
  pushIdentity: () => PushIdentity
  /** A hash of the keys under which sign-ins hold (process/keys-in-force.ts). */
  keys: () => string
  /** This server's base URL, for links. */
  base: () => string
}

/** The background jobs that tell people. `end` gives what is under way three seconds, then lets it go to be tried again. */
export const createCourier = (parts: Parts) => {
  const { database, config, log, outages, needs, keys } = parts
  const underWay = new Set<Promise<void>>()
  const ending = new AbortController()

  const deliver = async (delivery: Delivery) => {
    const outcome = await send(parts, delivery, ending.signal)
    if (ending.signal.aborted && outcome.came === 'again') return // whoever looks after HELD_S tries
    outages.note(placeOf(delivery.subscription?.endpoint), outcome)
    await settle(parts, delivery, outcome)
  }
  const start = (delivery: Delivery) => {
    const made = deliver(delivery)
      .catch((error) => log('warn', 'what came of a notice could not be kept; it is sent again', describeError(error)))
      .finally(() => underWay.delete(made))
    underWay.add(made)
  }
  const notify = async () => {
    await notifyPeople(database, await needs())
    if (!(await isSomethingWaiting(database))) return
    const notifyUrl = config.NOTIFY_URL !== undefined
    await addressNotices(database, keys(), notifyUrl)
    await dropLateDeliveries(database, keys(), notifyUrl)
    const free = AT_ONCE - underWay.size
    if (free > 0) for (const delivery of await takeDeliveries(database, keys(), notifyUrl, free)) start(delivery)
  }
  const forget = async () => {
    await forgetOldNotices(database)
    await removeEnded(database)
  }
  const jobs: Job[] = [
    { name: 'notices', everyMs: EVERY_MS, run: notify },
    { name: 'old-notices', everyMs: FORGET_EVERY_MS, run: forget },
  ]
  const end = async () => {
    await Promise.race([Promise.all(underWay), pause(STOP_WITHIN_MS)])
    ending.abort()
    await Promise.all(underWay)
  }
  return { jobs, end }
}

const send = ({ config, pushSender, pushIdentity, base }: Parts, delivery: Delivery, ending: AbortSignal): Promise<Outcome> => {
  const { subscription, kind } = delivery
  if (!subscription) return postToNotifyUrl(config.NOTIFY_URL!, messageFor(delivery, base()), ending)
  const message = pushMessageFor(delivery, subscription.titles)
  return pushTo(pushSender, subscription, pushIdentity(), { message, urgent: KINDS[kind].urgent, ending })
}

const settle = async ({ database, metrics }: Parts, { id, tries, subscription }: Delivery, outcome: Outcome): Promise<void> => {
  const pauseS = outcome.came === 'again' ? RETRY_AFTER_S[tries - 1] : undefined
  if (subscription) await noteError(database, subscription.id, outcome.came === 'ok' ? undefined : outcome.why)
  if (pauseS !== undefined) return postponeDelivery(database, id, Math.max(pauseS, outcome.retryAfterS ?? 0))
  metrics.noticesSent.inc({ way: subscription ? 'push' : 'notify_url', outcome: outcome.came === 'again' ? 'failed' : outcome.came })
  if (subscription && outcome.came === 'gone') return removeSubscription(database, subscription.id)
  return endDelivery(database, id)
}
