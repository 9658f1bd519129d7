// Reading a log as control shows it: without what nobody would look at.
import type { Queries } from '../../../db/database.ts'
import type { EventRow } from '../events.ts'

export interface RowFilter {
  after: number
  /** Only what belongs to this task. */
  taskId?: string
  /** Also how a CLI began, compacted and ran its hooks. */
  system?: boolean
}

const MOST_ROWS = 500
const TEXT_CUT = 20_000 // characters that are read of one text

// Of a call only the beginnings of its arguments are read: a line is all that is shown.
const COLUMNS = `id, sequence, type, author, author_name, posted_by_team_id, reply_to, to_team_ids, task_id, turn, tool_name, model, at,
  case when type = 'tool_call' then jsonb_build_object('arguments', case when size <= 16000 then content->'arguments' else '{}'::jsonb end)
    else jsonb_build_object('text', left(content->>'text', ${TEXT_CUT}), 'event', content->>'event') end as content`

// An answer that was posted as chat repeats the agent's last response: that one is left out.
const SHOWN = `(type in ('chat', 'user_input', 'assistant_response', 'tool_call') or (type = 'system' and content->>'event' in
  ('subsession_finished', 'permission_asked', 'permission_decided', 'session_concluded')))`
const SYSTEM = `(${SHOWN} or type in ('compaction', 'runtime', 'system'))`

const REPEATED = `(type = 'assistant_response' and exists (select from tasks t join events a on a.session_id = e.session_id and a.id = t.answer_message_id
  where t.id = e.task_id and a.content->>'text' = e.content->>'text'))`

/** A page of what follows, ascending. */
export const rowsAfter = async (
  { query }: Queries,
  sessionId: string,
  { after, taskId, system = false }: RowFilter,
): Promise<{ rows: EventRow[]; hasMore: boolean }> => {
  const rows = await query<EventRow>(
    `select ${COLUMNS} from events e where session_id = $1 and sequence > $2 and ($3::uuid is null or task_id = $3)
     and ${system ? SYSTEM : SHOWN} and not ${REPEATED} order by sequence limit ${MOST_ROWS + 1}`,
    [sessionId, after, taskId ?? null],
  )
  return { rows: rows.slice(0, MOST_ROWS), hasMore: rows.length > MOST_ROWS }
}

/** One event, whole, with its session. */
export const eventRow = async ({ query }: Queries, id: string): Promise<(EventRow & { session_id: string }) | undefined> => {
  const [row] = await query<EventRow & { session_id: string }>(
    `select session_id, id, sequence, type, author, author_name, posted_by_team_id, by_team_id, content, reply_to, to_team_ids, expects_reply,
       task_id, turn, tool_name, model, at from events where id = $1`,
    [id],
  )
  return row
}

const DIGEST_ROWS = 200

/** What was said and done up to a sequence, the newest first. */
export const rowsBefore = ({ query }: Queries, sessionId: string, upTo: number): Promise<EventRow[]> =>
  query(
    `select ${COLUMNS} from events e where session_id = $1 and sequence <= $2 and ${SHOWN} and not ${REPEATED}
     order by sequence desc limit ${DIGEST_ROWS}`,
    [sessionId, upTo],
  )
