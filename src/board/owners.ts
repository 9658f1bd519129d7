// Whose work an item is meant to be: a team of the session, by handle or name.
import { refuse } from '../core/errors.ts'
import { nameKey } from '../core/text/text.ts'
import type { Context } from '../operations/context.ts'
import { roster } from '../stores/members.ts'
import { personOf, type Person } from '../stores/records/persons.ts'

export interface Owner {
  person: Person
  handle: string
}

/** What finds owners among the teams of the session: of several by one name the one that is present. 400 for a word that means none. */
export const ownersOf = async ({ queries }: Context, sessionId: string): Promise<(word: string, field: string) => Owner> => {
  const teams = (await roster(queries, sessionId)).toSorted((a, b) => Number(a.leftAt !== null) - Number(b.leftAt !== null))
  return (word, field) => {
    const wanted = nameKey(word)
    const found = teams.find(({ teamId, teamName }) => teamId === wanted || nameKey(teamName) === wanted)
    if (!found)
      return refuse(
        'invalid_request',
        `Owner not found. ${field}: no team of this session is called so; list_participants has handles and names.`,
        { field },
      )
    return { person: personOf('team', found.teamName, found.verified), handle: found.teamId }
  }
}
