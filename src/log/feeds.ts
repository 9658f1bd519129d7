// Pages of what follows a cursor in a feed: from memory where the newest events suffice, else from the log, in one read for all readers at
// the same cursor.
import type { Database } from '../../db/database.ts'
import { RecentEvents } from './recent-events.ts'
import { eventsAfter, isConversation, pageOf, type Event, type Page } from '../stores/events.ts'

/** Reads of feeds for all waits and streams of this process. */
export const createFeeds = (database: Database) => {
  const recent = new RecentEvents<Event>(lengthOf)
  const read = sharedReads(database)
  let forgets = 0

  return {
    /** Committed events of one session, ascending. */
    extend: (session: string, events: readonly Event[]) => recent.extend(session, events),

    /** All events after `cursor`, trace included, up to `newest` or later; undefined when only the database has them. */
    recent: (session: string, cursor: number, newest: number) => recent.after(session, cursor, newest),

    /** Drops all cached events, or those of a session that is being purged: notifications may have been lost, the database replaced by a
     *  copy, or a session purged. */
    forget(session?: string) {
      forgets++
      recent.forget(session)
    },

    /** A page of events after `cursor`, returned without a promise when memory has it. `newest`: the sequence that the caller knows to be
     *  committed; memory that ends before it is passed over. */
    after(session: string, cursor: number, trace: boolean, newest: number): Page | Promise<Page> {
      const events = recent.after(session, cursor, newest)
      if (events) return pageOf(trace ? events : events.filter(({ type }) => isConversation(type)))
      const before = forgets // a read that began before one may have found what is to be forgotten
      return read(session, cursor, trace).then((page) => {
        if (forgets === before && isWithoutGap(page.events, cursor)) recent.extend(session, page.events)
        return page
      })
    },
  }
}

// An estimate of an event's bytes by the length of its texts. It runs for each post, so it encodes and copies next to nothing (bench/post).
const lengthOf = (event: Event) => {
  const fields = (event.content ?? event) as Record<string, unknown>
  let length = 300
  for (const name in fields) {
    const value = fields[name]
    length += typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
  }
  return length
}

const isWithoutGap = (events: Event[], cursor: number) => events.length > 0 && events.at(-1)!.sequence === cursor + events.length

// The woken readers of a session mostly stand at the same cursor, and share one read. A read is shared only until it begins: a later reader
// may know of a newer event than it sees.
const sharedReads = (database: Database) => {
  const waiting = new Map<string, Promise<Page>>()
  return (session: string, cursor: number, trace: boolean): Promise<Page> => {
    const key = `${session}/${cursor}/${trace}`
    const shared = waiting.get(key)
    if (shared) return shared
    const read = Promise.resolve().then(() => {
      waiting.delete(key)
      return eventsAfter(database, session, cursor, trace)
    })
    waiting.set(key, read)
    return read
  }
}
