// What the adapter holds of a stream, and where its feed ends.
import type { Feed } from './feed.ts'
import type { Producers } from './producers.ts'
import { CLOSED, NEXT_OFFSET, offsetOf } from './wire.ts'

export interface Stream {
  feed: Feed
  contentType: string
  /** The last Stream-Seq. */
  seq?: string
  producers: Producers
  /** The last append that had to come in order. */
  turn: Promise<unknown>
}

/** Where the feed ends, and whether for good. */
export const tailOf = async (feed: Feed) => {
  const answer = await feed.session()
  const cursor: number = answer.body.last_sequence
  const closed = answer.body.status === 'closed'
  const headers: Record<string, string> = { [NEXT_OFFSET]: offsetOf(cursor), ...(closed && { [CLOSED]: 'true' }) }
  return { answer, cursor, closed, headers }
}
