// Reads the log as a hierarchy of sessions, turns and events. A turn is no row but derived from its events, which takes two range scans: the
// search index knows the turn's range in the log, and events that it has not seen yet are at the end of the log.
import type { Queries } from '../../db/database.ts'
import type { Content } from '../core/events/event-text.ts'
import { plainArray } from '../../db/arrays.ts'
import { LAST_EVENT_AT } from './last-event-at.ts'

export interface SessionRow {
  id: string
  title: string
  description: string
  source: string
  status: 'active' | 'closed'
  started_at: string
  updated_at: string
  turn: number // how many there are
  last_sequence: number
  completed: boolean
}

/** The events of one type (and tool) in a turn, summed up. */
export interface EventGroup {
  session_id: string
  turn: number
  kind: string
  tool_name: string | null
  events: number
  first: number // sequences
  last: number
  started_at: string
  updated_at: string
  terminal: number | null // the last event that is marked as the turn's end
  last_chat: number | null
  here: boolean // some were written here, not imported
}

export interface HistoryRow {
  session_id: string
  sequence: number
  id: string
  turn: number
  ordinal: number
  type: string
  author: string
  at: string
  terminal: boolean | null
  tool_name: string | null
  model: string | null
  originating_model: string | null
  content: Content
  cut: boolean // the content is a beginning, and where it was asked for an end
}

export interface EventPosition {
  session_id: string
  sequence: number
}

/** The columns of a SessionRow, with this expression as `updated_at`. */
export const sessionColumns = (
  updated: string,
) => `s.id, s.title, s.description, s.source, s.status, s.created_at as started_at, ${updated} as updated_at,
  greatest(s.turn, least(s.last_sequence, 1))::int as turn, s.last_sequence,
  (s.status = 'closed' and exists (select from events e where e.session_id = s.id and e.sequence = s.last_sequence and e.source_line is null))
    or exists (select from events e where e.session_id = s.id and e.turn = s.turn and e.terminal) as completed`

export const sessionsByIds = ({ query }: Queries, ids: string[]): Promise<SessionRow[]> =>
  query(`select ${sessionColumns(LAST_EVENT_AT)} from sessions s where s.id = any($1::uuid[])`, [plainArray(ids)])

/** The sessions before and after in a chain of resumed ones. */
export const sessionsBeside = async ({ query }: Queries, id: string): Promise<{ previous: string | null; next: string | null }> => {
  const [row] = await query<{ previous: string | null; next: string | null }>(
    `select s.resumed_from_session_id as previous, (select n.id from sessions n where n.series_id = s.series_id and n.resumed_from_session_id = s.id
       order by n.created_at limit 1) as next
     from sessions s where s.id = $1`,
    [id],
  )
  return row ?? { previous: null, next: null }
}

const KIND = `case when e.type <> 'chat' then e.type when e.author = 'person' then 'user_input' else 'assistant_response' end`

/** The first event of these types in each of these sessions that has one. */
export const firstEvents = ({ query }: Queries, sessionIds: string[], kinds: string[]) =>
  query<EventPosition & { turn: number; id: string; at: string }>(
    `select e.session_id, e.turn, e.sequence, e.id, e.at from unnest($1::uuid[]) as wanted(id) cross join lateral (
       select * from events e where e.session_id = wanted.id and ${KIND} = any($2::text[]) order by e.sequence limit 1) e`,
    [plainArray(sessionIds), plainArray(kinds)],
  )

export interface TurnPosition {
  session_id: string
  turn: number | null // null: all turns
}

// The events of the wanted turns: within its indexed range, and beyond what is indexed all of the log. `offset 0` makes Postgres find the range
// first, whatever its statistics say of tables that have just grown: otherwise it looked the range up for each event.
const WITHIN = `(
    select w.session_id, w.turn, s.last_sequence, i.indexed_sequence, known.first, known.last
    from json_to_recordset($1::json) as w(session_id uuid, turn int)
    join sessions s on s.id = w.session_id
    join session_index i on i.session_id = s.id
    cross join lateral (
      select min(sequence) as first, max(sequence) as last from event_search where session_id = w.session_id and turn = w.turn
    ) known
    offset 0
  ) w
  join events e on e.session_id = w.session_id
    and e.sequence >= case when w.turn is null then 1 else coalesce(w.first, w.indexed_sequence + 1) end
    and e.sequence <= case when w.turn is null or w.indexed_sequence < w.last_sequence then w.last_sequence else coalesce(w.last, 0) end
    and (w.turn is null or e.turn = w.turn)`

/** The runs among some events `e`: by turn, in the order in which they began. Sorted here, since the database would sort all the events
 *  by the texts of their kinds and tools to group them in that order. */
export const eventGroupsAmong = async ({ query }: Queries, events: string, params: unknown[]): Promise<EventGroup[]> => {
  const runs = await query<EventGroup>(
    `select e.session_id, e.turn, ${KIND} as kind, case when e.type = 'tool_call' then e.tool_name end as tool_name, count(*)::int as events,
       min(e.sequence) as first, max(e.sequence) as last, min(e.at) as started_at, max(e.at) as updated_at,
       max(e.sequence) filter (where e.terminal) as terminal, max(e.sequence) filter (where e.type = 'chat') as last_chat,
       bool_or(e.source_line is null) as here
     from ${events} group by 1, 2, 3, 4`,
    params,
  )
  return runs.sort((a, b) => (a.session_id === b.session_id ? a.turn - b.turn || a.first - b.first : a.session_id < b.session_id ? -1 : 1))
}

/** The runs of these turns, as far as the log goes, indexed or not. */
export const eventGroupsOf = (queries: Queries, wanted: TurnPosition[]): Promise<EventGroup[]> =>
  eventGroupsAmong(queries, WITHIN, [JSON.stringify(wanted)])

const BEGINNING = 600 // characters; a summary shows 240 of them at most
// The beginning of a text; a content without one whole, unless it is large.
const BRIEFLY = `case when e.size <= 4 * ${BEGINNING} then e.content
    else jsonb_build_object('text', left(coalesce(e.content->>'arguments', e.content::text), ${BEGINNING})) end`
const BRIEF = `case when e.content->>'text' is not null then jsonb_build_object('text', left(e.content->>'text', ${BEGINNING})) else ${BRIEFLY} end as content,
  case when e.content->>'text' is not null then length(e.content->>'text') > ${BEGINNING} else e.size > 4 * ${BEGINNING} end as cut`
const EVENT = `e.session_id, e.sequence, e.id, e.turn, e.ordinal, e.type, e.author, e.at, e.terminal, e.tool_name, e.model, e.originating_model`

/** The events of a turn, their contents cut short. */
export const eventsOfTurn = ({ query }: Queries, wanted: TurnPosition): Promise<HistoryRow[]> =>
  query(`select ${EVENT}, ${BRIEF} from ${WITHIN} order by e.sequence`, [JSON.stringify([wanted])])

/** An event with its author's name. */
export type AuthoredRow = HistoryRow & { author_name: string | null; posted_by_team_id: string | null }

const AT_PLACES = `json_to_recordset($1::json) as p(session_id uuid, sequence bigint)
  join events e on e.session_id = p.session_id and e.sequence = p.sequence`

/** Events by their positions, their texts cut to so many characters from the beginning, and so many from the end. */
export const eventsAt = ({ query }: Queries, places: EventPosition[], head: number, tail = 0): Promise<AuthoredRow[]> =>
  query(
    `select ${EVENT}, e.author_name, e.posted_by_team_id, ${cutContent(head, tail)}
     from ${AT_PLACES}`,
    [JSON.stringify(places)],
  )

/** The columns of an event that a summary quotes. */
export type QuotedEvent = Pick<HistoryRow, 'session_id' | 'sequence' | 'id' | 'type' | 'author' | 'tool_name' | 'content' | 'cut'>

/** Events by their positions, with no more than a summary quotes: opening a long session quotes thousands. Texts are selected as text, since
 *  making JSON of them took the database longer than all the rest. */
export const quotedEvents = async ({ query }: Queries, places: EventPosition[]): Promise<QuotedEvent[]> => {
  const rows = await query<QuotedEvent & { said: string | null }>(
    `select e.session_id, e.sequence, e.id, e.type, e.author, e.tool_name, left(e.content->>'text', ${BEGINNING + 1}) as said,
       case when e.content->>'text' is null then ${BRIEFLY} end as content, e.size > 4 * ${BEGINNING} as cut
     from ${AT_PLACES}`,
    [JSON.stringify(places)],
  )
  return rows.map(({ said, ...row }) =>
    said === null ? row : { ...row, content: { text: said.slice(0, BEGINNING) }, cut: said.length > BEGINNING },
  )
}

const cutContent = (head: number, tail: number) => {
  const isLonger = `length(e.content->>'text') > ${head + tail}`
  const end = tail > 0 ? ` || E'\\n…\\n' || right(e.content->>'text', ${tail})` : ''
  return `case when ${isLonger} then jsonb_build_object('text', left(e.content->>'text', ${head})${end}) else e.content end as content,
   coalesce(${isLonger}, false) as cut`
}

/** An event with its whole content. */
export const historyEvent = async ({ query }: Queries, id: string): Promise<HistoryRow | undefined> => {
  const [row] = await query<HistoryRow>(`select ${EVENT}, e.content, false as cut from events e where e.id = $1`, [id])
  return row
}

/** The ids of the events before and after one, within its turn. */
export const eventsBeside = async (
  { query }: Queries,
  { session_id, turn, sequence }: HistoryRow,
): Promise<{ previous: string | null; next: string | null }> => {
  const [row] = await query<{ previous: string | null; next: string | null }>(
    `with turn as (select e.sequence, e.id from ${WITHIN})
     select (select id from turn where sequence < $2 order by sequence desc limit 1) as previous,
       (select id from turn where sequence > $2 order by sequence limit 1) as next`,
    [JSON.stringify([{ session_id, turn }]), sequence],
  )
  return row!
}
