// How many teams messages have woken in a session since its hour began: counted by one conditional statement, so that two instances together
// grant no more than there are.
import { eq, sql, type Placeholder, type SQL } from 'drizzle-orm'
import type { Queries } from '../../db/database.ts'
import { pgArray, plainArray } from '../../db/arrays.ts'
import { wakes } from '../../db/session-schema.ts'

/** The condition that the hour of the row `w` of wakes is over: it has passed, or a person has spoken since it began. */
export const hourIsOver = (w: string) =>
  `coalesce(${w}.since < clock_timestamp() - interval '1 hour' or ${w}.since <= (select person.at from events person
    where person.session_id = ${w}.session_id and person.author = 'person' and person.source_line is null order by person.sequence desc limit 1), false)`

/** SQL: when a session's current hour began, if its wakes are used up; else null. For a statement that joins wakes. With 0 per hour there
 *  are none to use up. */
export const usedUpSince = (perHour: Placeholder | number): SQL<string | null> =>
  sql<
    string | null
  >`case when ${wakes.taken} >= ${perHour}::int and ${perHour}::int > 0 and not ${sql.raw(hourIsOver('wakes'))} then ${wakes.since} end`

export interface WakeClaim {
  teamId: string
  /** The newest event that it is for: a team is counted once for it, however many of its peeks it ends. */
  through: number
  /** It is granted although the hour's wakes are used up: somebody has addressed the team. */
  always: boolean
  /** It is granted and takes none of the hour's wakes: a person has spoken. */
  free: boolean
}

// The row of wakes is locked first, so that instances decide one after the other. The steps, top down:
//   hour     the row as it is once the lock is held
//   known    locks the teams, after that, and in one order (stores/presence.ts): so each is seen as the instance before left it
//   fresh    the claims that were not counted yet, those that nothing refuses first
//   granted  those among them for which there is a wake left
//   woken    counts each of them
const CLAIM = `
with claims as (
  select * from unnest($2::uuid[], $3::int8[], $4::bool[], $5::bool[]) as c(team_id, through, always, free)
), hour as materialized (
  select ended, case when ended then 0 else taken end as taken from (
    select w.taken, ${hourIsOver('w')} as ended from wakes w where w.session_id = $1 for update of w) locked
), known as materialized (
  select c.*, p.woken_cursor < c.through as fresh
  from hour, claims c join participants p on p.session_id = $1 and p.team_id = c.team_id
  order by p.session_id, p.team_id for no key update of p
), fresh as (
  select *, row_number() over (partition by free order by always desc, team_id) as n from known where fresh
), granted as materialized (
  select f.team_id, f.through, f.free from fresh f, hour where f.free or f.always or f.n <= $6::int - hour.taken
), woken as (
  update participants p set woken_cursor = g.through from granted g
  where p.session_id = $1 and p.team_id = g.team_id returning g.free
), counted as (
  update wakes set taken = hour.taken + (select count(*)::int from woken where not free),
    since = case when hour.ended then clock_timestamp() else wakes.since end
  from hour where session_id = $1
)
select k.team_id, k.fresh from known k where not k.fresh or k.team_id in (select team_id from granted)`

/** Grants wakes to teams of one session, at most `perHour` in an hour without a person's word. Returns the teams that may be woken; `fresh`:
 *  this is what counts it. */
export const claimWakes = async (
  { query }: Queries,
  sessionId: string,
  claims: WakeClaim[],
  perHour: number,
): Promise<{ team_id: string; fresh: boolean }[]> =>
  query(CLAIM, [
    sessionId,
    plainArray(claims.map(({ teamId }) => teamId)),
    plainArray(claims.map(({ through }) => through)),
    pgArray(claims.map(({ always }) => always)),
    pgArray(claims.map(({ free }) => free)),
    perHour,
  ])

/** The session gets a row of wakes, if it has none. */
export const ensureWakes = async ({ db }: Queries, sessionId: string): Promise<void> =>
  void (await db.insert(wakes).values({ sessionId }).onConflictDoNothing())

/** A person lets the session's teams be woken again: its hour begins anew. Returns whether its wakes were used up. */
export const beginHour = async ({ db }: Queries, sessionId: string, perHour: number): Promise<boolean> => {
  const [before] = await db
    .select({ since: usedUpSince(perHour) })
    .from(wakes)
    .where(eq(wakes.sessionId, sessionId))
  await db
    .update(wakes)
    .set({ taken: 0, since: sql`clock_timestamp()` })
    .where(eq(wakes.sessionId, sessionId))
  return before?.since != null
}
