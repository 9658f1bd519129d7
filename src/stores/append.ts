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
  id: string
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

/** Numbers and writes all drafts in one statement, whichever sessions they belong to. A draft that may not be written is told so
 *  and leaves no number unused. A system event comes alone: it takes no turn, and what follows it in a statement could not see whose
 *  turn it is. Whoever calls this tells the waiters, once it is committed (publish, src/services.ts). */
export const appendEvents = async ({ query }: Queries, drafts: Draft[]): Promise<Appended[]> => {
  if (drafts.length > 1 && drafts.some(({ holder }) => holder === undefined)) throw new Error('a system event must be appended alone')
  const posts = drafts.map(postOf)
  const rows = await query<Answered>(
    APPEND,
    COLUMNS.map((name) => arrayText(posts.map((post) => post[name]))),
  )
  const answers: Appended[] = []
  for (const row of rows) answers[row.ord] = appendedOf(row, drafts[row.ord]!)
  return answers
}

// In the order of the statement's parameters.
const COLUMNS = [
  'ord',
  'id',
  'session',
  'team',
  'author',
  'authorName',
  'holder',
  'type',
  'content',
  'size',
  'replyTo',
  'to',
  'evenClosed',
  'caller',
  'keyHash',
  'operation',
  'bodyHash',
] as const

const postOf = (draft: Draft, ord: number) => {
  const { sessionId: session, teamId: team, author, authorName, holder, type, replyTo, evenClosed = false, key } = draft
  const content = JSON.stringify(draft.content)
  const to = draft.to && arrayText(draft.to)
  return {
    ord,
    id: uuid7(),
    session,
    team,
    author,
    authorName,
    holder,
    type,
    content,
    size: utf8Bytes(content),
    replyTo,
    to,
    evenClosed,
    ...NO_KEY,
    ...key,
  }
}
const NO_KEY = { caller: undefined, keyHash: undefined, operation: undefined, bodyHash: undefined }

// Postgres' own notation, which both drivers pass on as it is.
const arrayText = (values: (string | number | boolean | undefined)[]) => `{${values.map(elementText).join(',')}}`
const elementText = (value: string | number | boolean | undefined) =>
  value === undefined ? 'NULL' : typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value

const appendedOf = (row: Answered, draft: Draft): Appended => {
  const { outcome, turn, ordinal } = row
  if (outcome === 'replayed') return { outcome, operation: row.used_for, bodyHash: row.used_with, answer: row.answer }
  if (outcome !== 'appended') return { outcome }
  const { id, sequence, at, name: author_name } = row
  const content = asStored(draft.content)
  const { type, author, teamId: posted_by_team_id = null, replyTo: reply_to = null, to: to_team_ids = null } = draft
  return {
    outcome,
    event: eventOf({ id, sequence, type, author, author_name, posted_by_team_id, content, reply_to, to_team_ids, turn, at }),
    turn,
    ordinal,
  }
}

// jsonb gives an object's keys back by length, then by bytes: an event has the same bytes whether it comes from memory or from the table.
const asStored = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, asStored(inner)])) as Value
}

// By hand, because it is the hot path and one round trip: bench/post has the figures. Read it top down:
//   heads     locks the sessions in id order (no deadlock between batches); counters and clock are read once the lock is held
//   judged    decides what becomes of each post: replays first, then the team's presence, then a closed session
//   opened    a turn opens with the log, with each prompt, and with each chat of another author than the one who holds it
//   numbered  sequence, turn and ordinal; a system event falls into the open turn
// Arrays, no JSON, and no join between the steps: the planner knows nothing of their sizes and would choose nested loops.
const APPEND = `
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
