// The one way an event comes into the log. Its number is taken under the session's row lock, in the transaction that writes it:
// a sequence object would let readers skip events, since commits do not come in the order of its numbers.
import type { Queries } from '../../db/database.ts'
import { uuid7 } from '../core/ids.ts'
import { utf8Bytes } from '../core/text.ts'
import { eventOf, type Event } from './events.ts'

export interface Draft {
  sessionId: string
  type: 'chat' | 'user_input' | 'system'
  author: 'team' | 'person' | 'system'
  authorName?: string | undefined // a team's is on its roster row
  teamId?: string | undefined // must be present in the session when the lock is held
  holder?: string | undefined // who takes the turn: the team's handle, or person:<name>
  content: Record<string, unknown>
  replyTo?: string | undefined
  to?: string[] | undefined
  evenClosed?: boolean // conclude and reopen write to a session that is closed
  key?: AppendKey | undefined
}

export interface AppendKey {
  caller: string
  keyHash: string
  operation: string
  bodyHash: string
}

export type Appended =
  | { outcome: 'appended'; event: Event; turn: number; ordinal: number }
  | { outcome: 'unauthorized' }
  | { outcome: 'closed' }
  | { outcome: 'replayed'; operation: string; bodyHash: string; answer: Record<string, unknown> }

interface Answered {
  ord: number
  outcome: 'appended' | 'unauthorized' | 'closed' | 'replayed'
  name: string | null
  used_for: string
  used_with: string
  answer: Record<string, unknown>
  sequence: number
  turn: number
  ordinal: number
  at: string
}

/** Numbers and writes all drafts in one statement, whichever sessions they belong to, and tells other instances (`instance` is
 *  this one's name; undefined: nobody else listens). A draft that may not be written is told so and leaves no number unused. */
export const appendEvents = async ({ query }: Queries, drafts: Draft[], instance: string | undefined): Promise<Appended[]> => {
  const posts = drafts.map(recordOf)
  const rows = await query<Answered>(APPEND, [JSON.stringify(posts), instance ?? null])
  const answers: Appended[] = []
  for (const row of rows) answers[row.ord] = appendedOf(row, posts[row.ord]!)
  return answers
}

const recordOf = (draft: Draft, ord: number) => ({
  ord,
  id: uuid7(),
  session_id: draft.sessionId,
  team_id: draft.teamId,
  author: draft.author,
  author_name: draft.authorName,
  holder: draft.holder,
  type: draft.type,
  content: draft.content,
  size: utf8Bytes(JSON.stringify(draft.content)),
  reply_to: draft.replyTo,
  to_team_ids: draft.to,
  even_closed: draft.evenClosed ?? false,
  caller: draft.key?.caller,
  key_hash: draft.key?.keyHash,
  operation: draft.key?.operation,
  body_hash: draft.key?.bodyHash,
})

const appendedOf = (row: Answered, post: ReturnType<typeof recordOf>): Appended => {
  if (row.outcome === 'replayed') return { outcome: 'replayed', operation: row.used_for, bodyHash: row.used_with, answer: row.answer }
  if (row.outcome !== 'appended') return { outcome: row.outcome }
  const { id, type, author, content } = post
  const { sequence, turn, ordinal, at } = row
  const links = { reply_to: post.reply_to ?? null, to_team_ids: post.to_team_ids ?? null }
  const event = eventOf({
    id,
    sequence,
    type,
    author,
    author_name: row.name,
    posted_by_team_id: post.team_id ?? null,
    content,
    turn,
    at,
    ...links,
  })
  return { outcome: 'appended', event, turn, ordinal }
}

// By hand, because it is the hot path and one round trip: bench/post has the figures. Read it top down:
//   heads     locks the sessions in id order (no deadlock between batches) and sees their newest counters
//   judged    decides what becomes of each post: replays first, then the team's presence, then a closed session
//   spoken    who held the turn before each post that can take it
//   opened    a turn opens with the log, with each prompt, and with each chat of another author than the one who holds it
//   numbered  sequence, turn and ordinal; a system event falls into the open turn
// `at` is read after the lock and never runs against the sequence. The notification carries numbers, never content.
const APPEND = `
with posts as (
  select * from json_to_recordset($1::json) as p(ord int, id uuid, session_id uuid, team_id uuid, author text, author_name text,
    holder text, type text, content jsonb, size int, reply_to uuid, to_team_ids uuid[], even_closed boolean,
    caller text, key_hash text, operation text, body_hash text)
), heads as materialized (
  select id, status, last_sequence, turn, turn_holder, turn_events
  from sessions where id in (select session_id from posts) order by id for no key update
), judged as (
  select p.*, h.last_sequence, h.turn as open_turn, h.turn_holder, h.turn_events, coalesce(p.author_name, m.team_name) as name,
    i.operation as used_for, i.body_hash as used_with, i.answer,
    case when h.id is null then 'unauthorized'
      when i.key_hash is not null then 'replayed'
      when p.team_id is not null and (m.team_id is null or m.left_at is not null) then 'unauthorized'
      when h.status = 'closed' and not p.even_closed then 'closed'
      else 'appended' end as outcome
  from posts p
  left join heads h on h.id = p.session_id
  left join participants m on m.session_id = p.session_id and m.team_id = p.team_id
  left join idempotency i on i.scope = p.session_id::text and i.caller = p.caller and i.key_hash = p.key_hash
), spoken as (
  select ord, coalesce(lag(holder) over (partition by session_id order by ord), turn_holder) as before
  from judged where outcome = 'appended' and holder is not null
), opened as (
  select j.*, row_number() over one as n,
    case when j.open_turn = 0 and row_number() over one = 1 then 1
      when j.type = 'user_input' then 1
      when j.type = 'chat' and s.before <> j.holder then 1
      else 0 end as opens
  from judged j left join spoken s using (ord) where j.outcome = 'appended'
  window one as (partition by j.session_id order by j.ord)
), turned as (
  select *, (open_turn + sum(opens) over (partition by session_id order by ord))::int as turn from opened
), numbered as (
  select *, last_sequence + n as sequence,
    (row_number() over (partition by session_id, turn order by ord) + case when turn = open_turn then turn_events else 0 end)::int as ordinal
  from turned
), advanced as (
  update sessions s set last_sequence = a.sequence, last_conversation_sequence = a.sequence, turn = a.turn, turn_events = a.ordinal,
    turn_holder = coalesce(a.holder, s.turn_holder), last_event_at = greatest(s.last_event_at, clock_timestamp())
  from (
    select session_id, max(sequence) as sequence, max(turn) as turn, (array_agg(ordinal order by ord desc))[1] as ordinal,
      (array_agg(holder order by ord desc) filter (where holder is not null))[1] as holder
    from numbered group by session_id
  ) a where s.id = a.session_id
  returning s.id, s.last_event_at as at, s.last_sequence
), written as (
  insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size, reply_to, to_team_ids, at)
  select n.session_id, n.sequence, n.id, n.turn, n.ordinal, n.type, n.author, n.name, n.team_id, n.content, n.size, n.reply_to, n.to_team_ids, a.at
  from numbered n join advanced a on a.id = n.session_id
), remembered as (
  insert into idempotency (scope, caller, key_hash, operation, body_hash, answer)
  select n.session_id::text, n.caller, n.key_hash, n.operation, n.body_hash, jsonb_build_object('message_id', n.id, 'cursor', n.sequence,
    'at', to_char(a.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from numbered n join advanced a on a.id = n.session_id where n.key_hash is not null
), told as (
  select count(pg_notify('parley', $2 || '|' || sessions)) as n from (
    select string_agg(id || ':' || last_sequence, ',') as sessions
    from (select id, last_sequence, (row_number() over () - 1) / 120 as part from advanced where $2::text is not null) parts group by part
  ) chunks
)
select j.ord, j.outcome, j.name, j.used_for, j.used_with, j.answer, n.sequence, n.turn, n.ordinal, a.at
from judged j left join numbered n using (ord) left join advanced a on a.id = n.session_id cross join told`
