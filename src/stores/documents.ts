// A session's document and its versions. Writers hold the session's lock, so versions have no gap.
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

/** The newest version. Version 0 is the empty document before the first write. */
export const readDocument = async (queries: Queries, sessionId: string): Promise<{ content: string; version: number }> => {
  const [row] = await DOCUMENT(queries).execute({ id: sessionId })
  return row ?? { content: '', version: 0 }
}

const CONCLUSIONS = `
select session_id as id, substr(content, place, $2) as text
from (select session_id, content, strpos(E'\\n' || content, E'\\n## Conclusion\\n') as place from session_docs where session_id = any($1::uuid[])) found
where place > 0`

/** The first `characters` of each document's conclusion, from the heading that conclude_session writes, by session. Found by the database,
 *  because a document may have 512 KiB. */
export const conclusionsOf = async ({ query }: Queries, ids: string[], characters: number): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await query<{ id: string; text: string }>(CONCLUSIONS, [plainArray(ids), characters])
  return new Map(rows.map(({ id, text }) => [id, text]))
}

// A caller may ask for a version beyond the column's range: compared as bigint, it is merely not found.
const asBigint = (version: number) => sql`${version}::bigint`

/** One version of the document; undefined when there is none of that number. */
export const readVersion = async (
  { db }: Queries,
  sessionId: string,
  version: number,
): Promise<{ content: string; version: number } | undefined> => {
  if (version === 0) return { content: '', version: 0 }
  const [row] = await db
    .select({ content: sessionDocHistory.content, version: sessionDocHistory.version })
    .from(sessionDocHistory)
    .where(and(eq(sessionDocHistory.sessionId, sessionId), eq(sessionDocHistory.version, asBigint(version))))
  return row
}

/** The document as it was before an event: what a team that has read the feed up to there knows of it. */
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

/** Writes a new version and its history row. The caller holds the session's lock and has compared versions. A clock that was set back makes
 *  no version older than the events and versions before it: until it has caught up, `documentBefore` may give an older one than the team
 *  knows, and never a newer one. */
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
    .values({
      sessionId,
      version,
      content,
      writtenByTeamId: by.teamId ?? null,
      writtenBy: by.name,
      writtenAt: sql`greatest(clock_timestamp(), (select last_event_at from sessions where id = ${sessionId}),
        (select written_at from session_doc_history where session_id = ${sessionId} and version = ${asBigint(version - 1)}))`,
    })
    .returning({ at: sessionDocHistory.writtenAt })
  return { version, at: row!.at }
}

/** At most `limit` versions before version `before`, or from the newest, the newest first. */
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
    .where(
      and(eq(sessionDocHistory.sessionId, sessionId), before === undefined ? undefined : lt(sessionDocHistory.version, asBigint(before))),
    )
    .orderBy(desc(sessionDocHistory.version))
    .limit(limit)

/** A write to the document, or several shown as one. */
export interface Edit {
  from: number // the first version that it made
  to: number // the last
  at: string // of the last version
  teamId: string | null
  by: string | undefined // undefined: several authors
  bytes: number // of the last version's text
}

interface EditRange {
  since?: string | undefined // time
  before?: string | undefined // time
  after?: number // version
  upTo?: number | undefined // version
}

// A binary search over the versions, which are in the order of time and have no gap (of a purge that was cut short the oldest are missing):
// no index has the times of a session, and 13 steps find one among 5,000 versions without reading a text. `first` ends with the last
// version before time $2, `until` with the last before $3.
const boundary = (name: string, time: string) => `
${name}(lo, hi) as (
  select coalesce((select min(version) - 1 from session_doc_history where session_id = $1), 0), version
  from session_docs where session_id = $1 and ${time}::timestamptz is not null
  union all
  select case when written_at < ${time} then version else lo end, case when written_at < ${time} then hi else version - 1 end
  from ${name} join session_doc_history on session_id = $1 and version = (lo + hi + 1) / 2 where lo < hi
)`
const EDITS = `
with recursive ${boundary('first', '$2')}, ${boundary('until', '$3')}, range as (
  select greatest($4::int, (select max(lo) from first)) as after, least($5::int, (select max(lo) from until)) as up_to
)
select version as "to", after + 1 as "from", written_at as at, written_by_team_id as "teamId", written_by as by, octet_length(content) as bytes
from session_doc_history, range where session_id = $1 and version > after and version <= up_to order by version desc limit $6`

const EDITS_READ = 1_000
const NO_END = 2 ** 31 - 1

/** The writes to the document in a range of times and versions, the oldest first. Of more than 1,000 the oldest are merged into one. */
export const editsIn = async (
  { query }: Queries,
  sessionId: string,
  { since, before, after = 0, upTo = NO_END }: EditRange,
): Promise<Edit[]> => {
  const edits = (await query<Edit>(EDITS, [sessionId, since ?? null, before ?? null, after, upTo, EDITS_READ])).reverse()
  return edits.map((edit, i) => (i === 0 && edit.from < edit.to ? { ...edit, teamId: null, by: undefined } : { ...edit, from: edit.to }))
}

/** The texts of these versions, by version, without those of more than `bytes` bytes. */
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

/** The document as it was when the event of this sequence was written. */
export const documentAt = async ({ query }: Queries, sessionId: string, sequence: number): Promise<string> => {
  const [row] = await query<{ content: string }>(
    `select content from session_doc_history where session_id = $1
       and written_at <= coalesce((select at from events where session_id = $1 and sequence <= $2 order by sequence desc limit 1), '-infinity')
     order by version desc limit 1`,
    [sessionId, sequence],
  )
  return row?.content ?? ''
}
