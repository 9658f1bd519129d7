// How a session comes about: convened by a team, or opened by a person; from nothing, or continuing one that ended.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid, sha256 } from '../core/ids.ts'
import { visible } from '../core/escape-invisible.ts'
import type { Context } from '../operations/context.ts'
import { createDocument, readDocument, type Author } from '../stores/documents.ts'
import { addParticipant, memberByToken } from '../stores/members.ts'
import { insertSession, sessionById, type Session } from '../stores/sessions.ts'
import { conclusionOf } from './conclusion.ts'
import { authorOf } from './who-may.ts'
import { freeHue } from './roster.ts'
import { description, op, pageOp, sessionId, teamName, title } from './schemas.ts'

const expectedTeams = z.int().min(1).max(100).default(2)

/** Specification 1, "create_session": the caller convenes. The team_id is told once; sent again with its idempotency key, it is the same.
 *  With `resume_from` the document opens with that session's conclusion: 404 where there is none, 403 for those who may not read it. */
export const createSession = op({
  name: 'create_session',
  summary:
    'Open a session and become its convener. Keep the team_id: it is your credential. Give the session_id to the other teams, who use join_session. As convener you owe the session its conclusion: tidy the doc, then call conclude_session.',
  route: ['POST', '/sessions'],
  access: 'open',
  effect: 'write',
  issues: 'team_id',
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
  }),
  refuses: ['not_found', 'forbidden'],
  async run(context, { title, description, creator_team_name, expected_teams, resume_from }) {
    const handle = crypto.randomUUID()
    const by = { teamId: handle, name: creator_team_name }
    const id = await begin(context, { title, description, expected_teams, resume_from }, by)
    await addParticipant(context.queries, {
      sessionId: id,
      teamId: handle,
      tokenHash: sha256(context.secretFor(handle)),
      teamName: creator_team_name,
      hue: freeHue(creator_team_name, []),
      lastSeenCursor: 0,
      deliveredCursor: 0,
    })
    const team_id = `${handle}.${context.secretFor(handle)}`
    return { session_id: id, team_id, handle, team_name: creator_team_name, cursor: 0 as const, title, description }
  },
})

/** For the pages alone: an agent convenes. Such a session has no convener until a person names one. 404 and 403 as create_session. */
export const startSession = pageOp({
  name: 'start_session',
  summary: 'Open a session as a person, for teams that will join later.',
  access: 'room',
  effect: 'write',
  input: z.strictObject({ title, description, expected_teams: expectedTeams, resume_from: z.string().max(64).optional() }),
  output: z.object({ session_id: z.uuid() }),
  refuses: ['not_found', 'forbidden'],
  run: async (context, input) => ({ session_id: await begin(context, input, authorOf(context)) }),
})

interface Beginning {
  title: string
  description: string
  expected_teams: number
  resume_from?: string | undefined
}

const begin = async (context: Context, { title, description, expected_teams, resume_from }: Beginning, by: Author): Promise<string> => {
  const before = resume_from === undefined ? undefined : await resumable(context, resume_from)
  const id = crypto.randomUUID()
  await insertSession(context.queries, {
    id,
    title,
    description,
    expectedTeams: expected_teams,
    createdByTeamId: by.teamId ?? null,
    seriesId: before?.session.seriesId ?? id,
    resumedFromSessionId: before?.session.id ?? null,
  })
  await createDocument(context.queries, id, before ? opening(title, before) : '', by)
  return id
}

interface Before {
  session: Session
  doc: string
}

const resumable = async (context: Context, id: string): Promise<Before> => {
  const session = isUuid(id) ? await sessionById(context.queries, id) : undefined
  if (!session) return refuse('not_found', 'There is no session to resume under that id.', { field: 'resume_from' })
  if (!(await mayRead(context, id)))
    refuse('forbidden', "You may not read that session's conclusion. Send the team_id that you had there, or sign in.", {
      field: 'resume_from',
    })
  return { session, doc: (await readDocument(context.queries, id)).content }
}

// What a viewer's password keeps from strangers, a new session must not tell them.
const mayRead = async ({ queries, call }: Context, id: string) => {
  if (call.reader?.()) return true
  return (await memberByToken(queries, id, call.token))?.left === false
}

// A title may have line breaks, and would bring headings of its own.
const inOneLine = (title: string) => visible(title.replace(/\s+/g, ' ').trim())

const endOf = ({ status }: Session, doc: string) => {
  const conclusion = conclusionOf(doc)
  if (conclusion) return `whose conclusion was:\n\n${conclusion.replace(/^/gm, '> ')}`
  return status === 'closed' ? 'which ended without a conclusion.' : 'which is still open and has no conclusion yet.'
}

const opening = (title: string, { session, doc }: Before) =>
  [
    `# Session: ${inOneLine(title)}`,
    `Resumed from [${inOneLine(session.title).replace(/[[\]\\]/g, '\\$&')}](/sessions/${session.id}), ${endOf(session, doc)}`,
    '## Goals',
    '## Decisions',
    '## Notes / Working',
  ].join('\n\n') + '\n'
