// The messages that are addressed to a team: those that name it in `to`, and those that answer one of its own. And whether it has unread ones.
import type { Queries } from '../../db/database.ts'
import { plainArray } from '../../db/arrays.ts'
import { CONVERSATION, doerOf, DONE_BY, page, PAGE_EVENTS, type Event, type Page } from './events.ts'

// The first line is the partial index events_addressed: a team's few messages are found without reading the feed.
// Of 20,000 messages 300 with `to`, 100 of them to the team: 0.3 ms, without the index 7 ms (explain analyze, PostgreSQL 15).
export const ADDRESSED = (team: string) => `(to_team_ids is not null or reply_to is not null)
  and ${doerOf('events')} is distinct from ${team} and (to_team_ids @> array[${team}] or exists (
    select 1 from events answered where answered.id = events.reply_to and answered.session_id = events.session_id
      and answered.posted_by_team_id = ${team}))`

/** A page of what follows `cursor` and is addressed to the team. */
export const addressedAfter = (queries: Queries, sessionId: string, teamId: string, cursor: number): Promise<Page> =>
  page(queries, `session_id = $1 and sequence > $2 and ${ADDRESSED('$3::uuid')}`, 'asc', [sessionId, cursor, teamId], PAGE_EVENTS)

/** The events among these, all of one session, that are addressed to the team. */
export const addressedAmong = async ({ query }: Queries, teamId: string, events: Event[]): Promise<Event[]> => {
  const others = events.filter((event) => (event.posted_by_team_id ?? event[DONE_BY]) !== teamId)
  const answers = others.flatMap(({ reply_to, to }) => (reply_to && !isTo(to, teamId) ? [reply_to as string] : []))
  const own =
    answers.length === 0
      ? []
      : await query<{ id: string }>('select id from events where id = any($1::uuid[]) and posted_by_team_id = $2', [
          plainArray(answers),
          teamId,
        ])
  const answered = new Set<unknown>(own.map(({ id }) => id))
  return others.filter(({ to, reply_to }) => isTo(to, teamId) || answered.has(reply_to))
}

const isTo = (to: unknown, teamId: string) => Array.isArray(to) && to.includes(teamId)

/** Whether others have said something up to `upTo` that was not delivered to the team: by the team's row, or by `delivered`, whichever is
 *  further. */
export const isUnreadBefore = async (
  { query }: Queries,
  { sessionId, teamId, delivered, upTo }: { sessionId: string; teamId: string; delivered: number; upTo: number },
): Promise<boolean> => {
  const rows = await query(
    `select from events where session_id = $1 and ${CONVERSATION} and ${doerOf('events')} is distinct from $2::uuid
       and sequence > greatest($3::int8, (select delivered_cursor from participants where session_id = $1 and team_id = $2::uuid))
       and sequence <= $4 limit 1`,
    [sessionId, teamId, delivered, upTo],
  )
  return rows.length > 0
}
