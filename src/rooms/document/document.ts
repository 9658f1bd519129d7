// A session's one markdown document. Every write adds a version with its author.
import { z } from 'zod'
import { person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { cutText, fitting, jsonLength } from '../../core/budget.ts'
import { refuse } from '../../core/errors.ts'
import { utf8Bytes } from '../../core/text/text.ts'
import { documentVersions, readDocument, readVersion } from '../../stores/documents.ts'
import { withAppended } from './append.ts'
import { writeDoc } from './doc-write.ts'
import { fittingOutline, outlineOf, sectionNamed, sectionsOf, textOf, withSection, type Section } from './outline.ts'
import { existingSession, writableSession } from '../preconditions.ts'
import {
  DOC_BODY_BYTES,
  DOC_LIMIT_BYTES,
  docContent,
  limit,
  maxChars,
  op,
  outlineRow,
  docText,
  sessionId,
  time,
  version,
  wholeNumber,
} from '../schemas.ts'
import { team } from '../team-caller.ts'

const sectionName = z
  .string()
  .min(1)
  .max(300)
  .transform((name) => name.replace(/^#{1,6}\s+/, '')) // the heading may come with its marks
  .describe('Only this section, by its heading; a second "Notes" is "Notes (2)".')

/** The newest version, or an older one; the whole of it (at most 512 KiB) or one section. Longer than `max_chars`, it is cut, and the
 *  answer has the outline. Over REST it also comes as markdown, and with an ETag. 404 for a version or section that is not there. */
export const readSessionDoc = op({
  name: 'read_session_doc',
  summary: 'Read the shared markdown document and its version.',
  route: ['GET', '/sessions/:session_id/doc'],
  callers: [team, person],
  effect: 'read',
  searchHint: 'read the shared document',
  conditional: true,
  markdown: {
    text: ({ content }) => content,
    headers: {
      'Doc-Version': { description: 'the version', value: ({ version }) => version },
      'Doc-Truncated': {
        description: 'if it was cut to max_chars: the characters that it has in full',
        value: ({ truncated }) => truncated?.chars,
      },
    },
  },
  input: z.strictObject({
    session_id: sessionId,
    version: wholeNumber().optional().describe('An older version instead of the newest.'),
    section: sectionName.optional(),
    max_chars: maxChars,
  }),
  output: z.object({
    content: z.string(),
    version,
    truncated: z.object({ chars: z.int(), outline: z.array(outlineRow), omitted: z.int().optional() }).optional(),
  }),
  refuses: ['not_found'],
  async run({ queries }, input) {
    await existingSession(queries, input.session_id)
    const doc = await existingVersion(queries, input.session_id, input.version)
    const content = input.section === undefined ? doc.content : textOf(doc.content, existingSection(doc.content, input.section))
    return { ...docWithin(content, input.max_chars), version: doc.version }
  },
})

const existingVersion = async (queries: Context['queries'], sessionId: string, version: number | undefined) => {
  if (version === undefined) return readDocument(queries, sessionId)
  return (
    (await readVersion(queries, sessionId, version)) ??
    refuse('not_found', `The doc has no version ${version} yet. Read it without version for the newest.`, { version })
  )
}

const existingSection = (doc: string, name: string): Section =>
  sectionNamed(doc, name) ??
  refuse('not_found', 'The doc has no such section. Add one with append_to_session_doc, or write the whole document.', {
    field: 'section',
    sections: fitting(
      sectionsOf(doc).map(({ section }) => section),
      2_000,
    ),
  })

// A document that is cut comes with its outline, so that each section can be read by itself.
const docWithin = (content: string, limit: number | undefined) => {
  if (limit === undefined || jsonLength(content) + 40 <= limit) return { content }
  const { outline } = outlineOf(content)
  const kept = fittingOutline(outline, limit / 3)
  const truncated = { chars: content.length, outline: kept, ...(kept.length < outline.length && { omitted: outline.length - kept.length }) }
  return { content: cutText(content, limit - jsonLength(truncated) - 60), truncated }
}

const MISSING = 'is required: the version you read (beside a body of markdown it stands in the URL, ?expected_version=N)'
const versionRead = wholeNumber(MISSING)

/** Replaces the document or one section of it; over REST the body may be the markdown itself. 409 with `details.current_version` when
 *  somebody has written since `expected_version`, 404 for a section that is not there, 413 when the document would exceed 512 KiB. */
export const updateSessionDoc = op({
  name: 'update_session_doc',
  summary:
    'Replace the whole document, or one section of it. If the document has changed since your expected_version, nothing is written (version_conflict): read it again, merge, retry.',
  route: ['POST', '/sessions/:session_id/doc'],
  aliases: [['PUT', '/sessions/:session_id/doc']],
  callers: [team, person],
  effect: 'write',
  searchHint: 'rewrite the shared document',
  destructive: true,
  bodyLimit: DOC_BODY_BYTES,
  markdownBody: 'content',
  example: { content: '# Session: Shipping the parser\n', expected_version: 1 },
  input: z.strictObject({
    session_id: sessionId,
    content: docContent.describe('The whole new document, markdown; with `section`, that section, with or without its heading.'),
    expected_version: versionRead.describe('The version you read.'),
    section: sectionName.optional(),
  }),
  output: z.object({ version, at: time }),
  refuses: ['session_closed', 'version_conflict', 'not_found', 'payload_too_large'],
  async run(context, { session_id, content, expected_version, section }) {
    writableSession(context)
    const current = await readDocument(context.queries, session_id)
    if (current.version !== expected_version) {
      const what = expected_version > current.version ? 'That version does not exist yet' : 'The document has changed since you read it'
      refuse('version_conflict', `${what}. Read the document again, merge, and retry with expected_version ${current.version}.`, {
        current_version: current.version,
      })
    }
    const next = section === undefined ? content : withSectionReplaced(current.content, section, content)
    return writeDoc(context, session_id, withinLimit(next))
  },
})

const withSectionReplaced = (doc: string, name: string, content: string): string =>
  withSection(doc, existingSection(doc, name), content) ??
  refuse('invalid_request', 'content: an unclosed code fence, comment or HTML tag would hide the headings that follow. Close it.', {
    field: 'content',
  })

const withinLimit = (content: string): string =>
  utf8Bytes(content) <= DOC_LIMIT_BYTES
    ? content
    : refuse('payload_too_large', 'The document would exceed 512 KiB. Shorten it first with update_session_doc.', {
        limit_bytes: DOC_LIMIT_BYTES,
      })

/** Appends at most 64 KiB, on a new line; before the section Conclusion if the document ends with it. Over REST the body may be the
 *  markdown itself. 413 when the document would exceed 512 KiB. */
export const appendToSessionDoc = op({
  name: 'append_to_session_doc',
  summary:
    'Add text at the end of the document, before its conclusion, on a new line. Needs no version and never conflicts: the way to add a note.',
  route: ['POST', '/sessions/:session_id/doc/append'],
  callers: [team, person],
  effect: 'write',
  searchHint: 'add a note to the shared document',
  bodyLimit: DOC_BODY_BYTES,
  markdownBody: 'text',
  example: { text: '- The lexer is done.' },
  input: z.strictObject({ session_id: sessionId, text: docText.min(1, 'must not be empty') }),
  output: z.object({ version, at: time }),
  refuses: ['session_closed', 'payload_too_large'],
  async run(context, { session_id, text }) {
    writableSession(context)
    const { content } = await readDocument(context.queries, session_id)
    return writeDoc(context, session_id, withinLimit(withAppended(content, text)))
  },
})

/** Pages of `limit` versions (1 to 500, by default 100), the newest first; `next_cursor` is the next page's `before_version`. */
export const getDocHistory = op({
  name: 'get_doc_history',
  summary: 'List the versions of the document, newest first, with who wrote each.',
  route: ['GET', '/sessions/:session_id/doc/history'],
  callers: [team, person],
  effect: 'read',
  restOnly: true,
  input: z.strictObject({
    session_id: sessionId,
    before_version: version.optional(),
    limit,
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
