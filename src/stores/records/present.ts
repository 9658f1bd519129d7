// Which teams of a session are here: what they own is left to them by a team that asks for any work.
import type { Queries } from '../../../db/database.ts'
import { doerOf } from '../events.ts'
import { agentPresence } from '../members.ts'

const SINCE = `statement_timestamp() - $2::int * interval '1 second'`

// No index says who wrote what: of a log its newest events are looked through, and only where a team is here by nothing else.
const PRESENT = `
select p.team_name from participants p left join agents a on a.session_id = p.session_id and a.team_id = p.team_id
where p.session_id = $1 and p.left_at is null and (
  greatest(p.last_seen_at, p.polling_until, p.slept_at, p.sleeping_until) > ${SINCE}
  or ${agentPresence('a')} <> 'away'
  or p.team_id in (select claimed_team_id from items where session_id = $1 and status = 'claimed' and claim_renewed_at > ${SINCE})
  or p.team_id in (select ${doerOf('newest')}
    from (select posted_by_team_id, by_team_id, at from events where session_id = $1 order by sequence desc limit 500) newest
    where at > ${SINCE}))`

/** The names of the teams that have not left, and that within so many seconds polled, were asleep, wrote into the log, or called while they
 *  held a claim; and of the session's agent, unless it is away. */
export const presentSince = async ({ query }: Queries, sessionId: string, seconds: number): Promise<string[]> => {
  const rows = await query<{ team_name: string }>(PRESENT, [sessionId, seconds])
  return rows.map(({ team_name }) => team_name)
}
