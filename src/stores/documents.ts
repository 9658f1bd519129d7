// The document of a session and its versions. A writer holds the session's lock, so versions come one by one.
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { prepared, type Queries } from '../../db/database.ts'
import { sessionDocHistory, sessionDocs } from '../../db/schema.ts'
import { plainArray } from './arrays.ts'

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

export const readVersion = async (
  { db }: Queries,
  sessionId: string,
  version: number,
): Promise<{ content: string; version: number } | undefined> => {
  if (version === 0) return { content: '', version: 0 }
  const [row] = await db
    .select({ content: sessionDocHistory.content, version: sessionDocHistory.version })
    .from(sessionDocHistory)
    .where(and(eq(sessionDocHistory.sessionId, sessionId), eq(sessionDocHistory.version, version)))
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
    .where(and(eq(sessionDocHistory.sessionId, sessionId), before === undefined ? undefined : lt(sessionDocHistory.version, before)))
    .orderBy(desc(sessionDocHistory.version))
    .limit(limit)
