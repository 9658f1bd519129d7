// What a peek counts, for many teams in one statement: a message that lands in a session with 1,000 sleepers asks for all of them at once.
import type { Queries } from '../../db/database.ts'
import { CONVERSATION, doerOf } from './events.ts'
import { MOST_NEWS } from './speech.ts'
import { ADDRESSED } from './unread.ts'
import { hourIsOver } from './wakes.ts'

export interface PeekKey {
  sessionId: string
  teamId: string
  /** The cursors after which to count: everything, and what is addressed to the team. */
  after: number
  addressedAfter: number
}

export interface Peeked {
  unread: number
  addressed: number
  lastCursor: number
  docVersion: number
  closed: boolean
  /** A person said some of it. */
  byPerson: boolean
  /** A wake of the team for all this has been counted already. */
  counted: boolean
  /** How many wakes the session's hour has counted; null before the first. */
  taken: number | null
}

// By the rule of whoseIs (speech.ts).
const OTHERS = `${doerOf('events')} is distinct from k.team_id`

const PEEKS = `
select k.ord, s.last_conversation_sequence as "lastCursor", s.status = 'closed' as closed, coalesce(d.version, 0) as "docVersion",
  (select count(*)::int from (select 1 from events where session_id = k.session_id and sequence > k.after and ${CONVERSATION}
    and ${OTHERS} limit ${MOST_NEWS}) unread) as unread,
  (select count(*)::int from (select 1 from events where session_id = k.session_id and sequence > k.addressed_after
    and ${ADDRESSED('k.team_id')} limit ${MOST_NEWS}) addressed) as addressed,
  exists (select from events where session_id = k.session_id and sequence > k.after and author = 'person' and source_line is null) as "byPerson",
  p.woken_cursor >= s.last_conversation_sequence as counted, case when ${hourIsOver('w')} then 0 else w.taken end as taken
from json_to_recordset($1::json) as k(ord int, session_id uuid, team_id uuid, after bigint, addressed_after bigint)
join sessions s on s.id = k.session_id
join participants p on p.session_id = k.session_id and p.team_id = k.team_id
left join session_docs d on d.session_id = k.session_id
left join wakes w on w.session_id = k.session_id`

/** Counts for each key, up to 1,000 of each, what others said and did after its cursors, all as of one moment; undefined for a team that is
 *  gone with its session. */
export const peekedBy = async ({ query }: Queries, keys: PeekKey[]): Promise<(Peeked | undefined)[]> => {
  const rows = keys.map(({ sessionId, teamId, after, addressedAfter }, ord) => {
    return { ord, session_id: sessionId, team_id: teamId, after, addressed_after: addressedAfter }
  })
  const peeked: (Peeked | undefined)[] = keys.map(() => undefined)
  for (const { ord, ...peek } of await query<Peeked & { ord: number }>(PEEKS, [JSON.stringify(rows)])) peeked[ord] = peek
  return peeked
}
