// How many things wait for a person, for the header of every page, and what each person is asked: read when it is wanted and something may
// have changed, once for all who want it at the same time.
import type { Services } from '../../process/services.ts'
import { topicOf } from '../../log/topics.ts'
import { nameKey } from '../../core/text/text.ts'
import { countWaiting } from '../../stores/records/waiting.ts'
import type { Event } from '../../stores/events.ts'
import type { AskedView } from '../../../components/approvals/inbox-view.ts'
import { NONE_ASKED, readAsked, type Asked } from './asked.ts'

const KIND = 'inbox'
/** Moves when something in the inbox may have changed, at whichever instance. */
export const INBOX = topicOf(KIND, 'all')
const FRESH_MS = 1_000 // the number may also change without the topic: some things expire by themselves
const ALL_ASKED_FRESH_MS = 60_000 // all questions: one beyond the newest is new only where its session goes on again
const ASKED_FRESH_MS = 5_000 // questions move the topic, except one that a team at another instance withdraws

export type Waiting = ReturnType<typeof createWaiting>

/** One for each process. */
export const createWaiting = (services: Services) => {
  const { database, config } = services
  let known = 0
  let asked = NONE_ASKED
  let askedUntil = 0
  let allAskedUntil = 0
  let freshUntil = 0
  let reading: Promise<void> | undefined
  services.onEvents((_, events) => {
    if (events.some((event) => isOfInbox(event, asked))) services.publishTopic(INBOX, Date.now())
  })
  services.onTopic(KIND, () => {
    freshUntil = askedUntil = 0
    reading = undefined // what is being read may be older
  })

  const readAgain = (): Promise<void> => {
    const until = performance.now() + FRESH_MS
    const isWhole = performance.now() >= allAskedUntil
    const questions = performance.now() < askedUntil ? asked : readAsked(database, isWhole ? undefined : asked.open)
    const read = Promise.all([countWaiting(database, config.PERMISSION_WAIT), questions]).then((now) => {
      if (reading !== read) return // a later read has begun, and what it finds is newer
      ;[known, asked] = now
      freshUntil = until
      if (!(questions instanceof Promise)) return
      askedUntil = until + ASKED_FRESH_MS
      if (isWhole) allAskedUntil = until + ALL_ASKED_FRESH_MS
    })
    read.catch(() => {}).then(() => reading === read && (reading = undefined))
    return (reading = read)
  }

  const askedOf = (person: string | undefined): AskedView[] => (person === undefined ? [] : (asked.byPerson.get(nameKey(person)) ?? []))

  return {
    /** The questions to this person that were read last, the oldest first. */
    askedOf,
    /** The number that was read last: of the things that wait for everybody, and of this person's questions. */
    countFor: (person: string | undefined): number => known + askedOf(person).length,
    /** Reads what waits now; it stays as it was where the database does not answer. */
    read: async (): Promise<void> => {
      if (performance.now() < freshUntil) return
      await (reading ?? readAgain()).catch(() => {})
    },
  }
}

const OF_INBOX = /^(?:(?:proposal|permission)_|record_withdrawn$|session_(?:concluded|reopened|archived|restored)$)/

const isOfInbox = ({ type, event, author, to_people, expects_reply, reply_to }: Event, { ids }: Asked): boolean => {
  if (type === 'system') return OF_INBOX.test(String(event))
  return Boolean(to_people && expects_reply) || Boolean(reply_to && (author === 'person' || ids.has(String(reply_to))))
}
