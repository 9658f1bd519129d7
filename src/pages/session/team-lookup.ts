import type { Team } from '../../../components/parts/team.tsx'
import { teamKeys } from '../../rooms/feed/questions.ts'
import type { Participant, RosterRow } from '../../stores/members.ts'

export type TeamLookup = ReturnType<typeof teamLookup>

/** Finds the teams of one session as pages show them, by handle and by name. */
export const teamLookup = (teams: (Participant & Partial<Pick<RosterRow, 'agent'>>)[]) => {
  const byId = new Map(teams.map((team) => [team.teamId, team]))
  const byName = new Map(teams.map((team) => [team.teamName, team]))
  return {
    team: (id: unknown): Team | undefined => teamOf(byId.get(id as string)),
    /** System events and documents name their author; a name that no team has is a person's. */
    named: (name: string): Team => teamOf(byName.get(name)) ?? { name, hue: undefined },
    /** The session's agent. */
    agent: teamOf(teams.find(({ agent }) => agent)),
    key: teamKeys(teams),
  }
}

const teamOf = (row: Participant | undefined): Team | undefined => row && { name: row.teamName, hue: row.hue }
