// The one markdown document of a session. Every write adds a version with its author (specification 1, "Session Document").
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { utf8Bytes } from '../core/text.ts'
import { documentVersions, readDocument, readVersion, writeDocument } from '../stores/documents.ts'
import { authorOf, openSession } from './people.ts'
import { existingSession } from './roster.ts'
import { DOC_LIMIT_BYTES, docContent, op, section, sessionId, time, version } from './shapes.ts'

const DOC_BODY_BYTES = 4 * 1024 * 1024 // 512 KiB of text can take several times that as JSON

export const readSessionDoc = op({
  name: 'read_session_doc',
  summary: 'Read the shared markdown document and its version.',
  route: ['GET', '/sessions/:session_id/doc'],
  access: 'room',
  effect: 'read',
  input: z.strictObject({ session_id: sessionId, version: version.optional().describe('An older version instead of the newest.') }),
  output: z.object({ content: z.string(), version }),
  refuses: ['not_found'],
  async run({ queries }, input) {
    await existingSession(queries, input.session_id)
    if (input.version === undefined) return readDocument(queries, input.session_id)
    return (
      (await readVersion(queries, input.session_id, input.version)) ??
      refuse('not_found', `The doc has no version ${input.version} yet.`, { version: input.version })
    )
  },
})

export const updateSessionDoc = op({
  name: 'update_session_doc',
  summary:
    'Replace the whole document. If somebody wrote since your expected_version, nothing is written (version_conflict): read it again, merge, retry.',
  route: ['POST', '/sessions/:session_id/doc'],
  aliases: [['PUT', '/sessions/:session_id/doc']],
  access: 'room',
  effect: 'write',
  destructive: true,
  bodyLimit: DOC_BODY_BYTES,
  input: z.strictObject({
    session_id: sessionId,
    content: docContent.describe('The whole new document, markdown.'),
    expected_version: version.describe('The version you read.'),
  }),
  output: z.object({ version, at: time }),
  refuses: ['session_closed', 'version_conflict'],
  async run(context, { session_id, content, expected_version }) {
    openSession(context)
    const current = await readDocument(context.queries, session_id)
    if (current.version !== expected_version) {
      const what = expected_version > current.version ? 'There is no such version yet' : 'Somebody wrote since you read it'
      refuse('version_conflict', `${what}. Read the document again, merge, and retry with expected_version ${current.version}.`, {
        current_version: current.version,
      })
    }
    return writeDocument(context.queries, session_id, content, authorOf(context))
  },
})

export const appendToSessionDoc = op({
  name: 'append_to_session_doc',
  summary: 'Add text at the end of the document, on a new line. Needs no version and never conflicts: the way to add a note.',
  route: ['POST', '/sessions/:session_id/doc/append'],
  access: 'room',
  effect: 'write',
  bodyLimit: DOC_BODY_BYTES,
  input: z.strictObject({ session_id: sessionId, text: section.min(1, 'must not be empty') }),
  output: z.object({ version, at: time }),
  refuses: ['session_closed', 'payload_too_large'],
  async run(context, { session_id, text }) {
    openSession(context)
    const { content } = await readDocument(context.queries, session_id)
    const longer = content === '' || content.endsWith('\n') ? content + text : `${content}\n${text}`
    if (utf8Bytes(longer) > DOC_LIMIT_BYTES)
      refuse('payload_too_large', 'The document would grow past 512 KiB. Tidy it first with update_session_doc.', {
        limit_bytes: DOC_LIMIT_BYTES,
      })
    return writeDocument(context.queries, session_id, longer, authorOf(context))
  },
})

export const getDocHistory = op({
  name: 'get_doc_history',
  summary: 'List the versions of the document, newest first, with who wrote each.',
  route: ['GET', '/sessions/:session_id/doc/history'],
  access: 'room',
  effect: 'read',
  restOnly: true,
  input: z.strictObject({
    session_id: sessionId,
    before_version: version.optional(),
    limit: z
      .int()
      .default(100)
      .transform((wished) => (wished < 1 || wished > 500 ? 100 : wished)),
  }),
  output: z.object({
    versions: z.array(z.object({ version, at: time, written_by_team_id: z.uuid().nullable(), team: z.string(), bytes: z.int() })),
    next_cursor: z.int().nullable(),
    has_more: z.boolean(),
  }),
  refuses: ['not_found'],
  async run({ queries }, { session_id, before_version, limit }) {
    await existingSession(queries, session_id)
    const rows = await documentVersions(queries, session_id, before_version, limit + 1)
    const versions = rows
      .slice(0, limit)
      .map(({ version, at, teamId, by, bytes }) => ({ version, at, written_by_team_id: teamId, team: by, bytes }))
    const has_more = rows.length > limit
    return { versions, next_cursor: has_more ? versions.at(-1)!.version : null, has_more }
  },
})
