// What people alone may do: share, invite, let teams go on that repeat themselves.
import fc from 'fast-check'
import { pick, refuses, type Command, type Verdict, upTo } from '../command.ts'
import { PERSON, type Room } from '../state.ts'

const releaseSession: Command = {
  op: 'release_session',
  weight: 1,
  judge({ room, self }) {
    if (self) return refuses('forbidden')
    return room.closed ? refuses('session_closed') : { answers: {} } // whether it was held back depends on how alike the posts were
  },
}

const sharing = (op: string, answers: Verdict): Command => ({ op, weight: 1, judge: ({ self }) => (self ? refuses('forbidden') : answers) })

const createInvitation: Command = {
  op: 'create_invitation',
  draws: { joins: fc.integer({ min: 0, max: 2 }) },
  input: (_, { joins }) => ({ joins }),
  misshapen: ({ joins }) => joins < 1,
  judge({ room, self, input: { joins } }) {
    if (self) return refuses('forbidden')
    if (room.closed) return refuses('session_closed')
    return {
      answers: {},
      after: ({ invitation_id: id, code }) => void room.invitations.push({ id, code, joins, joined: 0, revoked: false }),
    }
  },
}

/** The answer of list_invitations: the newest first. */
export const invitationRows = ({ invitations }: Room) => ({
  invitations: invitations.map(({ id, joins, joined }) => ({ invitation_id: id, made_by: PERSON, joins, joined })).toReversed(),
})

export const revokedAgrees = (room: Room, { invitations }: any): boolean =>
  room.invitations.toReversed().every(({ revoked }, i) => (invitations[i].revoked_at !== null) === revoked)

const listInvitations: Command = {
  op: 'list_invitations',
  weight: 1,
  judge: ({ room, self }) => (self ? refuses('forbidden') : { answers: invitationRows(room), also: (body) => revokedAgrees(room, body) }),
}

const revokeInvitation: Command = {
  op: 'revoke_invitation',
  draws: { which: upTo(4) },
  weight: 1,
  input: ({ invitations }, { which }) => ({ invitation_id: which < 3 && invitations.length > 0 ? pick(invitations, which).id : crypto.randomUUID() }), // prettier-ignore
  judge({ room, self, input: { invitation_id } }) {
    if (self) return refuses('forbidden')
    const invitation = room.invitations.find(({ id }) => id === invitation_id)
    return invitation ? { answers: { invitation_id }, after: () => void (invitation.revoked = true) } : refuses('not_found')
  },
}

export const people = [
  releaseSession,
  sharing('share_session', { answers: {}, also: ({ url }) => /\/shared\/[0-9a-f-]{36}\.\S{32}$/.test(url) }),
  sharing('unshare_session', { answers: { url: null } }),
  createInvitation,
  listInvitations,
  revokeInvitation,
]
