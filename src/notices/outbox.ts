// Notices on their way, as SQL: who is to be told of each, and who sends what now. Every instance does both; each row is decided by the
// statement that takes it.
import type { Queries } from '../../db/database.ts'
import { signInHolds } from '../stores/sign-ins.ts'
import type { NoticeKindName } from './kinds.ts'

const WAITING = `
select exists (select from notices where not addressed) or exists (select from notice_deliveries where due_at <= now()) as waiting`

/** Whether there is something to send. One small statement, because every server asks every few seconds. */
export const isSomethingWaiting = async ({ query }: Queries): Promise<boolean> => {
  const [row] = await query<{ waiting: boolean }>(WAITING)
  return row!.waiting
}

const ADDRESS = `
with fresh as (
  select id from notices where not addressed order by id limit 100 for update skip locked
), taken as (
  update notices n set addressed = true from fresh where n.id = fresh.id returning n.id
)
insert into notice_deliveries (id, notice_id, subscription_id)
select gen_random_uuid(), taken.id, receivers.id
from taken, (select p.id from push_subscriptions p join sign_ins s on s.id = p.sign_in_id where ${signInHolds('s', '$1')}
  union all select null::uuid where $2) as receivers`

/** Gives each new notice a delivery to every browser whose sign-in holds, and one to NOTIFY_URL if there is one. */
export const addressNotices = async ({ query }: Queries, keys: string, notifyUrl: boolean): Promise<void> =>
  void (await query(ADDRESS, [keys, notifyUrl]))

const HAS_RECEIVER = `case when d.subscription_id is null then $2 else exists
  (select from push_subscriptions p join sign_ins s on s.id = p.sign_in_id where p.id = d.subscription_id and ${signInHolds('s', '$1')}) end`

/** Drops what nobody receives any more (a NOTIFY_URL that is taken away, a sign-in that has ended), and a delivery that failed and is older than
 *  a day. One that was never tried, because no server ran, is sent however old it is. */
export const dropLateDeliveries = async ({ query }: Queries, keys: string, notifyUrl: boolean): Promise<void> =>
  void (await query(
    `delete from notice_deliveries d using notices n
     where n.id = d.notice_id and d.due_at <= now() and ((d.tries > 0 and n.at < now() - interval '1 day') or not ${HAS_RECEIVER})`,
    [keys, notifyUrl],
  ))

/** A delivery that this process has taken. */
export interface Delivery {
  id: string
  /** This one included. */
  tries: number
  kind: NoticeKindName
  session_id: string
  title: string
  /** null: to NOTIFY_URL. */
  subscription: { id: string; endpoint: string; p256dh: string; auth: string; titles: boolean } | null
}

// Longer than any try can take. After this time other instances take the deliveries of one that died.
const HELD_S = 30

const TAKE = `
with due as (
  select id from notice_deliveries d where due_at <= now() and ${HAS_RECEIVER}
  order by due_at limit $3 for update skip locked
), taken as (
  update notice_deliveries d set tries = d.tries + 1, due_at = now() + ${HELD_S} * interval '1 second'
  from due where d.id = due.id returning d.id, d.notice_id, d.subscription_id, d.tries
)
select t.id, t.tries, n.kind, n.session_id, e.title,
  case when s.id is not null then
    json_build_object('id', s.id, 'endpoint', s.endpoint, 'p256dh', s.p256dh, 'auth', s.auth, 'titles', s.titles) end as subscription
from taken t join notices n on n.id = t.notice_id join sessions e on e.id = n.session_id
left join push_subscriptions s on s.id = t.subscription_id`

/** Takes up to `limit` deliveries that are due, to browsers only while their sign-in holds: nobody else gets them while they are under way. */
export const takeDeliveries = ({ query }: Queries, keys: string, notifyUrl: boolean, limit: number): Promise<Delivery[]> =>
  query<Delivery>(TAKE, [keys, notifyUrl, limit])

/** Removes a delivery that is over. */
export const endDelivery = async ({ query }: Queries, id: string): Promise<void> =>
  void (await query('delete from notice_deliveries where id = $1', [id]))

/** Puts a failed delivery off by `seconds`. */
export const postponeDelivery = async ({ query }: Queries, id: string, seconds: number): Promise<void> =>
  void (await query(`update notice_deliveries set due_at = now() + $2::int * interval '1 second' where id = $1`, [id, seconds]))

/** Forgets what was told long ago. What still holds after so long may be told once more. */
export const forgetOldNotices = async ({ query }: Queries): Promise<void> =>
  void (await query(`delete from notices where at < now() - interval '30 days' and addressed`))
