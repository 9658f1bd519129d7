// Whom a message is addressed to: teams by handle or name, people by name, and which of the teams are no longer there to read it.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { nameKey } from '../../core/text.ts'
import type { Context } from '../../operations/context.ts'
import { roster, type Participant } from '../../stores/members.ts'
import { peopleHere } from '../../stores/questions.ts'

const addressee = z.string().min(1).max(120)
export const addressees = z
  .union([z.array(addressee).min(1).max(32), addressee.transform((one) => [one])], { error: 'must be a list of 1 to 32 handles or names' })
  .meta({ type: 'array', items: { type: 'string' } })

export interface Addressees {
  /** The handles of teams. */
  teams: string[]
  /** The names of people. */
  people: string[]
}

/** Whom these handles and names mean: a team, else a person who has written in the session. Refuses a word that means nobody. */
export const addresseesNamed = async (queries: Context['queries'], sessionId: string, words: string[]): Promise<Addressees> => {
  const handleOf = await handlesByWord(queries, sessionId)
  const others = words.filter((word) => handleOf(word) === undefined)
  const people = others.length > 0 ? await peopleHere(queries, sessionId) : []
  const names = new Map(people.map((name) => [nameKey(name), name]))
  const unique = (found: (string | undefined)[]) => [...new Set(found.filter((one) => one !== undefined))]
  return { teams: unique(words.map(handleOf)), people: unique(others.map((word) => names.get(nameKey(word)) ?? refuseUnknown(word))) }
}

const refuseUnknown = (word: string) =>
  refuse(
    'invalid_request',
    `to: no team called ${JSON.stringify(word)} has joined, and no person of that name has written here. list_participants has the teams' names.`,
    { field: 'to' },
  )

const handlesByWord = async (queries: Context['queries'], sessionId: string) => {
  const teams = await roster(queries, sessionId)
  const handles = new Map<string, string>()
  const left = (team: Participant) => Number(team.leftAt !== null)
  // Of several teams by one name the last one set counts: the one that is present, else the last to have joined.
  for (const { teamName, teamId } of teams.toSorted((a, b) => left(b) - left(a))) handles.set(nameKey(teamName), teamId)
  for (const { teamId } of teams) handles.set(teamId, teamId)
  return (word: string) => handles.get(nameKey(word))
}

/** The names of the teams among these that had left before `at`, the time of a message. Asked when the message is in the log, so that the
 *  answer is the same at any later time. A team that leaves in the same millisecond counts as present. */
export const namesLeftBefore = async (queries: Context['queries'], sessionId: string, handles: string[], at: string): Promise<string[]> =>
  (await roster(queries, sessionId))
    .filter(({ teamId, leftAt }) => handles.includes(teamId) && leftAt !== null && leftAt < at)
    .map(({ teamName }) => teamName)
