// The teams of a session: the lookup behind every call of a team, and the roster.
import { and, asc, eq, getTableColumns, gt, isNull, ne, or, sql } from 'drizzle-orm'
import { prepared, type Queries } from '../../db/database.ts'
import { acks, participants } from '../../db/schema.ts'
import { parseToken, sameText, sha256, type Token } from '../core/ids.ts'
import { agents } from '../../db/control-schema.ts'
import { isOnline } from './control/runners.ts'
import { lastUntil } from './events.ts'
import { plainArray } from '../../db/arrays.ts'

/** What a wait or a read needs to know of a session before it begins. */
export interface SessionEnd {
  id: string
  closed: boolean
  lastSequence: number
  lastConversationSequence: number
  docVersion: number
}

export interface Member {
  session: SessionEnd
  teamId: string
  tokenHash: string
  teamName: string
  left: boolean
  invited: boolean // joined by an invitation
  verified: boolean // joined with a key
  lastSeenCursor: number
  deliveredCursor: number
  addressedCursor: number
}

export interface MemberId {
  sessionId: string
  teamId: string
}

export type Participant = typeof participants.$inferSelect

type MemberRow = Omit<Member, 'session'> & SessionEnd & { ord: number }

// Every call of every team goes through this statement: calls at the same time share one (core/runtime/batch-loader.ts).
const MEMBERS = `
select k.ord, s.id, s.status = 'closed' as closed, s.last_sequence as "lastSequence",
  s.last_conversation_sequence as "lastConversationSequence", coalesce(d.version, 0) as "docVersion",
  p.team_id as "teamId", p.token_hash as "tokenHash", p.team_name as "teamName", p.left_at is not null as left,
  p.invitation_id is not null as invited, p.verified, p.last_seen_cursor as "lastSeenCursor",
  p.delivered_cursor as "deliveredCursor", p.addressed_cursor as "addressedCursor"
from json_to_recordset($1::json) as k(ord int, session_id uuid, team_id uuid)
join participants p on p.session_id = k.session_id and p.team_id = k.team_id
join sessions s on s.id = k.session_id
left join session_docs d on d.session_id = k.session_id`

export const findMembers = async ({ query }: Queries, keys: MemberId[]): Promise<(Member | undefined)[]> => {
  const rows = keys.map(({ sessionId, teamId }, ord) => ({ ord, session_id: sessionId, team_id: teamId }))
  const members: (Member | undefined)[] = keys.map(() => undefined)
  for (const row of await query<MemberRow>(MEMBERS, [JSON.stringify(rows)])) members[row.ord] = memberOf(row)
  return members
}

/** The team of this session that the token `text` belongs to, present or left, as this transaction sees it. */
export const memberByToken = async (queries: Queries, sessionId: string, text = ''): Promise<Member | undefined> => {
  const token = parseToken(text)
  if (!token) return undefined
  const [member] = await findMembers(queries, [{ sessionId, teamId: token.handle }])
  return member && proves(token, member) ? member : undefined
}

/** The session that a team belongs to, by its handle. */
export const sessionOfTeam = async ({ query }: Queries, handle: string): Promise<string | undefined> => {
  const [row] = await query<{ session_id: string }>('select session_id from participants where team_id = $1', [handle])
  return row?.session_id
}

export const proves = ({ secret }: Token, { tokenHash }: Member) => sameText(tokenHash, sha256(secret))

const memberOf = ({ ord: _, id, closed, lastSequence, lastConversationSequence, docVersion, ...member }: MemberRow): Member => ({
  session: { id, closed, lastSequence, lastConversationSequence, docVersion },
  ...member,
})

/** How it is with a team that is the session's agent: a task runs, or its runner is online, or is not. */
export type AgentPresence = 'working' | 'ready' | 'away'

/** A team on the roster, with the cursor up to which it has acknowledged the feed. `agent`: null for a team that is no session's agent. */
export type RosterRow = Participant & { acknowledgedCursor: number; agent: AgentPresence | null }

/** SQL: how it is with the agent `a`, a row of agents; null where none was joined, which costs one look into an index for each team. */
export const agentPresence = (a: string): string => `case when ${a}.session_id is null then null
  when exists (select from tasks t where t.session_id = ${a}.session_id and t.status = 'running' and t.runner_id is not null) then 'working'
  when exists (select from sessions s join worktrees w on w.id = s.worktree_id and w.gone_at is null join runners r on r.id = w.runner_id
    where s.id = ${a}.session_id and ${isOnline('r')}) then 'ready'
  else 'away' end`

export const roster = (queries: Queries, sessionId: string): Promise<RosterRow[]> => rostersOf(queries, [sessionId])

const PRESENCE = sql<AgentPresence | null>`${sql.raw(agentPresence('agents'))}`

const ROSTERS = prepared((db) =>
  db
    .select({ ...getTableColumns(participants), acknowledgedCursor: sql<number>`coalesce(${acks.cursor}, 0)`, agent: PRESENCE })
    .from(participants)
    .leftJoin(acks, and(eq(acks.sessionId, participants.sessionId), eq(acks.teamId, participants.teamId)))
    .leftJoin(agents, and(eq(agents.sessionId, participants.sessionId), eq(agents.teamId, participants.teamId)))
    .where(sql`${participants.sessionId} = any(${sql.placeholder('ids')}::uuid[])`)
    .orderBy(asc(participants.joinedAt), asc(participants.teamId))
    .prepare('rosters'),
)

/** The rosters of several sessions, in one statement. */
export const rostersOf = async (queries: Queries, sessionIds: string[]): Promise<RosterRow[]> =>
  sessionIds.length === 0 ? [] : ROSTERS(queries).execute({ ids: plainArray(sessionIds) })

export const addParticipant = async ({ db }: Queries, values: typeof participants.$inferInsert): Promise<Participant> => {
  // A millisecond after the one before, at least, and not when the transaction began: the list has the order of the log.
  const latest = sql`select max(joined_at) + interval '1 millisecond' from participants where session_id = ${values.sessionId}`
  const joinedAt = sql`greatest(clock_timestamp(), (${latest}))`
  const [row] = await db
    .insert(participants)
    .values({ joinedAt, ...values })
    .returning()
  return row!
}

/** Replaces the token of a team: whoever has the one before is nobody. A process may remember that one until it hears of it. */
export const setTokenHash = async ({ db }: Queries, sessionId: string, teamId: string, tokenHash: string): Promise<void> =>
  void (await db
    .update(participants)
    .set({ tokenHash })
    .where(and(eq(participants.sessionId, sessionId), eq(participants.teamId, teamId))))

/** Whether the team is still there. Asked under the session's lock: it may have left since it was looked up. */
export const isPresent = async ({ db }: Queries, sessionId: string, teamId: string): Promise<boolean> => {
  const mine = and(eq(participants.sessionId, sessionId), eq(participants.teamId, teamId), isNull(participants.leftAt))
  return (await db.select({ teamId: participants.teamId }).from(participants).where(mine)).length > 0
}

/** Marks a team as left. Returns the time, or undefined if it had left before. */
export const markLeft = async ({ db }: Queries, sessionId: string, teamId: string): Promise<string | undefined> => {
  const [row] = await db
    .update(participants)
    .set({ leftAt: sql`clock_timestamp()` })
    .where(and(eq(participants.sessionId, sessionId), eq(participants.teamId, teamId), isNull(participants.leftAt)))
    .returning({ leftAt: participants.leftAt })
  return row?.leftAt ?? undefined
}

/** Records that the team has acknowledged the feed up to `cursor`. Never moves back. */
export const acknowledge = async ({ db }: Queries, sessionId: string, teamId: string, cursor: number) => {
  const [row] = await db
    .insert(acks)
    .values({ sessionId, teamId, cursor, at: sql`clock_timestamp()` })
    .onConflictDoUpdate({
      target: [acks.sessionId, acks.teamId],
      set: { cursor: sql`greatest(${acks.cursor}, excluded.cursor)`, at: sql`clock_timestamp()` },
    })
    .returning({ cursor: acks.cursor, at: acks.at })
  return row!
}

/** Since when a team counts as around: by its polls, and by the peeks that it held. */
export interface AroundThresholds {
  seenSince: string
  sleptSince: string
  now: string
}

/** The condition that a team is present in an open session: active, asleep or idle. An index on the hour leaves few for a closer look, and the
 *  session of each is looked up: a join would read all open sessions, as the database does not know how few they are. */
export const isAround = ({ seenSince, sleptSince, now }: AroundThresholds) =>
  and(
    isNull(participants.leftAt),
    gt(participants.seenHour, sql`least(${seenSince}::timestamptz, ${sleptSince}) - interval '1 hour'`),
    or(
      gt(sql`greatest(${participants.lastSeenAt}, ${participants.pollingUntil})`, seenSince),
      gt(participants.sleptAt, sleptSince),
      gt(participants.sleepingUntil, now),
    ),
    sql`(select status from sessions where id = ${participants.sessionId}) = 'active'`,
  )

// From the few teams that are around to their sessions' conveners. As in rooms/convener.ts, a convener that posts is there, even if it does
// not poll; only where something was said since is that looked through. A session's agent is never gone: a prompt sets it to work. The
// lateral join and `offset 0` keep this order: else Postgres reads all participants once for each open session.
const GONE_CONVENERS = `
with around as materialized (
  select distinct session_id from participants
  where left_at is null and seen_hour > $2::timestamptz - interval '1 hour' and greatest(last_seen_at, polling_until) > $2
)
select gone.* from around cross join lateral (
select s.id as "sessionId", c.team_id as "teamId", coalesce(c.left_at, c.last_seen_at) as "lastThere"
from sessions s join participants c on c.session_id = s.id and c.team_id = s.convener_team_id
where s.id = around.session_id and s.status = 'active' and s.archived_at is null and s.source = 'room'
and not exists (select from agents a where a.session_id = s.id and a.team_id = c.team_id) and (c.left_at is not null
  or (c.last_seen_at < $1 and coalesce(c.polling_until, '-infinity') <= $3 and not (s.last_event_at > $1 and exists (
    select from events e where e.session_id = s.id and e.posted_by_team_id = c.team_id and e.sequence > ${lastUntil('s.id', '$1')}))))
offset 0) gone`

/** The conveners of open sessions that have left or are gone, while other teams are around. */
export const goneConveners = (
  { query }: Queries,
  { seenBefore, othersSince, now }: { seenBefore: string; othersSince: string; now: string },
): Promise<(MemberId & { lastThere: string })[]> => query(GONE_CONVENERS, [seenBefore, othersSince, now])

/** The names of the teams that are around in other sessions. */
export const aroundElsewhere = async ({ db }: Queries, sessionId: string, since: AroundThresholds): Promise<string[]> => {
  const rows = await db
    .selectDistinct({ name: participants.teamName })
    .from(participants)
    .where(and(ne(participants.sessionId, sessionId), isAround(since)))
  return rows.map(({ name }) => name)
}
