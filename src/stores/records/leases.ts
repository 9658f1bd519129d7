// When a claim is over. Nothing is written for it while its team waits: its lease runs from when it was last renewed or its team was last seen, by the
// database's clock, so that it ends for every reader at the same moment. Whoever finds it over writes that down, under the session's lock.
import type { Queries } from '../../../db/database.ts'
import type { Untold } from '../../../db/records-schema.ts'

// Of an item `i`, with its holder's row `p`. A wait in flight counts up to now; none is asked for first, since `least` passes over null.
const SEEN = `greatest(i.claim_renewed_at, p.last_seen_at,
  case when p.polling_until is not null then least(p.polling_until, statement_timestamp()) end)`
/** SQL, with `HOLDER`; `lease`: an expression of the seconds. */
export const expiresAt = (lease: string): string => `(${SEEN} + ${lease}::int * interval '1 second')::timestamptz(3)`
export const holds = (lease: string): string =>
  `(p.left_at is null and i.claim_renewed_at > 'epoch' and ${expiresAt(lease)} > statement_timestamp())`
export const HOLDER = `participants p on p.session_id = i.session_id and p.team_id = i.claimed_team_id`

const OPENED = `status = 'open', claimed_team_id = null, claimed_team_name = null, claimed_at = null, claim_renewed_at = null,
  updated_at = statement_timestamp()`

/** SQL, for what writes that teams of `seen` were seen: their claims whose lease was over before are marked, so that being seen does not bring
 *  them back. `lease`: an expression of its seconds. */
export const endLapsedOf = (seen: string, lease: string): string => `
  update items i set claim_renewed_at = 'epoch' from participants p
  where p.session_id = i.session_id and p.team_id = i.claimed_team_id and i.status = 'claimed'
    and i.claimed_team_id in (select team_id from ${seen}) and not ${holds(lease)}`

/** An item that is open again, with who had it, if somebody had. */
export interface Released {
  id: string
  title: string
  teamId: string | null
  teamName: string | null
}

// Opens the items of `was`, and names them in the order of planning.
const OPENING = `opened as (
  update items i set ${OPENED} from was where i.id = was.id
  returning i.place, i.id, i.title, was.claimed_team_id as "teamId", was.claimed_team_name as "teamName"
) select id, title, "teamId", "teamName" from opened order by place`

/** Opens what is claimed and whose lease is over. The caller holds the session's lock. */
export const releaseLapsed = ({ query }: Queries, sessionId: string, leaseS: number): Promise<Released[]> =>
  query<Released>(
    `with was as (select i.id, i.claimed_team_id, i.claimed_team_name from items i left join ${HOLDER}
       where i.session_id = $1 and i.status = 'claimed' and ${holds('$2')} is not true), ${OPENING}`,
    [sessionId, leaseS],
  )

/** Opens what a team holds. The caller holds the session's lock. */
export const releaseClaimsOf = ({ query }: Queries, sessionId: string, teamId: string): Promise<Released[]> =>
  query<Released>(
    `with was as (select id, claimed_team_id, claimed_team_name from items
       where session_id = $1 and status = 'claimed' and claimed_team_id = $2), ${OPENING}`,
    [sessionId, teamId],
  )

/** The items of a session that are open since a claim ended of which it was not told, in the order of planning. From then on it counts as
 *  told. */
export const takeUntold = async ({ query }: Queries, sessionId: string): Promise<{ id: string; title: string; untold: Untold }[]> => {
  const rows = await query<{ id: string; title: string; status: string; untold: Untold }>(
    'select id, title, status, untold from items where session_id = $1 and untold is not null order by place',
    [sessionId],
  )
  if (rows.length > 0) await query('update items set untold = null where session_id = $1 and untold is not null', [sessionId])
  return rows.filter(({ status }) => status === 'open')
}

/** The sessions in which a lease is over and that is not written down yet, and the database's time. */
export const lapsedSessions = async ({ query }: Queries, leaseS: number): Promise<{ sessions: string[]; atMs: number }> => {
  const [row] = await query<{ sessions: string[]; atMs: number }>(
    `select (extract(epoch from statement_timestamp()) * 1000)::float8 as "atMs", coalesce(jsonb_agg(distinct i.session_id), '[]') as sessions
     from items i left join ${HOLDER}
     where i.status = 'claimed' and i.claim_renewed_at <= statement_timestamp() - $1::int * interval '1 second'
       and ${holds('$1')} is not true`,
    [leaseS],
  )
  return row!
}

// Of a claim that ends so soon after an outage, its team may not be back yet.
const ENDS_SOON = "interval '1 minute'"

/** Gives their whole time once more to the claims whose lease is over, and that is not written down yet, or will be over within a minute. In a
 *  concluded session that is written down when it goes on, so that they may be over for long. */
export const renewLapsed = async ({ query }: Queries, leaseS: number): Promise<void> =>
  void (await query(
    `update items i set claim_renewed_at = statement_timestamp() from participants p, sessions s
     where p.session_id = i.session_id and p.team_id = i.claimed_team_id and s.id = i.session_id and s.status <> 'closed'
       and s.archived_at is null and i.status = 'claimed' and p.left_at is null
       and not (i.claim_renewed_at > 'epoch' and ${expiresAt('$1')} > statement_timestamp() + ${ENDS_SOON})`,
    [leaseS],
  ))

// An agent's task runs, whose CLI may say nothing to Parley for as long as it edits and tests.
const AT_WORK = `exists (select from tasks t where t.status = 'running' and t.runner_id is not null
  and (exists (select from agents a where a.session_id = t.session_id and a.team_id = i.claimed_team_id)
    or exists (select from seats s where s.holder = t.session_id and s.team_id = i.claimed_team_id)))`

/** Renews the claims of teams that have called, each at most once in ten seconds, and of those whose agent is at work, once in a twentieth of the
 *  lease. One that is over stays over. */
export const renewClaims = async ({ query }: Queries, teamIds: string, leaseS: number): Promise<void> =>
  void (await query(
    `update items i set claim_renewed_at = statement_timestamp() from participants p
     where p.session_id = i.session_id and p.team_id = i.claimed_team_id and i.status = 'claimed'
       and (i.claimed_team_id = any($1::uuid[]) or ${AT_WORK})
       and i.claim_renewed_at < statement_timestamp()
         - case when i.claimed_team_id = any($1::uuid[]) then interval '10 seconds' else $2::int * interval '50 milliseconds' end
       and ${holds('$2')}`,
    [teamIds, leaseS],
  ))
