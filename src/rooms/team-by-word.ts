// The team that a handle or a name means, wherever a caller names one.
import { nameKey } from '../core/text/text.ts'
import type { Participant } from '../stores/members.ts'

/** What finds the team of a word among these: the one with that handle, else the one of that name. Of several by one name it is the one that
 *  is present, else the last to have joined. */
export const teamByWord = (teams: readonly Participant[]): ((word: string) => Participant | undefined) => {
  const byWord = new Map<string, Participant>()
  const left = (team: Participant) => Number(team.leftAt !== null)
  // Of several teams by one word the last one set counts.
  for (const team of teams.toSorted((a, b) => left(b) - left(a))) byWord.set(nameKey(team.teamName), team)
  for (const team of teams) byWord.set(team.teamId, team)
  return (word) => byWord.get(nameKey(word))
}
