// Whose work an item is meant to be: a team of the session, by handle or name.
import { refuse } from '../core/errors.ts'
import type { Context } from '../operations/context.ts'
import { teamByWord } from '../rooms/team-by-word.ts'
import { roster } from '../stores/members.ts'
import { personOf, type Person } from '../stores/records/persons.ts'

export interface Owner {
  person: Person
  handle: string
}

/** What finds owners among the teams of the session. 400 for a word that means none. */
export const ownersOf = async ({ queries }: Context, sessionId: string): Promise<(word: string, field: string) => Owner> => {
  const teamOf = teamByWord(await roster(queries, sessionId))
  return (word, field) => {
    const found = teamOf(word)
    if (!found)
      return refuse(
        'invalid_request',
        `Owner not found. ${field}: no team of this session is called so; list_participants has handles and names.`,
        { field },
      )
    return { person: personOf('team', found.teamName, found.verified), handle: found.teamId }
  }
}
