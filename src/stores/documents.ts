// The document of a session and its versions. A writer holds the session's lock, so versions come one by one.
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { prepared, type Queries } from '../../db/database.ts'
import { sessionDocHistory, sessionDocs } from '../../db/schema.ts'
import { plainArray } from '../../db/arrays.ts'

export interface Author {
  teamId: string | undefined
  name: string
}

export const createDocument = async (queries: Queries, sessionId: string, content: string, by: Author): Promise<void> => {
  await queries.db.insert(sessionDocs).values({ sessionId })
  if (content !== '') await writeDocument(queries, sessionId, content, by)
}

const DOCUMENT = prepared((db) =>
  db
    .select({ content: sessionDocs.content, version: sessionDocs.version })
    .from(sessionDocs)
    .where(eq(sessionDocs.sessionId, sql.placeholder('id')))
    .prepare('document'),
)

/** The newest; version 0 is the empty document before the first write. */
export const readDocument = async (queries: Queries, sessionId: string): Promise<{ content: string; version: number }> => {
  const [row] = await DOCUMENT(queries).execute({ id: sessionId })
  return row ?? { content: '', version: 0 }
}

const CONCLUSIONS = `
select session_id as id, substr(content, place, $2) as text
from (select session_id, content, strpos(E'\\n' || content, E'\\n## Conclusion\\n') as place from session_docs where session_id = any($1::uuid[])) found
where place > 0`

/** The beginning of each document's conclusion, with the heading that conclude_session writes: for a glance, because a document may have
 *  512 KiB. */
export const conclusionsOf = async ({ query }: Queries, ids: string[], characters: number): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; text: string }>(CONCLUSIONS, [plainArray(ids), characters])
  return new Map(rows.map(({ id, text }) => [id, text]))
}

// Asked for are numbers that the column cannot hold, too.
const asked = (version: number) => sql`${version}::bigint`

export const readVersion = async (
  { db }: Queries,
  sessionId: string,
  version: number,
): Promise<{ content: string; version: number } | undefined> => {
  if (version === 0) return { content: '', version: 0 }
  const [row] = await db
    .select({ content: sessionDocHistory.content, version: sessionDocHistory.version })
    .from(sessionDocHistory)
    .where(and(eq(sessionDocHistory.sessionId, sessionId), eq(sessionDocHistory.version, asked(version))))
  return row
}

/** The doc as it was before an event: what a team knew of it that had read up to there. */
export const documentBefore = async (
  { query }: Queries,
  sessionId: string,
  sequence: number,
): Promise<{ content: string; version: number }> => {
  const [row] = await query<{ content: string; version: number }>(
    `select content, version from session_doc_history where session_id = $1
      and written_at < (select at from events where session_id = $1 and sequence = $2) order by version desc limit 1`,
    [sessionId, sequence],
  )
  return row ?? { content: '', version: 0 }
}

/** A new version with its history row. The caller holds the session's lock and has compared versions. */
export const writeDocument = async (
  { db }: Queries,
  sessionId: string,
  content: string,
  by: Author,
): Promise<{ version: number; at: string }> => {
  const [doc] = await db
    .update(sessionDocs)
    .set({ content, version: sql`${sessionDocs.version} + 1` })
    .where(eq(sessionDocs.sessionId, sessionId))
    .returning({ version: sessionDocs.version })
  const { version } = doc!
  const [row] = await db
    .insert(sessionDocHistory)
    .values({ sessionId, version, content, writtenByTeamId: by.teamId ?? null, writtenBy: by.name, writtenAt: sql`clock_timestamp()` })
    .returning({ at: sessionDocHistory.writtenAt })
  return { version, at: row!.at }
}

/** Versions before `before` (or from the newest), newest first. */
export const documentVersions = ({ db }: Queries, sessionId: string, before: number | undefined, limit: number) =>
  db
    .select({
      version: sessionDocHistory.version,
      at: sessionDocHistory.writtenAt,
      teamId: sessionDocHistory.writtenByTeamId,
      by: sessionDocHistory.writtenBy,
      bytes: sql<number>`octet_length(${sessionDocHistory.content})`,
    })
    .from(sessionDocHistory)
    .where(and(eq(sessionDocHistory.sessionId, sessionId), before === undefined ? undefined : lt(sessionDocHistory.version, asked(before))))
    .orderBy(desc(sessionDocHistory.version))
    .limit(limit)

/** A write to the document, or several as one: which versions it made, when the last of them, and who it was, if that was one author.
 *  `bytes`: of the last one's text. */
export interface Edit {
  from: number
  to: number
  at: string
  teamId: string | null
  by: string | undefined
  bytes: number
}

interface Range {
  since?: string | undefined
  before?: string | undefined
  after?: number
  upTo?: number | undefined
}

// `first` ends with the last version before $2, `end` with the last one before $3. Versions have no gap and are written in the order of
// time, so that 13 looks find the place among 5,000; there is no index on time, and no text is read.
const placeOf = (name: string, time: string) => `
${name}(lo, hi) as (
  select 0, version from session_docs where session_id = $1 and ${time}::timestamptz is not null
  union all
  select case when written_at < ${time} then version else lo end, case when written_at < ${time} then hi else version - 1 end
  from ${name} join session_doc_history on session_id = $1 and version = (lo + hi + 1) / 2 where lo < hi
)`
const EDITS = `
with recursive ${placeOf('first', '$2')}, ${placeOf('until', '$3')}, range as (
  select greatest($4::int, (select max(lo) from first)) as after, least($5::int, (select max(lo) from until)) as up_to
)
select version as "to", after + 1 as "from", written_at as at, written_by_team_id as "teamId", written_by as by, octet_length(content) as bytes
from session_doc_history, range where session_id = $1 and version > after and version <= up_to order by version desc limit $6`

const EDITS_READ = 1_000
const NO_END = 2 ** 31 - 1

/** What was written to the document in a range of time and versions, the oldest first. Of more than 1,000 the oldest are one edit. */
export const editsIn = async (
  { query }: Queries,
  sessionId: string,
  { since, before, after = 0, upTo = NO_END }: Range,
): Promise<Edit[]> => {
  const edits = (await query<Edit>(EDITS, [sessionId, since ?? null, before ?? null, after, upTo, EDITS_READ])).reverse()
  return edits.map((edit, i) => (i === 0 && edit.from < edit.to ? { ...edit, teamId: null, by: undefined } : { ...edit, from: edit.to }))
}

/** The texts of these versions, but of those alone that have at most so many bytes. */
export const versionTexts = async (
  { query }: Queries,
  sessionId: string,
  versions: number[],
  bytes: number,
): Promise<Map<number, string>> => {
  const rows = await query<{ version: number; content: string }>(
    'select version, content from session_doc_history where session_id = $1 and version = any($2::int[]) and octet_length(content) <= $3',
    [sessionId, plainArray(versions), bytes],
  )
  return new Map([[0, ''], ...rows.map(({ version, content }) => [version, content] as const)])
}
