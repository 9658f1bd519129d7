// Reading a log as control shows it: without what nobody would look at.
import { TELLING } from '../../core/events/tool-call.ts'
import type { Queries } from '../../../db/database.ts'
import { pgArray } from '../../../db/arrays.ts'
import type { EventRow } from '../events.ts'
import { repeatedBy } from './repeated.ts'
import type { Task } from './tasks.ts'

export interface RowFilter {
  after: number
  /** Only what belongs to this task, and replies to its prompt. */
  task?: Pick<Task, 'id' | 'messageId'>
  /** Also how a CLI began, compacted and ran its hooks. */
  system?: boolean
  /** Of calls and system events alone, after the first row. */
  callsAfterFirst?: boolean
}

export type MessageRow = EventRow & { task_id: string | null }

const MOST_ROWS = 500
const CALL_BYTES = 200 // that count for a call, of which a line is shown

// Of a large call only the beginnings of what a line of it is made from.
const ARGUMENTS = `case when size <= 16000 then content->'arguments' else (
  select jsonb_object_agg(name, left(content->'arguments'->>name, 400)) from unnest(array['${TELLING.join("', '")}']) name
  where jsonb_typeof(content->'arguments') = 'object' and content->'arguments' ? name) end`
const columns = (
  characters: string,
) => `session_id, id, sequence, type, author, author_name, posted_by_team_id, reply_to, to_team_ids, task_id,
  turn, tool_name, model, at, size,
  case when type = 'tool_call' then jsonb_build_object('arguments', ${ARGUMENTS})
    else jsonb_build_object('text', left(content->>'text', ${characters}), 'event', content->>'event', 'title', content->>'title',
      'status', content->>'status', 'by', content->>'by', 'team', content->>'team', 'allow', content->'allow',
      'message', content->>'message') end as content`

const SHOWN_EVENTS = [
  'subsession_finished',
  'permission_asked',
  'permission_decided',
  'session_concluded',
  'session_archived',
  'session_restored',
]
const SHOWN = `(type in ('chat', 'user_input', 'assistant_response', 'tool_call')
  or (type = 'system' and content->>'event' in ('${SHOWN_EVENTS.join("', '")}')))`
const WITH_SYSTEM = `(type in ('chat', 'user_input', 'assistant_response', 'tool_call', 'system', 'compaction', 'runtime'))`

/** A page of what follows, ascending: at most 500 rows, of texts at most `characters`, and together hardly more than that. Of an answer and
 *  the response in the trace that it repeats, the response is left out; when the page begins after that response, the answer is. */
export const rowsAfter = async (queries: Queries, sessionId: string, filter: RowFilter, characters: number): Promise<Page> => {
  for (let { after } = filter; ;) {
    const { rows, hasMore } = await pageAfter(queries, sessionId, { ...filter, after }, characters)
    const kept = await withoutRepeats(queries, rows, filter.callsAfterFirst ? undefined : filter.after)
    // A long one that is left out may have filled the page alone: nobody could read on from an empty one.
    if (kept.length > 0 || !hasMore) return { rows: kept, hasMore }
    after = rows.at(-1)!.sequence
  }
}

interface Page {
  rows: MessageRow[]
  hasMore: boolean
}

const pageAfter = async (
  { query }: Queries,
  sessionId: string,
  { after, task, system = false, callsAfterFirst = false }: RowFilter,
  characters: number,
): Promise<Page> => {
  const shown = system ? WITH_SYSTEM : SHOWN
  const kinds = callsAfterFirst ? `and (sequence = $2::int8 + 1 or type in ('tool_call', 'system', 'compaction', 'runtime'))` : ''
  const rows = await query<MessageRow & { found: number }>(
    `select ${columns('$4::int')}, found from (
       select *, sum(cost) over (order by sequence) - cost as before, count(*) over ()::int as found from (
         select *, case when type = 'tool_call' then ${CALL_BYTES} else least(size, 4 * $4::int) end as cost from events
         where session_id = $1 and sequence > $2 and ($3::uuid is null or task_id = $3 or reply_to = $5) and ${shown} ${kinds}
         order by sequence limit ${MOST_ROWS + 1}) next) summed
     where before < 4 * $4::int order by sequence limit ${MOST_ROWS}`,
    [sessionId, after, task?.id ?? null, characters, task?.messageId ?? null],
  )
  return { rows, hasMore: rows.length < (rows[0]?.found ?? 0) }
}

// Leaves out the response that an answer repeats; the answer instead, when `read`, where the reader goes on from, is that response.
const withoutRepeats = async ({ query }: Queries, rows: MessageRow[], read: number | undefined): Promise<MessageRow[]> => {
  const ids = new Set(
    rows.flatMap(({ type, task_id }) => (task_id !== null && (type === 'chat' || type === 'assistant_response') ? task_id : [])),
  )
  if (ids.size === 0) return rows
  const answers = await query<{ sequence: number; repeats: number | null }>(
    `select a.sequence, ${repeatedBy('a')} as repeats from tasks t join events a on a.id = t.answer_message_id
     where t.id = any($1::uuid[]) and a.task_id = t.id`,
    [pgArray([...ids])],
  )
  const out = new Set(answers.flatMap(({ sequence, repeats }) => (repeats === null ? [] : repeats === read ? sequence : repeats)))
  return rows.filter(({ sequence }) => !out.has(sequence))
}

/** Where the latest answer stands: the agent's last response or post; in a session without an agent, the last post of a team. */
export const latestAnswer = async ({ query }: Queries, sessionId: string): Promise<{ id: string; sequence: number } | undefined> => {
  const [row] = await query<{ id: string; sequence: number }>(
    `select e.id, e.sequence from events e left join agents a on a.session_id = e.session_id
     where e.session_id = $1 and (e.type = 'assistant_response'
       or (e.type = 'chat' and e.author = 'team' and e.posted_by_team_id = coalesce(a.team_id, e.posted_by_team_id)))
     order by e.sequence desc limit 1`,
    [sessionId],
  )
  return row
}

const NEWEST_EVENTS = 20_000 // events from the end: what came before is not summarized
const NOTICED = `(${SHOWN} or type = 'compaction' or (type = 'runtime' and (content->>'event' like 'task\\_%' or content->>'event' = 'agent_failed'))
  or (type = 'tool_response' and (content->>'is_error' = 'true' or coalesce(content->>'exit_code', '0') <> '0')))`

/** What a summary is made from: the newest messages, calls and failures, ascending, together at most so many characters of text, and of
 *  each text and failure the beginning. However long the log, it is read from its end and not far. */
export const newestRows = async (queries: Queries, sessionId: string, last: number, characters: number): Promise<MessageRow[]> => {
  const rows = await queries.query<MessageRow>(
    `select ${columns('4000')} from (
       select *, sum(cost) over (order by sequence desc) as total from (
         select *, ${ROW_CHARACTERS} + case when type = 'tool_call' then ${CALL_BYTES} else least(size, 4000) end as cost from events
         where session_id = $1 and sequence <= $2 and sequence > $2 - ${NEWEST_EVENTS} and ${NOTICED} order by sequence desc limit ${MOST_NOTICED}) newest) summed
     where total <= $3 order by sequence`,
    [sessionId, last, characters],
  )
  return withoutRepeats(queries, rows, undefined)
}

const ROW_CHARACTERS = 100 // of a line besides its text: the id, who, what
const MOST_NOTICED = 2_000

/** One event, whole, with its session. */
export const eventRow = async ({ query }: Queries, id: string): Promise<(EventRow & { session_id: string }) | undefined> => {
  const [row] = await query<EventRow & { session_id: string }>(
    `select session_id, id, sequence, type, author, author_name, posted_by_team_id, by_team_id, content, reply_to, to_team_ids, expects_reply,
       task_id, turn, tool_name, model, at from events where id = $1`,
    [id],
  )
  return row
}

const DIGEST_ROWS = 200 // at a time

/** What was said and done up to a sequence, the newest first, each text cut to so many characters; and up to where there may be more. */
export const rowsBefore = async (
  queries: Queries,
  sessionId: string,
  upTo: number,
  characters: number,
): Promise<{ rows: MessageRow[]; moreUpTo: number | undefined }> => {
  const rows = await queries.query<MessageRow>(
    `select ${columns('$3::int')} from events where session_id = $1 and sequence <= $2 and ${SHOWN}
     order by sequence desc limit ${DIGEST_ROWS}`,
    [sessionId, upTo, characters],
  )
  const moreUpTo = rows.length < DIGEST_ROWS ? undefined : rows.at(-1)!.sequence - 1
  return { rows: await withoutRepeats(queries, rows, undefined), moreUpTo }
}
