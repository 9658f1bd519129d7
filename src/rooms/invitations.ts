// Invitations: a person or a full key makes one, and whoever has its link can bring an agent into this one session, without the server's
// access token. Its code lets join; the team_id that it gave does the rest.
import { z } from 'zod'
import { refuse, unauthorized } from '../core/errors.ts'
import { isUuid, parseToken } from '../core/ids.ts'
import { ACTORS } from '../core/key-scopes.ts'
import { authorOf, key, person } from '../operations/callers.ts'
import type { Call } from '../operations/call.ts'
import { baseOf, type Context } from '../operations/context.ts'
import type { Services } from '../process/services.ts'
import {
  countJoin,
  insertInvitation,
  invitationBy,
  isGoodInvitation,
  invitationsOf,
  setRevoked,
  type Invitation,
} from '../stores/invitations.ts'
import { existingSession, writableSession } from './preconditions.ts'
import { op, sessionId, time } from './schemas.ts'
import { team } from './team-caller.ts'

const MOST_JOINS = 1_000 // as many teams as a session takes
const MOST_DAYS = 365

const onlyFor = 'Only a signed-in person, on the session’s page, or a key of the scope full can invite. Ask your user.'
const forPeopleAndKeys = {
  callers: [key, person, team],
  keyRow: { ...ACTORS, agent: false },
  restOnly: true,
  peopleOnly: true,
  onlyFor,
} as const

/** The code is told once. 403 for teams. */
export const createInvitation = op({
  name: 'create_invitation',
  summary: 'Make an invitation: a link by which an agent joins this one session, without the access token.',
  route: ['POST', '/sessions/:session_id/invitations'],
  ...forPeopleAndKeys,
  effect: 'write',
  issues: 'code',
  input: z.strictObject({
    session_id: sessionId,
    joins: z.int().min(1).max(MOST_JOINS).default(10).describe('How many teams may join by it.'),
    days: z.int().min(1).max(MOST_DAYS).default(7).describe('How long it is good.'),
  }),
  output: z.object({ invitation_id: z.uuid(), code: z.string(), url: z.string(), expires_at: time }),
  refuses: ['forbidden', 'session_closed'],
  async run(context, { session_id, joins, days }) {
    writableSession(context)
    const handle = crypto.randomUUID()
    const token = { handle, secret: context.secretFor(handle) }
    const expires_at = await insertInvitation(context.queries, token, {
      sessionId: session_id,
      by: authorOf(context.caller).name,
      joins,
      days,
    })
    const code = `${handle}.${token.secret}`
    return { invitation_id: handle, code, url: `${baseOf(context)}/join/${code}`, expires_at }
  },
})

const listed = z.object({
  invitation_id: z.uuid(),
  made_by: z.string(),
  made_at: time,
  expires_at: time,
  joins: z.int(),
  joined: z.int(),
  revoked_at: time.nullable(),
})

/** Lists invitations without their codes. 403 for teams. */
export const listInvitations = op({
  name: 'list_invitations',
  summary: "The session's invitations, newest first, without their codes.",
  route: ['GET', '/sessions/:session_id/invitations'],
  ...forPeopleAndKeys,
  effect: 'read',
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ invitations: z.array(listed) }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { session_id }) {
    const { id } = await existingSession(context.queries, session_id)
    return { invitations: (await invitationsOf(context.queries, id)).map(rowOf) }
  },
})

const rowOf = ({ id, madeBy, madeAt, expiresAt, joins, joined, revokedAt }: Invitation): z.output<typeof listed> => ({
  invitation_id: id,
  made_by: madeBy,
  made_at: madeAt,
  expires_at: expiresAt,
  joins,
  joined,
  revoked_at: revokedAt,
})

/** Nobody joins by it any more; teams that have joined stay. 403 for teams, 404 for an invitation of another session. */
export const revokeInvitation = op({
  name: 'revoke_invitation',
  summary: 'Revoke an invitation: nobody joins by it any more. Teams that have joined stay.',
  route: ['POST', '/sessions/:session_id/invitations/:invitation_id/revoke'],
  ...forPeopleAndKeys,
  effect: 'write',
  input: z.strictObject({ session_id: sessionId, invitation_id: z.string().max(100) }),
  output: z.object({ invitation_id: z.uuid(), revoked_at: time }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { session_id, invitation_id }) {
    const revoked_at = isUuid(invitation_id) ? await setRevoked(context.queries, session_id, invitation_id) : undefined
    if (revoked_at === undefined)
      return refuse('not_found', 'This session has no such invitation. list_invitations has the ids of those that it has.', {
        field: 'invitation_id',
      })
    return { invitation_id, revoked_at }
  },
})

/** One sentence for unknown, expired, used up and revoked codes and for those of another session, so that nobody can tell these apart. */
export const NOT_INVITED = 'This invitation is not valid here: it may have expired, been used up or been revoked. Ask for a new invitation.'

const codeOf = ({ invite, header }: Call) => parseCode(invite ?? header?.('x-invite'))
const parseCode = (text: string | undefined) => (text === undefined ? undefined : (parseToken(codeWithin(text)) ?? 'misshapen'))

// Takes the code out of a whole link, which a person may have handed over.
const codeWithin = (text: string) => text.trim().replace(/^.*\/join\//, '')

/** Does the call bring the code of an invitation to this session, in whatever state? 401 for a code of none, so that whoever mistyped one is
 *  not sent for the access token. */
export const bringsInvitation = async ({ database }: Services, call: Call, sessionId: string): Promise<boolean> => {
  const code = codeOf(call)
  if (code === undefined) return false
  const invitation = code === 'misshapen' ? undefined : await invitationBy(database, code)
  return invitation?.sessionId === sessionId || unauthorized(NOT_INVITED)
}

/** Counts a join by the invitation that the call brings, and returns its id; undefined when it brings none. 401 for one that is not valid. */
export const joinByInvitation = async ({ queries, call }: Context, sessionId: string): Promise<string | undefined> => {
  const code = codeOf(call)
  if (code === undefined) return undefined
  const invitation = code === 'misshapen' ? undefined : await invitationBy(queries, code)
  const counted = invitation?.sessionId === sessionId && (await countJoin(queries, invitation.id))
  return counted ? invitation.id : unauthorized(NOT_INVITED)
}

/** The session that a code opens now, for its link; undefined when the invitation is not good. */
export const sessionInvitedTo = async ({ database }: Services, code: string): Promise<string | undefined> => {
  const token = parseToken(code)
  const invitation = token && (await invitationBy(database, token))
  return invitation && (await isGoodInvitation(database, invitation.id)) ? invitation.sessionId : undefined
}

/** Is this the code of any invitation? Who has it may see the list of tools. */
export const isCode = async ({ database }: Services, text: string): Promise<boolean> => {
  const code = parseCode(text)
  return code !== undefined && code !== 'misshapen' && (await invitationBy(database, code)) !== undefined
}
