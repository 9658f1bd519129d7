// What follows a cursor in a feed: out of memory where the newest events suffice, else out of the log, in one read for all who ask.
import type { Database } from '../../db/database.ts'
import { Tail } from './recent-events.ts'
import { eventsAfter, isConversation, pageOf, type Event, type Page } from '../stores/events.ts'

/** Reads of feeds for all waits and streams of this process. */
export const feedsOver = (database: Database) => {
  const tail = new Tail<Event>(lengthOf)
  const read = sharedReads(database)

  return {
    /** Committed events of one session, ascending. */
    extend: (session: string, events: readonly Event[]) => tail.extend(session, events),

    /** Nothing is known from now on. */
    forget: () => tail.clear(),

    /** A page of what follows `cursor`, as of now or later; `newest`: what the caller knows to be committed. At once, out of memory. */
    after(session: string, cursor: number, trace: boolean, newest: number): Page | Promise<Page> {
      const held = tail.after(session, cursor, newest)
      if (held) return pageOf(trace ? held : held.filter(({ type }) => isConversation(type)))
      return read(session, cursor, trace).then((page) => {
        if (isWithoutGap(page.events, cursor)) tail.extend(session, page.events)
        return page
      })
    },
  }
}

// Near enough, and mostly without encoding anything: the length of texts. No copies either: it is asked for each post (bench/post).
const lengthOf = (event: Event) => {
  const said = (event.content ?? event) as Record<string, unknown>
  let length = 300
  for (const name in said) {
    const value = said[name]
    length += typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0)
  }
  return length
}

const isWithoutGap = (events: Event[], cursor: number) => events.length > 0 && events.at(-1)!.sequence === cursor + events.length

// The woken readers of a session mostly stand at the same cursor: they share one read. Never one that began before they asked.
const sharedReads = (database: Database) => {
  const asked = new Map<string, Promise<Page>>()
  return (session: string, cursor: number, trace: boolean): Promise<Page> => {
    const key = `${session}/${cursor}/${trace}`
    const shared = asked.get(key)
    if (shared) return shared
    const read = Promise.resolve().then(() => {
      asked.delete(key)
      return eventsAfter(database, session, cursor, trace)
    })
    asked.set(key, read)
    return read
  }
}
