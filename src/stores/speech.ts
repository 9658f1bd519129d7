// What a team should have read before it speaks: what others said, and changes of the session's title or description. Whatever counts as
// that, counts by the same rule in the statement that writes a post, in a count, and in memory.
import type { Queries } from '../../db/database.ts'
import { doerOf, DONE_BY, isMessage, MESSAGE, type Event } from './events.ts'
import { asText } from '../core/text/as-text.ts'

const CHANGE = 'session_metadata_updated'

/** Whose an event is, in the words of a draft's `holder`: a team's handle, person:<name>, or key:<name>. */
export const whoseIs = (event: Event): string =>
  asText(event.posted_by_team_id ?? event[DONE_BY]) ||
  `${event.author === 'key' ? 'key' : 'person'}:${asText(event.type === 'system' ? event.by : event.team)}`

/** Whether it is another's than `holder`, and worth reading before `holder` speaks. */
export const isNewsTo = (holder: string, event: Event): boolean =>
  (isMessage(event.type) || event.event === CHANGE) && whoseIs(event) !== holder

/** The same as a condition on the events `e`; `holder`: an SQL expression. */
export const isOfOthers = (e: string, holder: string): string => `(
  (${e}.${MESSAGE} or (${e}.type = 'system' and ${e}.content ->> 'event' = '${CHANGE}'))
  and coalesce(${doerOf(e)}::text,
    case ${e}.author when 'key' then 'key:' else 'person:' end ||
    case when ${e}.type = 'system' then ${e}.content ->> 'by' else ${e}.author_name end) is distinct from ${holder})`

export const MOST_NEWS = 1_000

const COUNT = `select count(*)::int as count from (select from events e where session_id = $1 and sequence > $2
  and ${isOfOthers('e', '$3::text')} limit ${MOST_NEWS}) news`

/** How much news there is for `holder` after the cursor, counted to 1,000. */
export const newsAfter = async ({ query }: Queries, sessionId: string, cursor: number, holder: string): Promise<number> =>
  (await query<{ count: number }>(COUNT, [sessionId, cursor, holder]))[0]!.count

/** A team's post, and the cursor up to which the caller knows that the team was delivered the feed. */
export interface Missing {
  sessionId: string
  teamId: string
  delivered: number
  sequence: number
}

const MISSED = `
select ord, delivered, (select count(*)::int from (select from events e where e.session_id = k.session_id and e.sequence > k.delivered
  and e.sequence < k.sequence and ${isOfOthers('e', 'k.team_id::text')} limit ${MOST_NEWS}) news) as missed
from (
  select k.ord, k.session_id, k.team_id, k.sequence, greatest(k.delivered, p.delivered_cursor) as delivered
  from json_to_recordset($1::json) as k(ord int, session_id uuid, team_id uuid, delivered bigint, sequence bigint)
  join participants p on p.session_id = k.session_id and p.team_id = k.team_id
) k`

/** How much news there was for each of these teams before its post, after what it was delivered by any instance; counted to 1,000. */
export const missedBy = async ({ query }: Queries, posts: Missing[]): Promise<{ delivered: number; missed: number }[]> => {
  const keys = posts.map(({ sessionId, teamId, delivered, sequence }, ord) => ({
    ord,
    session_id: sessionId,
    team_id: teamId,
    delivered,
    sequence,
  }))
  const counts = posts.map(({ delivered }) => ({ delivered, missed: 0 }))
  for (const { ord, ...counted } of await query<{ ord: number; delivered: number; missed: number }>(MISSED, [JSON.stringify(keys)]))
    counts[ord] = counted
  return counts
}
