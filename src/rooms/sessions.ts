// A session's life: created by its convener, renamed with a reason, concluded, and sometimes reopened.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid, parseToken, sha256 } from '../core/ids.ts'
import type { Context } from '../context.ts'
import { createDocument, readDocument, writeDocument } from '../stores/documents.ts'
import { addParticipant, memberByToken } from '../stores/members.ts'
import { insertSession, overviewOf, sessionById, setClosed, setMetadata, type Session } from '../stores/sessions.ts'
import { conclusionOf, withConclusion } from './conclusion.ts'
import { authorOf, conveners, isConvener, openSession } from './people.ts'
import { existingSession, freeHue } from './roster.ts'
import { description, op, reason, section, sessionId, teamName, time, title, version } from './shapes.ts'

export const createSession = op({
  name: 'create_session',
  summary:
    'Open a session and become its convener. Keep the team_id: it is your credential. Give the session_id to the other teams, who use join_session. As convener you owe the session its conclusion: tidy the doc, then call conclude_session.',
  route: ['POST', '/sessions'],
  access: 'open',
  effect: 'write',
  issues: true,
  input: z.strictObject({
    title: title.describe('Short: what the session is about.'),
    description: description.describe('What the teams are to reach, with all the context they need.'),
    creator_team_name: teamName.describe('How people know you, e.g. "Alex\'s Team".'),
    expected_teams: z.int().min(1).max(100).default(2).describe('How many teams are to come, you included.'),
    resume_from: z.string().min(1).max(64).optional().describe('The id of a session to go on from: its conclusion opens the new doc.'),
  }),
  output: z.object({
    session_id: z.uuid(),
    team_id: z.string(),
    handle: z.uuid(),
    team_name: z.string(),
    cursor: z.literal(0),
    title: z.string(),
    description: z.string(),
  }),
  refuses: ['not_found', 'forbidden'],
  async run(context, { title, description, creator_team_name, expected_teams, resume_from }) {
    const before = resume_from === undefined ? undefined : await resumable(context, resume_from)
    const [id, handle] = [crypto.randomUUID(), crypto.randomUUID()]
    await insertSession(context.queries, {
      id,
      title,
      description,
      expectedTeams: expected_teams,
      createdByTeamId: handle,
      seriesId: before?.session.seriesId ?? id,
      resumedFromSessionId: before?.session.id ?? null,
    })
    await addParticipant(context.queries, {
      sessionId: id,
      teamId: handle,
      tokenHash: sha256(context.secretFor(handle)),
      teamName: creator_team_name,
      hue: freeHue(creator_team_name, []),
      lastSeenCursor: 0,
      deliveredCursor: 0,
    })
    await createDocument(context.queries, id, before ? opening(title, before) : '', { teamId: handle, name: creator_team_name })
    const team_id = `${handle}.${context.secretFor(handle)}`
    return { session_id: id, team_id, handle, team_name: creator_team_name, cursor: 0 as const, title, description }
  },
})

interface Before {
  session: Session
  doc: string
}

const resumable = async (context: Context, id: string): Promise<Before> => {
  const session = isUuid(id) ? await sessionById(context.queries, id) : undefined
  if (!session) return refuse('not_found', 'There is no session to resume under that id.', { field: 'resume_from' })
  if (!(await mayRead(context, id)))
    refuse('forbidden', 'Its conclusion is not open to you. Send the team_id that you had there, or sign in.', { field: 'resume_from' })
  return { session, doc: (await readDocument(context.queries, id)).content }
}

// What a viewer's password keeps from strangers, a new session must not tell them.
const mayRead = async ({ queries, call }: Context, id: string) => {
  const token = call.token ? parseToken(call.token) : undefined
  return call.reader?.() || (token !== undefined && (await memberByToken(queries, id, token)) !== undefined)
}

const opening = (title: string, { session, doc }: Before) =>
  [
    `# Session: ${title}`,
    `Resumed from [${session.title.replace(/[[\]\\]/g, '\\$&')}](/sessions/${session.id}), whose conclusion was:`,
    conclusionOf(doc)?.replace(/^/gm, '> ') ?? '> (it ended without one)',
    '## Goals',
    '## Decisions',
    '## Notes / Working',
  ].join('\n\n') + '\n'

export const getSession = op({
  name: 'get_session',
  summary: "Read the session's title, description, status, times, doc version and convener.",
  route: ['GET', '/sessions/:session_id'],
  access: 'room',
  effect: 'read',
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({
    session_id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status: z.enum(['active', 'closed']),
    created_at: time,
    closed_at: time.nullable(),
    session_doc_version: version,
    last_sequence: z.int(),
    expected_teams: z.int(),
    convener: z.object({ team_id: z.uuid(), team_name: z.string(), left: z.boolean() }).nullable(),
    genealogy: z.object({
      parent_session_id: z.uuid().nullable(),
      forked_from_session_id: z.uuid().nullable(),
      resumed_from_session_id: z.uuid().nullable(),
      series_id: z.uuid(),
    }),
  }),
  refuses: ['not_found'],
  async run({ queries }, { session_id }) {
    const overview = isUuid(session_id) ? await overviewOf(queries, session_id) : undefined
    if (!overview) return refuse('not_found', 'There is no such session.', { session_id })
    const { session, docVersion, convener } = overview
    return {
      session_id,
      title: session.title,
      description: session.description,
      status: session.status,
      created_at: session.createdAt,
      closed_at: session.closedAt,
      session_doc_version: docVersion,
      last_sequence: session.lastSequence,
      expected_teams: session.expectedTeams,
      convener: convener ? { team_id: convener.teamId, team_name: convener.teamName, left: convener.leftAt !== null } : null,
      genealogy: {
        parent_session_id: session.parentSessionId,
        forked_from_session_id: session.forkedFromSessionId,
        resumed_from_session_id: session.resumedFromSessionId,
        series_id: session.seriesId,
      },
    }
  },
})

export const updateSessionMetadata = op({
  name: 'update_session_metadata',
  summary:
    'Change the title or description because the scope or goal has changed, never for typos or wording. Everybody is told, with your reason.',
  route: ['POST', '/sessions/:session_id/metadata'],
  aliases: [['PATCH', '/sessions/:session_id']],
  access: 'room',
  effect: 'write',
  destructive: true,
  input: z.strictObject({
    session_id: sessionId,
    title: title.optional(),
    description: description.optional(),
    reason: reason.describe('Why the change matters to every team.'),
  }),
  output: z.object({ title: z.string(), description: z.string(), updated_at: time }),
  refuses: ['session_closed', 'forbidden', 'rate_limited'],
  async run(context, input) {
    const session = openSession(context)
    conveners(context, session, 'metadata')
    const next = { title: input.title ?? session.title, description: input.description ?? session.description }
    const changes = Object.fromEntries(
      (['title', 'description'] as const)
        .filter((field) => next[field] !== session[field])
        .map((field) => [field, { from: session[field], to: next[field] }]),
    )
    if (Object.keys(changes).length === 0)
      refuse('invalid_request', 'Nothing would change: send a new title or description.', { field: 'title' })
    assertUnhurried(context, session)
    const updated_at = await setMetadata(context.queries, session.id, next)
    await context.append(
      systemEvent(session.id, { event: 'session_metadata_updated', by: authorOf(context).name, changes, reason: input.reason }),
    )
    return { ...next, updated_at }
  },
})

const assertUnhurried = ({ services: { config, clock } }: Context, { createdAt, updatedAt }: Session) => {
  if (config.METADATA_MIN_INTERVAL === 0 || updatedAt === createdAt) return
  const retry_after = Math.ceil(config.METADATA_MIN_INTERVAL - (clock.now() - Date.parse(updatedAt)) / 1000)
  if (retry_after > 0) refuse('rate_limited', `Title and description changed a moment ago. Try again in ${retry_after} s.`, { retry_after })
}

const systemEvent = (sessionId: string, content: Record<string, unknown>, evenClosed = false) => ({
  sessionId,
  type: 'system' as const,
  author: 'system' as const,
  content,
  evenClosed,
})

export const concludeSession = op({
  name: 'conclude_session',
  summary:
    "End the session: writes your summary into the doc's Conclusion section, closes the session and tells everybody. The convener's duty, after tidying the doc; any team may when the convener is gone. Calling it again revises the summary.",
  route: ['POST', '/sessions/:session_id/conclude'],
  access: 'room',
  effect: 'write',
  destructive: true,
  bodyLimit: 4 * 1024 * 1024,
  input: z.strictObject({
    session_id: sessionId,
    summary_section: section.describe('Markdown: what was reached and decided, what is open, where to go on from.'),
  }),
  output: z.object({ session_id: z.uuid(), status: z.literal('closed'), closed_at: time, doc_version: version }),
  refuses: ['forbidden'],
  async run(context, { session_id, summary_section }) {
    conveners(context, context.session!, 'conclude')
    const author = authorOf(context)
    const { content } = await readDocument(context.queries, session_id)
    const doc = await writeDocument(context.queries, session_id, withConclusion(content, summary_section), author)
    await setClosed(context.queries, session_id, true)
    await context.append(systemEvent(session_id, { event: 'session_concluded', by: author.name, doc_version: doc.version }, true))
    const { closedAt } = await existingSession(context.queries, session_id)
    return { session_id, status: 'closed' as const, closed_at: closedAt!, doc_version: doc.version }
  },
})

export const reopenSession = op({
  name: 'reopen_session',
  summary:
    'Open a concluded session again, with a reason; for its convener or a person. To go on with new work, create_session with resume_from is better.',
  route: ['POST', '/sessions/:session_id/reopen'],
  access: 'room',
  effect: 'write',
  destructive: true,
  input: z.strictObject({ session_id: sessionId, reason: reason.describe('Why it must go on here.') }),
  output: z.object({ status: z.literal('active'), at: time }),
  refuses: ['forbidden', 'conflict'],
  async run(context, input) {
    const session = context.session!
    if (context.caller.kind === 'team' && !isConvener(context, session))
      refuse(
        'forbidden',
        'Only the convener or a signed-in person reopens a session. Resume it in a new one: create_session with resume_from.',
      )
    if (session.status === 'active') refuse('conflict', 'This session is open already.')
    await setClosed(context.queries, session.id, false)
    const { at } = await context.append(
      systemEvent(session.id, { event: 'session_reopened', by: authorOf(context).name, reason: input.reason }),
    )
    return { status: 'active' as const, at }
  },
})
