// Questions (posts with expects_reply) and what was replied to them, read without their texts; and which people can be asked.
import type { Queries } from '../../db/database.ts'
import { plainArray } from '../../db/arrays.ts'

/** Who wrote a message, and which; an event has these fields too. */
export interface MessageHead {
  id: string
  sequence: number
  author: string
  team: string | null
  posted_by_team_id: string | null
}

export interface Question extends MessageHead {
  /** The handles of the teams that are asked; undefined where people alone are. */
  to?: string[]
  /** The names of the people. */
  to_people?: string[] | null
}

export interface Reply extends MessageHead {
  reply_to: string
  expects_reply: boolean | null
}

const HEAD = 'id, sequence, author, author_name as team, posted_by_team_id'
const MOST_QUESTIONS = 1_000

/** The newest 1,000 questions of a session, the newest first. */
export const newestQuestions = ({ query }: Queries, sessionId: string): Promise<Question[]> =>
  query(
    `select ${HEAD}, to_team_ids as "to", content->'to_people' as to_people from events
     where session_id = $1 and to_team_ids is not null and expects_reply order by sequence desc limit ${MOST_QUESTIONS}`,
    [sessionId],
  )

/** All replies to these messages, in their order. */
export const repliesTo = async ({ query }: Queries, sessionId: string, ids: string[]): Promise<Reply[]> =>
  ids.length === 0
    ? []
    : query(`select ${HEAD}, reply_to, expects_reply from events where session_id = $1 and reply_to = any($2::uuid[]) order by sequence`, [
        sessionId,
        plainArray(ids),
      ])

/** The names of the people of a session: who opened it, and who has written in its feed or its document. The first line reads the index
 *  events_of_people. */
export const peopleHere = async ({ query }: Queries, sessionId: string): Promise<string[]> => {
  const rows = await query<{ name: string }>(
    `select author_name as name from events where session_id = $1 and author = 'person' and source_line is null and author_name is not null
     union select written_by from session_doc_history where session_id = $1 and written_by_team_id is null
     union select opened_by from sessions where id = $1 and opened_by is not null`,
    [sessionId],
  )
  return rows.map(({ name }) => name)
}
