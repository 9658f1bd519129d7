// Who may be named in a session's records: its teams, the people who wrote there, and whoever an id was given out for.
import type { Queries } from '../../../db/database.ts'
import { nameKey } from '../../core/text/text.ts'
import { roster, type Participant } from '../members.ts'
import { namedPerson } from '../people.ts'
import { peopleHere } from '../questions.ts'
import { isVerified } from './attendees.ts'
import { personIdOf, personOf, spellingsOf, type Person } from './persons.ts'

/** The team of this name in the session, else the person who wrote there; undefined for a name that nobody bears. */
export const personCalled = async (queries: Queries, sessionId: string, name: string): Promise<Person | undefined> => {
  const key = nameKey(name)
  const isCalledSo = (one: string) => nameKey(one) === key
  const team = teamAmong(await roster(queries, sessionId), isCalledSo)
  if (team) return team
  const person = (await peopleHere(queries, sessionId)).find(isCalledSo)
  return person === undefined ? undefined : known(queries, 'person', person)
}

/** Whoever this id was given out for, or bears its name in the session; undefined for an id that is nobody's. */
export const personWithId = async (queries: Queries, sessionId: string, personId: string): Promise<Person | undefined> => {
  const spellings = await spellingsOf(queries, personId)
  const [given] = spellings
  if (given && given.kind !== 'team') return known(queries, given.kind, given.name)
  const team = teamAmong(await roster(queries, sessionId), (name) => personIdOf('team', name) === personId)
  if (team) return team
  if (given) return personOf('team', given.name, await isVerified(queries, spellings))
  const person = (await peopleHere(queries, sessionId)).find((name) => personIdOf('person', name) === personId)
  return person === undefined ? undefined : known(queries, 'person', person)
}

// Of teams that bore one name after another, a later one may be another's.
const teamAmong = (teams: readonly Participant[], isCalledSo: (name: string) => boolean): Person | undefined => {
  const bearers = teams.filter(({ teamName }) => isCalledSo(teamName))
  return (
    bearers[0] &&
    personOf(
      'team',
      bearers[0].teamName,
      bearers.every(({ verified }) => verified),
    )
  )
}

// A name that is bound to a link is only its person's.
const known = async (queries: Queries, kind: 'person' | 'key', name: string): Promise<Person> =>
  personOf(kind, name, kind === 'key' || (await namedPerson(queries, name)) !== undefined)

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
