// A session once it is open: read, renamed with a reason, concluded, sometimes reopened.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { withLf } from '../core/text/line-breaks.ts'
import { NEEDS, needOf } from '../loops/store.ts'
import { authorOf, person } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { noSuchSession } from '../operations/subject.ts'
import { readDocument } from '../stores/documents.ts'
import { setClosed, setMetadata, type Session } from '../stores/sessions.ts'
import { withConclusion } from './document/conclusion.ts'
import { withDecisionsMeanwhile } from './document/decisions-meanwhile.ts'
import { writeDoc } from './document/doc-write.ts'
import { appendToParent } from './append-to-parent.ts'
import { convenerOnly, convenerReopens } from './who-may.ts'
import { notifyPeople } from '../notices/notify-people.ts'
import { existingSession, refuseArchived, writableSession } from './preconditions.ts'
import { description, DOC_BODY_BYTES, op, reason, docText, sessionId, time, title, version } from './schemas.ts'
import { team } from './team-caller.ts'
import { appendUntold } from './work/released-work.ts'

/** The session's data without its feed and document. Calls at the same time share one read. */
export const getSession = op({
  name: 'get_session',
  summary: "Read the session's title, description, status, times, doc version, convener, and whether it needs a person.",
  route: ['GET', '/sessions/:session_id'],
  callers: [team, person],
  effect: 'read',
  searchHint: 'title, status, times of a session',
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({
    session_id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status: z.enum(['active', 'closed']),
    created_at: time,
    closed_at: time.nullable(),
    archived_at: time.nullable(),
    session_doc_version: version,
    last_sequence: z.int(),
    expected_teams: z.int(),
    convener: z.object({ team_id: z.uuid(), team_name: z.string(), left: z.boolean() }).nullable(),
    needs_person: z.object({ reason: z.enum(NEEDS), since: time }).nullable(),
    genealogy: z.object({
      parent_session_id: z.uuid().nullable(),
      forked_from_session_id: z.uuid().nullable(),
      resumed_from_session_id: z.uuid().nullable(),
      series_id: z.uuid(),
    }),
  }),
  refuses: ['not_found'],
  async run({ services }, { session_id }) {
    const overview = isUuid(session_id) ? await services.overviewOf(session_id) : undefined
    if (!overview) return noSuchSession(session_id)
    const { session, docVersion, convener, loopSince, wakesSince } = overview
    return {
      session_id,
      title: session.title,
      description: session.description,
      status: session.status,
      created_at: session.createdAt,
      closed_at: session.closedAt,
      archived_at: session.archivedAt,
      session_doc_version: docVersion,
      last_sequence: session.lastSequence,
      expected_teams: session.expectedTeams,
      convener: convener ? { team_id: convener.teamId, team_name: convener.teamName, left: convener.leftAt !== null } : null,
      needs_person: session.status === 'active' ? needOf(loopSince, wakesSince) : null,
      genealogy: {
        parent_session_id: session.parentSessionId,
        forked_from_session_id: session.forkedFromSessionId,
        resumed_from_session_id: session.resumedFromSessionId,
        series_id: session.seriesId,
      },
    }
  },
})

/** Title, description or both must change (else 400). 403 by CONVENER_ONLY, 429 by METADATA_MIN_INTERVAL. */
export const updateSessionMetadata = op({
  name: 'update_session_metadata',
  summary:
    'Change the title or description because the scope or goal has changed, never for typos or wording. Everybody is told, with your reason.',
  route: ['POST', '/sessions/:session_id/metadata'],
  aliases: [['PATCH', '/sessions/:session_id']],
  callers: [team, person],
  effect: 'write',
  searchHint: 'rename a session',
  destructive: true,
  changesResources: true,
  example: { title: 'Shipping the parser and the printer', reason: 'The printer turned out to be part of it.' },
  input: z.strictObject({
    session_id: sessionId,
    title: title.optional(),
    description: description.optional(),
    reason: reason.describe('Why the change matters to every team.'),
  }),
  output: z.object({ title: z.string(), description: z.string(), updated_at: time }),
  refuses: ['session_closed', 'forbidden', 'rate_limited'],
  async run(context, input) {
    const session = writableSession(context)
    convenerOnly(context, session, 'metadata')
    const { changed, ...now } = await changeMetadata(context, session, input)
    if (!changed) refuse('invalid_request', 'Nothing would change: send a new title or description.', { field: 'title' })
    return now
  },
})

export interface NewMetadata {
  title?: string | undefined
  description?: string | undefined
  reason: string
}

/** Changes the title or description of a session that the caller has locked, and writes the event; does nothing when both stay the same.
 *  429 by METADATA_MIN_INTERVAL. */
export const changeMetadata = async (context: Context, session: Session, input: NewMetadata) => {
  const next = { title: changed(input.title, session.title), description: changed(input.description, session.description) }
  const changes = Object.fromEntries(
    (['title', 'description'] as const)
      .filter((field) => next[field] !== session[field])
      .map((field) => [field, { from: session[field], to: next[field] }]),
  )
  if (Object.keys(changes).length === 0) return { ...next, updated_at: session.updatedAt, changed: false }
  refuseTooSoon(context, session)
  const updated_at = await setMetadata(context.queries, session.id, next)
  await context.append(session.id, { event: 'session_metadata_updated', by: authorOf(context.caller).name, changes, reason: input.reason })
  return { ...next, updated_at, changed: true }
}

// Another kind of line break alone is no change.
const changed = (requested: string | undefined, current: string) =>
  requested === undefined || withLf(requested) === withLf(current) ? current : requested

const refuseTooSoon = ({ services: { config, clock } }: Context, { createdAt, updatedAt }: Session) => {
  if (config.METADATA_MIN_INTERVAL === 0 || updatedAt === createdAt) return
  const ago = Math.max(0, clock.now() - Date.parse(updatedAt)) / 1000 // the database rounds up to a millisecond that may not have come yet
  const retry_after = Math.ceil(config.METADATA_MIN_INTERVAL - ago)
  if (retry_after > 0) refuse('rate_limited', `Title and description changed a moment ago. Try again in ${retry_after} s.`, { retry_after })
}

/** Writes the conclusion into the document, closes the session and appends the event, in one transaction. Called again, it replaces the
 *  conclusion and appends another event. The summary has at most 64 KiB, and may carry the document past its 512 KiB. 403 by
 *  CONVENER_ONLY. */
export const concludeSession = op({
  name: 'conclude_session',
  summary:
    "End the session: writes your summary into the doc's Conclusion section, closes the session and tells everybody. The convener's duty, after tidying the doc; other teams may as well, unless the server keeps it to the convener. Calling it again revises the summary.",
  route: ['POST', '/sessions/:session_id/conclude'],
  callers: [team, person],
  effect: 'write',
  searchHint: 'end a session with its conclusion',
  destructive: true,
  bodyLimit: DOC_BODY_BYTES,
  example: { summary_section: 'The parser ships. Open: the printer.' },
  input: z.strictObject({
    session_id: sessionId,
    summary_section: docText
      .refine((text) => text.trim() !== '', 'must not be blank: it ends the session for everybody')
      .describe('Markdown: what was achieved and decided, what is open, where to continue.'),
  }),
  output: z.object({ session_id: z.uuid(), status: z.literal('closed'), closed_at: time, doc_version: version }),
  refuses: ['forbidden', 'session_closed'],
  async run(context, { session_id, summary_section }) {
    refuseArchived(context.session!)
    convenerOnly(context, context.session!, 'conclude')
    const { content } = await readDocument(context.queries, session_id)
    const decided = await withDecisionsMeanwhile(context.queries, context.session!, content)
    const doc = await writeDoc(context, session_id, withConclusion(decided, summary_section))
    await setClosed(context.queries, session_id, true)
    const event = { event: 'session_concluded', by: authorOf(context.caller).name, doc_version: doc.version }
    const { id } = await context.append(session_id, event, { evenClosed: true })
    if (context.session!.status === 'active') {
      await notifyPeople(context.queries, [{ kind: 'session_concluded', sessionId: session_id, about: id }])
      await appendToParent(context, context.session!, { task_id: null, status: 'concluded', message_id: id, text: summary_section })
    }
    const { closedAt } = await existingSession(context.queries, session_id)
    return { session_id, status: 'closed' as const, closed_at: closedAt!, doc_version: doc.version }
  },
})

/** Its document then has what people decided meanwhile. 403 for teams other than the convener, 409 when the session is open. */
export const reopenSession = op({
  name: 'reopen_session',
  summary:
    'Open a concluded session again, with a reason; for its convener or a person. For new work, create_session with resume_from is better.',
  route: ['POST', '/sessions/:session_id/reopen'],
  callers: [team, person],
  effect: 'write',
  searchHint: 'reopen a concluded session',
  destructive: true,
  example: { reason: 'A bug came back.' },
  input: z.strictObject({ session_id: sessionId, reason: reason.describe('Why it must continue here.') }),
  output: z.object({ status: z.literal('active'), at: time }),
  refuses: ['forbidden', 'conflict', 'session_closed'],
  async run(context, input) {
    const session = context.session!
    refuseArchived(session)
    convenerReopens(context, session)
    if (session.status === 'active') refuse('conflict', 'This session is already open: go on with a message to it.')
    await setClosed(context.queries, session.id, false)
    const { content } = await readDocument(context.queries, session.id)
    const decided = await withDecisionsMeanwhile(context.queries, session, content)
    if (decided !== content) await writeDoc(context, session.id, decided)
    const { at } = await context.append(input.session_id, {
      event: 'session_reopened',
      by: authorOf(context.caller).name,
      reason: input.reason,
    })
    await appendUntold(context, { ...session, status: 'active' })
    return { status: 'active' as const, at }
  },
})
