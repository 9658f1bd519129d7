// Reads turns for the page of a transcript: a page of a session's turns, or of one turn's events. The database cuts long contents to what the
// page shows, so that a turn that read ten files of a megabyte costs no more than another.
import type { Queries } from '../../db/database.ts'
import { eventGroupsAmong, type HistoryRow, type EventGroup } from './history.ts'

/** An event with the columns that the page shows. */
export interface TraceRow extends Omit<HistoryRow, 'cut'> {
  author_name: string | null
  posted_by_team_id: string | null
  reply_to: string | null
  characters: number // of its whole content
}

// The events of the turns $2 to $3 of session $1. The search index knows their range in the log; events that it has not seen yet are at the
// end. `offset 0`: the range is looked up once, and not for each event.
const TURN_EVENTS = `(
    select s.id, coalesce((select min(sequence) from event_search where session_id = s.id and turn = $2), i.indexed_sequence + 1) as first,
      case when i.indexed_sequence < s.last_sequence then s.last_sequence
        else coalesce((select max(sequence) from event_search where session_id = s.id and turn between $2 and $3), 0) end as last
    from sessions s join session_index i on i.session_id = s.id where s.id = $1 offset 0
  ) stretch
  join events e on e.session_id = stretch.id and e.sequence between stretch.first and stretch.last and e.turn between $2 and $3`

/** The events of the turns `from` to `to`, summed up by type and tool. */
export const eventGroupsBetween = (queries: Queries, sessionId: string, from: number, to: number): Promise<EventGroup[]> =>
  eventGroupsAmong(queries, TURN_EVENTS, [sessionId, from, to])

export const SHOWN = 4_000 // characters of a text on a page
const SMALL = 4 * SHOWN // bytes of a content that is read as it is
const KEYS = 60

const cutValue = `case when jsonb_typeof(value) = 'string' then to_jsonb(left(value #>> '{}', ${SHOWN}))
  when length(value::text) > ${SHOWN} then to_jsonb(left(value::text, ${SHOWN})) else value end`
const cutObject = (json: string) =>
  `(select coalesce(jsonb_object_agg(left(key, 200), ${cutValue}), '{}') from (select * from jsonb_each(${json}) limit ${KEYS}) parts)`
// Arguments keep their names, so that the page finds the most telling one in the longest call.
const CUT = `case when e.size <= ${SMALL} then e.content
  when jsonb_typeof(e.content->'arguments') = 'object'
    then ${cutObject(`e.content - 'arguments'`)} || jsonb_build_object('arguments', ${cutObject(`e.content->'arguments'`)})
  else ${cutObject('e.content')} end`

const OTHERS = `(e.content - '{text,event,exit_code,is_error}'::text[])`
const CHARACTERS = `(coalesce(length(e.content->>'text'), 0) + case when ${OTHERS} = '{}' then 0 else length(${OTHERS}::text) end)`
const columns = (content: string) =>
  `e.session_id, e.sequence, e.id, e.turn, e.ordinal, e.type, e.author, e.author_name, e.posted_by_team_id, e.reply_to, e.at, e.terminal,
   e.tool_name, e.model, e.originating_model, ${content} as content, ${CHARACTERS} as characters`

/** A turn's events from the one at `from` (its ordinal in the turn), up to `limit`, their contents cut. */
export const eventsFrom = (
  { query }: Queries,
  { sessionId, turn, from, limit }: { sessionId: string; turn: number; from: number; limit: number },
): Promise<TraceRow[]> =>
  query(`select ${columns(CUT)} from ${TURN_EVENTS} where e.ordinal >= $4 order by e.sequence limit ${limit}`, [
    sessionId,
    turn,
    turn,
    from,
  ])

/** The last events of a task, ascending, their contents cut: without the prompt, and without a response that its answer repeats. `upTo`:
 *  the log's end when the task ended. */
export const taskEvents = async (
  { query }: Queries,
  { sessionId, taskId, after, upTo, answer, limit }: TaskStretch,
): Promise<TraceRow[]> => {
  const rows = await query<TraceRow>(
    `select ${columns(CUT)} from events e
     where e.session_id = $1 and e.sequence > $2 and e.sequence <= $3 and e.task_id = $4 and e.type not in ('chat', 'user_input')
       and not (e.type = 'assistant_response' and e.content->>'text' = $5) order by e.sequence desc limit ${limit}`,
    [sessionId, after, upTo ?? Number.MAX_SAFE_INTEGER, taskId, answer ?? ''],
  )
  return rows.reverse()
}

export interface TaskStretch {
  sessionId: string
  taskId: string
  after: number
  upTo: number | null
  answer: string | null
  limit: number
}

/** One event with its whole content. */
export const eventAt = async ({ query }: Queries, sessionId: string, sequence: number): Promise<TraceRow | undefined> => {
  const [row] = await query<TraceRow>(`select ${columns('e.content')} from events e where e.session_id = $1 and e.sequence = $2`, [
    sessionId,
    sequence,
  ])
  return row
}

/** An event's turn, and its ordinal there. */
export const placeInTurn = async ({ query }: Queries, sessionId: string, sequence: number) => {
  const [row] = await query<{ turn: number; ordinal: number }>('select turn, ordinal from events where session_id = $1 and sequence = $2', [
    sessionId,
    sequence,
  ])
  return row
}

const SAMPLED = 20_000 // events

/** The models that wrote a session's first 20,000 events, the busiest first, eight at most. */
export const modelsOf = async ({ query }: Queries, sessionId: string): Promise<string[]> => {
  const rows = await query<{ model: string }>(
    `select model from events where session_id = $1 and sequence <= ${SAMPLED} and model is not null group by model order by count(*) desc limit 8`,
    [sessionId],
  )
  return rows.map(({ model }) => model)
}
