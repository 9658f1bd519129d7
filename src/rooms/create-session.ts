// A new session: convened by a team or opened by a person, with an empty document or one that continues an earlier session.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid, sha256 } from '../core/ids.ts'
import { singleLine } from '../core/text/escape-invisible.ts'
import { anyone, authorOf, person } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { createDocument, readDocument, type Author } from '../stores/documents.ts'
import { addParticipant, type Participant } from '../stores/members.ts'
import { insertSession, sessionById, type NewSessionRow, type Session } from '../stores/sessions.ts'
import { conclusionOf } from './document/conclusion.ts'
import { mayReadBy } from './may-read.ts'
import { boardNow, openWorkLines } from './work/open-work.ts'
import { unusedHue, unusedName } from './roster.ts'
import { description, op, internalOp, sessionId, teamName, title } from './schemas.ts'
import { wakeCommand, wakeField } from './wake-command.ts'
import { team } from './team-caller.ts'

const expectedTeams = z.int().min(1).max(100).default(2)

/** The caller becomes the first team and the convener. The team_id is given out once; a retry with the same idempotency key gets the same
 *  one. With `resume_from` the document opens with that session's conclusion: 404 for an unknown session, 403 for one that the caller may
 *  not read. */
export const createSession = op({
  name: 'create_session',
  summary:
    'Open a session and become its convener. Keep the team_id: it is your credential. Give the session_id to the other teams, who use join_session. As convener you owe the session its conclusion: tidy the doc, then call conclude_session.',
  route: ['POST', '/sessions'],
  callers: [anyone],
  effect: 'write',
  alwaysLoad: true,
  issues: 'team_id',
  derivedAs: 'create_session',
  alsoCarries: [team],
  changesResources: true,
  example: {
    title: 'Shipping the parser',
    description: 'Split the parser work and merge it by tonight.',
    creator_team_name: "Alex's Team",
  },
  input: z.strictObject({
    title: title.describe('Short: what the session is about.'),
    description: description.describe('What the teams should achieve, with all the context they need.'),
    creator_team_name: teamName.describe('How people know you, e.g. "Alex\'s Team".'),
    expected_teams: expectedTeams.describe('How many teams are expected, including yours.'),
    resume_from: sessionId.optional().describe('The id of a session to continue: its conclusion opens the new doc.'),
  }),
  output: z.object({
    session_id: z.uuid(),
    team_id: z.string(),
    handle: z.uuid(),
    team_name: z.string(),
    cursor: z.literal(0),
    title: z.string(),
    description: z.string(),
    ...wakeField,
  }),
  refuses: ['not_found', 'forbidden'],
  async run(context, { title, description, creator_team_name, expected_teams, resume_from }) {
    const handle = crypto.randomUUID()
    const by = { teamId: handle, name: creator_team_name }
    const id = await addSession(context, { title, description, expected_teams, resume_from }, by)
    await seatFirst(context, id, { ...by, verified: context.call.key !== undefined })
    const team_id = `${handle}.${context.secretFor(handle)}`
    const known = { session_id: id, team_id, handle, team_name: creator_team_name, cursor: 0 as const, title, description }
    return { ...known, ...wakeCommand(context.call, id) }
  },
})

/** Opens a session for a person, from a page. Its convener is the first team that joins. 404 and 403 as create_session. */
export const startSession = internalOp({
  name: 'start_session',
  summary: 'Open a session as a person, for teams that will join later.',
  callers: [team, person],
  effect: 'write',
  input: z.strictObject({ title, description, expected_teams: expectedTeams, resume_from: z.string().max(64).optional() }),
  output: z.object({ session_id: z.uuid() }),
  refuses: ['not_found', 'forbidden'],
  run: async (context, input) => ({ session_id: await addSession(context, input, authorOf(context.caller)) }),
})

/** Puts a team at the beginning of a new session on its roster. It may call with the token that `secretFor` its handle belongs to. */
export const seatFirst = async (
  context: Context,
  sessionId: string,
  { teamId, name, verified }: Author & { verified: boolean },
  others: Participant[] = [],
) =>
  addParticipant(context.queries, {
    sessionId,
    teamId: teamId!,
    tokenHash: sha256(context.secretFor(teamId!)),
    teamName: unusedName(name, others),
    hue: unusedHue(name, others),
    lastSeenCursor: 0,
    deliveredCursor: 0,
    verified,
  })

interface NewSession {
  title: string
  description: string
  expected_teams: number
  resume_from?: string | undefined
}

/** Adds a session with a document, and nobody in it. The team in `by` convenes it. */
export const addSession = async (
  context: Context,
  { title, description, expected_teams, resume_from }: NewSession,
  by: Author,
  more: Partial<NewSessionRow> = {},
): Promise<string> => {
  const before = resume_from === undefined ? undefined : await sessionToResume(context, resume_from)
  const id = crypto.randomUUID()
  await insertSession(context.queries, {
    id,
    title,
    description,
    expectedTeams: expected_teams,
    createdByTeamId: by.teamId ?? null,
    openedBy: context.caller.kind === 'person' ? context.caller.name : null,
    seriesId: before?.session.seriesId ?? id,
    resumedFromSessionId: before?.session.id ?? null,
    ...more,
  })
  context.changed(id)
  await createDocument(context.queries, id, before ? openingDocument(title, before) : '', by)
  return id
}

interface ResumedSession {
  session: Session
  doc: string
  unfinished: string[]
}

const sessionToResume = async (context: Context, id: string): Promise<ResumedSession> => {
  const session = isUuid(id) ? await sessionById(context.queries, id) : undefined
  if (!session || session.purgedAt !== null)
    return refuse('not_found', 'There is no session to resume under that id.', { field: 'resume_from' })
  // A new session must not show strangers what VIEWER_PASSWORD keeps from them.
  if (!(await mayReadBy(context.queries, context.call, id)))
    refuse('forbidden', "You may not read that session's conclusion. Send the team_id that you had there, or sign in.", {
      field: 'resume_from',
    })
  const board = await boardNow(context.services, context.queries, id)
  const unfinished = openWorkLines(board, 'the board of that session has them')
  return { session, doc: (await readDocument(context.queries, id)).content, unfinished }
}

const endOf = ({ status }: Session, doc: string) => {
  const conclusion = conclusionOf(doc)
  if (conclusion) return `whose conclusion was:\n\n${conclusion.replaceAll(/^|\r?\n/g, '$&> ')}`
  return status === 'closed' ? 'which ended without a conclusion.' : 'which is still open and has no conclusion yet.'
}

const openingDocument = (title: string, { session, doc, unfinished }: ResumedSession) =>
  [
    `# Session: ${singleLine(title)}`,
    `Resumed from [${singleLine(session.title).replace(/[[\]\\]/g, '\\$&')}](/sessions/${session.id}), ${endOf(session, doc)}`,
    ...(unfinished.length > 0 ? [`What was left unfinished there:\n\n${unfinished.join('\n')}`] : []),
    '## Goals',
    '## Decisions',
    '## Notes / Working',
  ].join('\n\n') + '\n'
