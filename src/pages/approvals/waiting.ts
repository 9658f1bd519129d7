// How many things wait for a person, for the header of every page: read when it is asked for and something may have changed, once for all
// who ask at the same time.
import type { Services } from '../../process/services.ts'
import { topicOf } from '../../log/topics.ts'
import { countWaiting } from '../../stores/records/waiting.ts'
import type { Event } from '../../stores/events.ts'

const KIND = 'inbox'
/** Moves when something in the inbox may have changed, at whichever instance. */
export const INBOX = topicOf(KIND, 'all')
const FRESH_MS = 1_000 // what expires by itself moves no topic

export type Waiting = ReturnType<typeof createWaiting>

/** One for each process. */
export const createWaiting = (services: Services) => {
  const { database, config } = services
  let known = 0
  let freshUntil = 0
  let reading: Promise<number> | undefined
  services.onEvents((_, events) => {
    if (events.some(isOfInbox)) services.publishTopic(INBOX, Date.now())
  })
  services.onTopic(KIND, () => {
    freshUntil = 0
    reading = undefined // what is being read may be older
  })

  const readAgain = (): Promise<number> => {
    const until = performance.now() + FRESH_MS
    const read = countWaiting(database, config.PERMISSION_WAIT).then((waiting) => {
      known = waiting
      if (reading === read) freshUntil = until
      return waiting
    })
    read.catch(() => {}).then(() => reading === read && (reading = undefined))
    return (reading = read)
  }

  return {
    /** What was read last. */
    get known() {
      return known
    },
    /** What it is now; what was read last where the database does not answer. */
    read: async (): Promise<number> => {
      if (performance.now() < freshUntil) return known
      return (reading ?? readAgain()).catch(() => known)
    },
  }
}

const OF_INBOX = /^(?:proposal|permission)_|^record_withdrawn$/

const isOfInbox = ({ type, event }: Event): boolean => type === 'system' && OF_INBOX.test(String(event))
