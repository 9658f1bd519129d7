// Joining, leaving, the roster, who convenes.
import fc from 'fast-check'
import { pick, refuses, type Command, type Known, upTo } from '../command.ts'
import { endOf, isConversation, presentTeams, tell, type Item, type Room, type Team } from '../state.ts'

export const NAMES = ["Alex's Team", "Bea's Team", 'bea’s team', 'مرحبا']

export const newTeam = (team: Pick<Team, 'handle' | 'token' | 'name'>, at: number): Team => ({
  ...team,
  left: false,
  delivered: at,
  addressed: 0,
  seen: at,
  acknowledged: 0,
})

// Compared without case; none of NAMES needs more.
const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

const freeName = (room: Room, wanted: string): string => {
  const isTaken = (name: string) => presentTeams(room).some((team) => sameName(team.name, name))
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted} (${n})`
    if (!isTaken(name)) return name
  }
}

const joinSession: Command = {
  op: 'join_session',
  draws: { name: upTo(3), replay: upTo(9), invite: upTo(7) },
  weight: 4,
  input: ({ invitations, log }, { name, replay, invite }) => ({
    team_name: pick(NAMES, name),
    ...(replay < 3 && { replay_from: replay === 2 ? log.length + 1 : replay }),
    ...(invite < 3 && invitations.length > 0 && { invite: pick(invitations, invite).code }),
    ...(invite === 3 && { invite: `${crypto.randomUUID()}.${'a'.repeat(32)}` }),
  }),
  judge({ room, self, state, input: { team_name, replay_from, invite } }) {
    if (replay_from > endOf(room)) return refuses('invalid_request')
    if (self && !self.left) return comesBack(room, self, replay_from, state.crowded)
    const invitation = room.invitations.find(({ code }) => code === invite)
    if (invite && (!invitation || invitation.revoked || invitation.joined === invitation.joins)) return refuses('unauthorized')
    const name = freeName(room, team_name)
    const end = endOf(room) + (room.closed ? 0 : 1)
    return {
      answers: { team_name: name, is_convener: false, cursor: replay_from ?? end, session_closed: room.closed },
      also: ({ handle, participants }) => participants.at(-1).team_id === handle && participants.length === room.teams.length + 1,
      after({ handle, team_id: token, cursor }) {
        if (!room.closed) tell(room, 'team_joined', handle, { team: name, team_id: handle })
        room.teams.push(newTeam({ handle, token, name }, cursor))
        if (invitation) invitation.joined++
      },
    }
  },
}

const comesBack = (room: Room, self: Team, replayFrom: number | undefined, crowded: boolean) => ({
  answers: { team_id: self.token, handle: self.handle, team_name: self.name, is_convener: self.handle === room.convener },
  also: ({ cursor }: { cursor: number }) => cursor === (replayFrom ?? self.seen) || (crowded && cursor <= self.seen),
})

const leaveSession: Command = {
  op: 'leave_session',
  weight: 1,
  judge: ({ room, self }) => ({
    answers: {},
    after() {
      const { handle, name } = self!
      const isToldOf = room.teams[0] === self || room.log.some((event) => isConversation(event) && isAbout(event.wire, handle))
      if (!room.closed && isToldOf) tell(room, 'team_left', handle, { team: name, team_id: handle })
      self!.left = true
      releaseHeld(room, self!)
    },
  }),
}

const isAbout = ({ posted_by_team_id, team_id }: Record<string, unknown>, handle: string) =>
  posted_by_team_id === handle || team_id === handle

// What a team held is open again.
const releaseHeld = (room: Room, team: Team) => {
  for (const item of room.items.filter(({ status, holder }) => status === 'claimed' && holder === team.handle)) {
    Object.assign(item, { status: 'open', holder: null })
    if (room.closed) item.untold = team
    else tellLeft(room, item, team)
  }
}

/** What ended while the session was concluded is told when it goes on. */
export const tellUntold = (room: Room) => {
  for (const item of room.items) {
    if (item.untold && item.status === 'open') tellLeft(room, item, item.untold)
    delete item.untold
  }
}

const tellLeft = (room: Room, { id, title }: Item, { handle, name }: Pick<Team, 'handle' | 'name'>) =>
  tell(room, 'work_released', handle, { item_id: id, title, team: name, team_id: handle, by: name, reason: 'left', note: null })

/** The answer of list_participants, to this team or to a person. */
export const roster = (room: Room, self?: Team) => ({
  participants: room.teams.map((team) => ({
    team_id: team.handle,
    team_name: team.name,
    is_self: team === self,
    is_convener: team.handle === room.convener,
    holds: room.items.filter(({ holder, status }) => status === 'claimed' && holder === team.handle).map(({ id: item_id, title }) => ({ item_id, title })), // prettier-ignore
  })),
  expected_teams: room.expected,
  waiting_for: Math.max(0, room.expected - presentTeams(room).length),
})

export const leftAgrees = (room: Room, { participants }: any): boolean =>
  room.teams.every(({ left }, i) => (participants[i].left_at !== null) === left && (!left || participants[i].status === 'disconnected'))

const listParticipants: Command = {
  op: 'list_participants',
  judge: ({ room, self }) => ({ answers: roster(room, self), also: (body) => leftAgrees(room, body) }),
}

const transferConvener: Command = {
  op: 'transfer_convener',
  draws: { to: upTo(4), byName: fc.boolean() },
  input: ({ teams }, { to, byName }) => ({
    to: to === 4 ? 'Nobody' : byName ? pick(teams, to).name.toUpperCase() : pick(teams, to).handle,
  }),
  judge({ room, self, speaker, input: { to } }: Known) {
    if (room.closed) return refuses('session_closed')
    const convener = room.teams.find(({ handle }) => handle === room.convener)!
    const present = presentTeams(room)
    const next = present.find(({ handle }) => handle === to) ?? present.find(({ name }) => sameName(name, to))
    if (next && next === convener) return refuses('conflict')
    if (self && self !== convener && !convener.left) return refuses('forbidden')
    if (!next) return refuses('not_found')
    return {
      answers: { convener: { team_id: next.handle, team_name: next.name } },
      after() {
        room.convener = next.handle
        tell(room, 'convener_changed', speaker.whose, { team: next.name, team_id: next.handle, by: speaker.name })
      },
    }
  },
}

export const teams = [joinSession, leaveSession, listParticipants, transferConvener]
