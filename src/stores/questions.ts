// Questions (posts with expects_reply) and what was replied to them; and which people can be asked.
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
/** How many questions are read at a time. */
export const MOST_QUESTIONS = 1_000

/** The newest 1,000 questions of a session, the newest first. A prompt whose task was ended without an answer is none any more. */
export const newestQuestions = ({ query }: Queries, sessionId: string): Promise<Question[]> =>
  query(
    `select ${HEAD}, to_team_ids as "to", content->'to_people' as to_people from events
     where session_id = $1 and to_team_ids is not null and expects_reply
       and not (type = 'user_input' and exists (select from tasks t where t.message_id = events.id and t.status in ('interrupted', 'failed')))
     order by sequence desc limit ${MOST_QUESTIONS}`,
    [sessionId],
  )

/** Which of these messages are prompts whose task was ended without an answer: they wait for nobody. */
export const endedPrompts = async ({ query }: Queries, ids: string[]): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set()
  const rows = await query<{ id: string }>(
    `select message_id as id from tasks where message_id = any($1::uuid[]) and status in ('interrupted', 'failed')`,
    [plainArray(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** All replies to these messages of one session, in their order. */
export const repliesTo = (queries: Queries, sessionId: string, ids: string[]): Promise<Reply[]> => repliesIn(queries, [sessionId], ids)

/** All replies to these messages of these sessions, in the order of each session. */
export const repliesIn = async ({ query }: Queries, sessionIds: string[], ids: string[]): Promise<Reply[]> =>
  ids.length === 0
    ? []
    : query(
        `select ${HEAD}, reply_to, expects_reply from events where session_id = any($1::uuid[]) and reply_to = any($2::uuid[]) order by sequence`,
        [plainArray(sessionIds), plainArray(ids)],
      )

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

/** A question to people, in a session that goes on. */
export interface QuestionToPeople extends Question {
  session_id: string
  title: string
  /** Of the team that asks. */
  hue: number | null
  at: string
  /** The first characters of the question. */
  text: string
}

const TEXT_CUT = 500
const GOES_ON = "s.source = 'room' and s.status = 'active' and s.archived_at is null"
// The first step reads the index events_asking_people, which holds nothing else; most of what it finds is of sessions that are over.
const TO_PEOPLE = `
with newest as materialized (
  select * from events where expects_reply and content ? 'to_people' and (at, id) < ($1::timestamptz, $2::uuid)
  order by at desc, id desc limit ${MOST_QUESTIONS}
)
select s.id is not null as goes_on, e.session_id, s.title, p.hue, e.at, case when s.id is not null then left(e.content->>'text', ${TEXT_CUT}) end as text,
  e.id, e.sequence, e.author, e.author_name as team, e.posted_by_team_id, e.to_team_ids as "to", e.content->'to_people' as to_people
from newest e left join sessions s on s.id = e.session_id and ${GOES_ON}
left join participants p on p.session_id = s.id and p.team_id = e.posted_by_team_id
order by e.at desc, e.id desc`

/** Which of these sessions go on. */
export const sessionsGoingOn = async ({ query }: Queries, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set()
  const rows = await query<{ id: string }>(`select s.id from sessions s where s.id = any($1::uuid[]) and ${GOES_ON}`, [
    plainArray([...new Set(ids)]),
  ])
  return new Set(rows.map(({ id }) => id))
}

/** Where a question stands among all of them. */
export type QuestionPlace = Pick<QuestionToPeople, 'at' | 'id'>
const NEWEST: QuestionPlace = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** Of the 1,000 newest questions to people, or of those before another one, the ones in sessions that go on, answered or not: the newest
 *  first. `next`: before which one to read on; undefined where there are no more. */
export const questionsToPeople = async (
  { query }: Queries,
  { at, id }: QuestionPlace = NEWEST,
): Promise<{ questions: QuestionToPeople[]; next: QuestionPlace | undefined }> => {
  const rows = await query<QuestionToPeople & { goes_on: boolean }>(TO_PEOPLE, [at, id])
  return { questions: rows.filter((row) => row.goes_on), next: rows[MOST_QUESTIONS - 1] }
}
