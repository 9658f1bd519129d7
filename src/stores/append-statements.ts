// What numbers and writes events, in SQL by hand: it is the hot path, and one round trip. bench/post and bench/wake have the figures.

// One post without a key, the commonest by far: the same rules as below without windows, at two thirds of the time (bench/wake).
//   $1 ord  $2 id  $3 session  $4 team  $5 author  $6 author's name  $7 holder  $8 type  $9 content  $10 size  $11 reply  $12 to  $13 even closed
export const APPEND_ONE = `
with head as materialized (
  select status, last_sequence + 1 as sequence, turn, turn_holder, turn_events, greatest(last_event_at, clock_timestamp())::timestamptz(3) as at
  from sessions where id = $3::uuid for no key update
), judged as materialized (
  select h.*, coalesce($6::text, m.team_name) as name,
    case when h.status is null then 'unauthorized'
      when $4::uuid is not null and (m.team_id is null or m.left_at is not null) then 'unauthorized'
      when h.status = 'closed' and not $13::bool then 'closed'
      else 'appended' end as outcome,
    turn = 0 or $8::text = 'user_input' or ($8 = 'chat' and coalesce(turn_holder <> $7::text, false)) as opens
  from (select 1) one left join head h on true
  left join participants m on m.session_id = $3 and m.team_id = $4
), numbered as materialized (
  select *, turn + opens::int as its_turn, case when opens then 1 else turn_events + 1 end as ordinal from judged
), advanced as (
  update sessions s set last_sequence = n.sequence, last_conversation_sequence = n.sequence, turn = its_turn, turn_events = ordinal,
    turn_holder = coalesce($7, s.turn_holder), last_event_at = n.at
  from numbered n where n.outcome = 'appended' and s.id = $3
), written as (
  insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size, reply_to, to_team_ids, at)
  select $3, sequence, $2::uuid, its_turn, ordinal, $8, $5::text, name, $4, $9::text::jsonb, $10::int, $11::uuid, $12::text::uuid[], at
  from numbered where outcome = 'appended'
)
select $1::int as ord, $2 as id, outcome, name, sequence, its_turn as turn, ordinal, at from numbered`

// As many posts as have gathered, of any sessions. Read it top down:
//   heads     locks the sessions in id order (no deadlock between batches); counters and clock are read once the lock is held
//   judged    decides what becomes of each post: replays first, then the team's presence, then a closed session
//   opened    a turn opens with the log, with each prompt, and with each chat of another author than the one who holds it
//   numbered  sequence, turn and ordinal; a system event falls into the open turn
// Arrays, no JSON, and no join between the steps: the planner knows nothing of their sizes and would choose nested loops.
export const APPEND_BATCH = `
with posts as (
  select * from unnest($1::int[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::int[],
    $11::uuid[], $12::text[], $13::bool[], $14::text[], $15::text[], $16::text[], $17::text[])
  as p(ord, id, session_id, team_id, author, author_name, holder, type, content, size, reply_to, to_team_ids, even_closed,
    caller, key_hash, operation, body_hash)
), heads as materialized (
  select *, greatest(last_event_at, clock_timestamp())::timestamptz(3) as at from (
    select id, status, last_sequence, turn, turn_holder, turn_events, last_event_at
    from sessions where id in (select session_id from posts) order by id for no key update
  ) locked
), judged as (
  select p.*, h.last_sequence, h.turn as open_turn, h.turn_holder, h.turn_events, h.at, coalesce(p.author_name, m.team_name) as name,
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
), opened as (
  select *, row_number() over one as n, row_number() over one = count(*) over (partition by session_id, outcome) as newest,
    (open_turn = 0 and row_number() over one = 1) or type = 'user_input'
      or (type = 'chat' and coalesce(lag(holder) over one, turn_holder) <> holder) as opens
  from judged window one as (partition by session_id, outcome order by ord)
), numbered as materialized (
  select *, last_sequence + n as sequence, (open_turn + count(*) filter (where opens) over one)::int as turn,
    (n - coalesce(max(n) filter (where opens) over one - 1, -turn_events))::int as ordinal
  from opened window one as (partition by session_id, outcome order by ord)
), advanced as (
  update sessions s set last_sequence = a.sequence, last_conversation_sequence = a.sequence, turn = a.turn, turn_events = a.ordinal,
    turn_holder = coalesce(a.holder, s.turn_holder), last_event_at = a.at
  from numbered a where a.newest and a.outcome = 'appended' and s.id = a.session_id
), written as (
  insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, posted_by_team_id, content, size, reply_to, to_team_ids, at)
  select session_id, sequence, id, turn, ordinal, type, author, name, team_id, content::jsonb, size, reply_to, to_team_ids::uuid[], at
  from numbered where outcome = 'appended'
), remembered as (
  insert into idempotency (scope, caller, key_hash, operation, body_hash, answer)
  select session_id::text, caller, key_hash, operation, body_hash, jsonb_build_object('message_id', id, 'cursor', sequence,
    'at', to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from numbered where outcome = 'appended' and key_hash is not null
)
select ord, id, outcome, name, used_for, used_with, answer, sequence, turn, ordinal, at from numbered`
