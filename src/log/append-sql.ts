// The statements that number and write events, in SQL by hand: they are the hot path, and each is one round trip (bench/post, bench/wake).
import { isOfOthers } from '../stores/speech.ts'

/** How long a statement waits for the lock of each session, sign-in or key that another transaction holds: LOCK_WAIT in the shared batch,
 *  NO_LIMIT for a session that goes alone. */
export const LOCK_WAIT = '50ms'
export const NO_LIMIT = '0'

// A condition that is always true and sets lock_timeout for this transaction: a statement that waits longer for one lock fails with 55P03
// and has written nothing.
const waitingFor = (time: string) => `(select set_config('lock_timeout', ${time}, true)) is not null`

// Posts of any sessions, each checked by the database. The steps, top down:
//   seen      where the logs ended when the statement began, which is the state that all other steps see
//   heads     locks the sessions in id order (no deadlock between batches); counters and clock are read once the lock is held
//   good_…    the posts' sign-ins and keys that have not ended: locked after the sessions, so that their rows are read as they are by then
//   checked   the outcome of each post: a replay first, then the team's presence and the sign-in or key, then a session that is closed or
//             archived, then what the poster has not read. Posts to a log that grew while its lock was waited for are 'moved', and not
//             decided: a team may have left in between, and this statement would not see it
//   opened    a turn opens with the log, with each prompt, and with each chat of another author than the one who holds it
//   numbered  sequence, turn and ordinal; a system event falls into the open turn
// $23: LOCK_WAIT or NO_LIMIT.
// Arrays, no JSON, and no join between the steps: the planner knows nothing of their sizes and would choose nested loops.
export const APPEND_BATCH = `
with posts as (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::int[], $12::uuid[], $13::text[], $14::bool[], $15::uuid[], $16::bool[], $17::int8[], $18::uuid[], $19::text[],
    $20::text[], $21::text[], $22::text[])
  as p(ord, id, session_id, team_id, by_team_id, author, author_name, holder, type, content, size, reply_to, to_team_ids, expects_reply,
    task_id, even_closed, expected_cursor, credential_id, caller, key_hash, operation, body_hash)
), seen as materialized (
  select id, last_sequence from sessions where id in (select session_id from posts)
), heads as materialized (
  select *, greatest(last_event_at, clock_timestamp())::timestamptz(3) as at from (
    select id, status, archived_at, last_sequence, turn, turn_holder, turn_events, last_event_at
    from sessions where id in (select session_id from posts) and ${waitingFor('$23::text')} order by id for no key update
  ) locked
), asked as materialized (
  select array(select distinct credential_id from posts where credential_id is not null) as ids where (select count(*) from heads) > 0
), good_sign_ins as materialized (
  select id from sign_ins where id = any((select ids from asked)::uuid[]) and ended_at is null order by id for share
), good_keys as materialized (
  select id from keys where id = any((select ids from asked)::uuid[]) and revoked_at is null order by id for share
), checked as (
  select p.*, h.last_sequence, h.turn as open_turn, h.turn_holder, h.turn_events, h.at, coalesce(p.author_name, m.team_name) as name,
    i.operation as used_for, i.body_hash as used_with, i.answer,
    case when h.id is null then 'unauthorized'
      when h.last_sequence <> s.last_sequence then 'moved'
      when i.key_hash is not null then 'replayed'
      when p.team_id is not null and (m.team_id is null or m.left_at is not null) then 'unauthorized'
      when p.credential_id is not null and p.credential_id not in (select id from good_sign_ins)
        and p.credential_id not in (select id from good_keys) then 'unauthorized'
      when (h.status = 'closed' or h.archived_at is not null) and not p.even_closed then 'closed'
      when p.expected_cursor > h.last_sequence then 'beyond'
      when p.expected_cursor < h.last_sequence and exists (select from events e where e.session_id = p.session_id
        and e.sequence > p.expected_cursor and ${isOfOthers('e', 'p.holder')}) then 'unread'
      else 'appended' end as outcome
  from posts p
  left join heads h on h.id = p.session_id
  left join seen s on s.id = p.session_id
  left join participants m on m.session_id = p.session_id and m.team_id = p.team_id
  left join idempotency i on i.scope = p.session_id::text and i.caller = p.caller and i.key_hash = p.key_hash
), opened as (
  select *, row_number() over one as n, row_number() over one = count(*) over (partition by session_id, outcome) as newest,
    (open_turn = 0 and row_number() over one = 1) or type = 'user_input'
      or (type = 'chat' and coalesce(lag(holder) over one, turn_holder) <> holder) as opens
  from checked window one as (partition by session_id, outcome order by ord)
), numbered as materialized (
  select *, last_sequence + n as sequence, (open_turn + count(*) filter (where opens) over one)::int as turn,
    (n - coalesce(max(n) filter (where opens) over one - 1, -turn_events))::int as ordinal
  from opened window one as (partition by session_id, outcome order by ord)
), advanced as (
  update sessions s set last_sequence = a.sequence, turn = a.turn, turn_events = a.ordinal,
    last_conversation_sequence = case when a.type = 'runtime' then s.last_conversation_sequence else a.sequence end,
    turn_holder = coalesce(a.holder, s.turn_holder), last_event_at = a.at
  from numbered a where a.newest and a.outcome = 'appended' and s.id = a.session_id
), written as (
  insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, by_team_id, content, size,
    reply_to, to_team_ids, expects_reply, task_id, at)
  select session_id, sequence, id, turn, ordinal, type, author, name, team_id, by_team_id, content::jsonb, size, reply_to, to_team_ids::uuid[],
    expects_reply, task_id, at
  from numbered where outcome = 'appended'
), remembered as (
  insert into idempotency (scope, caller, key_hash, operation, body_hash, answer)
  select session_id::text, caller, key_hash, operation, body_hash, jsonb_build_object('message_id', id, 'cursor', sequence,
    'at', to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from numbered where outcome = 'appended' and key_hash is not null
)
select ord, id, outcome, name, used_for, used_with, answer, last_sequence, sequence, turn, ordinal, at from numbered`

// Posts to logs whose ends are known (log-heads.ts), of any sessions: numbered by the process, written only where the log still ends there.
//   locked    the sessions in id order, as above: an update alone takes them in the order of the plan's choice, and two instances deadlocked
//   advanced  moves the ends; a session whose log ends elsewhere by now is not among its rows, and nothing is written to it
//   open      the sessions that were advanced, as arrays: a join would be planned as a nested loop
// $1 is sorted, so width_bucket finds a session's place in it by halving. Of a post, only its own values come in an array, as taking the
// arrays apart took as long as writing the rows; and the contents come as one JSON array, which is parsed once (bench/post).
//   $1 sessions  $2 sequence each is expected to end at  $3 sequence it ends at now  $4 its turn  $5 that turn's events  $6 who holds it
//   $7 each post's session, by its place in $1  $8 sequence  $9 id  $10 turn  $11 ordinal  $12 all contents  $13 their sizes
//   $14 reply  $15 to  $16 each post's poster, by its place in  $17 types  $18 names  $19 teams  $20 does it expect a reply
export const APPEND_AT_HEADS = `
with locked as materialized (
  select id, width_bucket(id, $1::uuid[]) as place from sessions
  where id = any($1::uuid[]) and ${waitingFor(`'${LOCK_WAIT}'`)} order by id for no key update
), advanced as (
  update sessions s set last_sequence = ($3::int8[])[place], last_conversation_sequence = ($3::int8[])[place],
    turn = ($4::int[])[place], turn_events = ($5::int[])[place], turn_holder = ($6::text[])[place],
    last_event_at = greatest(last_event_at, clock_timestamp())::timestamptz(3)
  from locked where s.id = locked.id and last_sequence = ($2::int8[])[place] and status = 'active' and archived_at is null
  returning s.id, place, last_event_at as at
), open as materialized (
  select array_agg(id) as ids, array_agg(place) as places, array_agg(at) as ats from advanced
), written as (
  insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size,
    reply_to, to_team_ids, expects_reply, at)
  select ids[array_position(places, place)], sequence, p.id, turn, ordinal, ($17::text[])[poster],
    case when ($19::uuid[])[poster] is null then 'person' else 'team' end, ($18::text[])[poster], ($19::uuid[])[poster],
    content, size, reply_to, to_team_ids::uuid[], expects_reply, ats[array_position(places, place)]
  from open, rows from (
    unnest($7::int[], $8::int8[], $9::uuid[], $10::int[], $11::int[], $13::int[], $14::uuid[], $15::text[], $20::bool[], $16::int[]),
    jsonb_array_elements($12::jsonb)
  ) as p(place, sequence, id, turn, ordinal, size, reply_to, to_team_ids, expects_reply, poster, content)
  where place = any(places)
)
select place, at from advanced`

/** Locks these sessions for the rest of the transaction, in the order of their ids, as above. $2: LOCK_WAIT or NO_LIMIT. */
export const LOCK = `select from sessions where id = any($1::uuid[]) and ${waitingFor('$2::text')} order by id for no key update`

/** Those of these sessions that no other transaction holds now. */
export const UNHELD = `select id from sessions where id = any($1::uuid[]) for no key update skip locked`
