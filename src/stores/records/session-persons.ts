// Who may be named in a session's records: its teams, the people who wrote there, and whoever an id was given out for.
import type { Queries } from '../../../db/database.ts'
import { nameKey } from '../../core/text/text.ts'
import { roster } from '../members.ts'
import { boundName } from '../people.ts'
import { peopleHere } from '../questions.ts'
import { personOf, spellingsOf, type Person, type PersonKind } from './persons.ts'

/** The team of this name in the session, else the person who wrote there; undefined for a name that nobody bears. */
export const personCalled = async (queries: Queries, sessionId: string, name: string): Promise<Person | undefined> => {
  const key = nameKey(name)
  const named = (names: string[]) => names.find((one) => nameKey(one) === key)
  const team = named((await roster(queries, sessionId)).map(({ teamName }) => teamName))
  if (team !== undefined) return personOf('team', team, false)
  const person = named(await peopleHere(queries, sessionId))
  return person === undefined ? undefined : known(queries, 'person', person)
}

/** Whoever this id was given out for, or bears its name in the session; undefined for an id that is nobody's. */
export const personWithId = async (queries: Queries, sessionId: string, personId: string): Promise<Person | undefined> => {
  const [given] = await spellingsOf(queries, personId)
  if (given) return known(queries, given.kind, given.name)
  const teams = (await roster(queries, sessionId)).map(({ teamName }) => personOf('team', teamName, false))
  const people = (await peopleHere(queries, sessionId)).map((name) => personOf('person', name, false))
  const found = [...teams, ...people].find(({ person_id }) => person_id === personId)
  return found && known(queries, found.kind, found.name)
}

// A name that is bound to a link is only its person's.
const known = async (queries: Queries, kind: PersonKind, name: string): Promise<Person> =>
  personOf(kind, name, kind === 'key' || (kind === 'person' && (await boundName(queries, name)) !== undefined))

/** Whether a proposal or an item of the session names this person. */
export const isNamedIn = async ({ query }: Queries, sessionId: string, personId: string): Promise<boolean> => {
  const [row] = await query<{ named: boolean }>(
    `select exists (select from proposals where session_id = $1 and $2::text in (proposed_by->>'person_id', resolved_by->>'person_id',
         data->'owner'->>'person_id', data->'decided_by'->>'person_id'))
       or exists (select from items where session_id = $1 and $2::text in (owner->>'person_id', planned_by->>'person_id')) as named`,
    [sessionId, personId],
  )
  return row!.named
}
