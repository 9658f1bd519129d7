// Posts that cross: what others said that the poster has not read, as a refusal or as a hint in the answer.
import type { Queries } from '../../../db/database.ts'
import { pageWithin } from '../../core/budget.ts'
import { refuse } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'
import { noteMissed } from '../../stores/idempotency.ts'
import type { Event } from '../../stores/events.ts'
import { isNewsTo, newsAfter, whoseIs } from '../../stores/speech.ts'
import type { Services } from '../../process/services.ts'
import type { Member } from '../../stores/members.ts'
import { isUnreadBefore } from '../../stores/unread.ts'
import { deliver, deliveredTo } from './team-wait.ts'

const UNREAD_CHARS = 16_000

/** Refuses a post whose `expected_cursor` others have spoken after. The details have what they said, as a page without the poster's own,
 *  which counts as delivered unless it leaves out something before it that the team was not handed.
 *  `lastSequence`: where the log ended when that was found. */
export const refuseUnread = async (
  { services, queries, caller, call }: Context,
  { sessionId, holder, cursor, lastSequence }: { sessionId: string; holder: string; cursor: number; lastSequence: number },
): Promise<never> => {
  const read = await readOfOthers(services, { sessionId, holder, cursor, lastSequence })
  const { events: messages, hasMore: has_more } = pageWithin(read, UNREAD_CHARS)
  const seen = messages.filter((event) => isNewsTo(holder, event)).length
  const unread = has_more ? await newsAfter(queries, sessionId, cursor, holder) : seen
  const next_cursor = messages.length < read.events.length ? messages.at(-1)!.sequence : read.upTo
  if (caller.kind === 'team' && !call.signal().aborted && !(await skips(services, queries, caller.member, cursor)))
    await deliver(services, caller.member, { seen: cursor, delivered: next_cursor })
  return refuse(
    'unread',
    `Nothing was posted: others wrote since your expected_cursor. Read details.messages, think again, and post what you then have to say with expected_cursor ${next_cursor}.`,
    { unread, messages, next_cursor, has_more },
  )
}

// The first page after the cursor that has something of others in it, and up to where it was read.
const readOfOthers = async (
  services: Services,
  { sessionId, holder, cursor, lastSequence }: { sessionId: string; holder: string; cursor: number; lastSequence: number },
): Promise<{ events: Event[]; hasMore: boolean; upTo: number }> => {
  for (let upTo = cursor; ;) {
    const { events: read, hasMore } = await services.eventsAfter(sessionId, upTo, false, lastSequence)
    const events = read.filter((event) => whoseIs(event) !== holder)
    upTo = read.at(-1)?.sequence ?? upTo
    if (events.length > 0 || !hasMore) return { events, hasMore, upTo }
  }
}

// Whether the team passes over messages with this cursor that it was not handed, as one of `only: addressed` does: they stay unread.
const skips = (services: Services, queries: Queries, member: Member, cursor: number): Promise<boolean> =>
  isUnreadBefore(queries, {
    sessionId: member.session.id,
    teamId: member.teamId,
    delivered: deliveredTo(services, member),
    upTo: cursor,
  })

/** `missed` of an answer: how much others said before this post of the caller and after what it was handed. No field when they said
 *  nothing, for a post with `expected_cursor`, for a person, or when the database does not answer: the post is written all the same. The
 *  number is kept with the idempotency key's answer, so that a retry gets the same. */
export const missedBefore = async (
  { services, caller, idempotency }: Context,
  { session_id, expected_cursor }: { session_id: string; expected_cursor?: number | undefined },
  sequence: number,
): Promise<{ missed?: number }> => {
  if (caller.kind !== 'team') return {}
  const { teamId } = caller.member
  if (expected_cursor !== undefined) {
    services.missed.forget(teamId)
    return {}
  }
  try {
    const post = { sessionId: session_id, teamId, delivered: deliveredTo(services, caller.member), sequence }
    const missed = await services.missed.before(post)
    if (missed === 0) return {}
    if (idempotency) await noteMissed(services.database, { scope: session_id, ...idempotency }, missed)
    return { missed }
  } catch {
    return {}
  }
}
