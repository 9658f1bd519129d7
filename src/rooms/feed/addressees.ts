// Whom a message is addressed to: teams by handle or name, people by name, and which of the teams are no longer there to read it.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { nameKey } from '../../core/text/text.ts'
import type { Context } from '../../operations/context.ts'
import { roster } from '../../stores/members.ts'
import { peopleHere } from '../../stores/questions.ts'
import { nameOrHandle } from '../schemas.ts'
import { teamByWord } from '../team-by-word.ts'

const MOST = 32
const orNobody = (words: string[]) => (words.length > 0 ? words : undefined)

/** A list of handles and names, or one of them; an empty list addresses nobody, as none does. */
export const addressees = z
  .union([z.array(nameOrHandle).max(MOST).transform(orNobody), nameOrHandle.transform((one) => [one])], {
    error: `must be a list of at most ${MOST} handles or names`,
  })
  .meta({ type: 'array', items: { type: 'string' }, maxItems: MOST })

export interface Addressees {
  /** The handles of teams. */
  teams: string[]
  /** The names of people. */
  people: string[]
}

/** Whom these handles and names mean: the team of that handle, and the team and the person of that name, both where there are both; of teams
 *  that have left the last one, where no person has the name. Refuses a word that means nobody. */
export const addresseesNamed = async (queries: Context['queries'], sessionId: string, words: string[]): Promise<Addressees> => {
  const [teams, names] = await Promise.all([roster(queries, sessionId), words.every(isUuid) ? [] : peopleHere(queries, sessionId)])
  const [teamOf, people] = [teamByWord(teams), new Map(names.map((name) => [nameKey(name), name]))]
  const found = words.map((word) => {
    const [team, person] = [teamOf(word), people.get(nameKey(word))]
    if (!team && person === undefined) refuseUnknown(word)
    return { team: team?.leftAt != null && person !== undefined ? undefined : team?.teamId, person }
  })
  const unique = (some: (string | undefined)[]) => [...new Set(some.filter((one) => one !== undefined))]
  return { teams: unique(found.map(({ team }) => team)), people: unique(found.map(({ person }) => person)) }
}

/** The handle of the team that is here under the name of this team, which has left; undefined where it has not, or none is. */
export const returnedAs = async (queries: Context['queries'], sessionId: string, handle: string): Promise<string | undefined> => {
  const teams = await roster(queries, sessionId)
  const team = teams.find(({ teamId }) => teamId === handle)
  const here = team && team.leftAt !== null ? teamByWord(teams)(team.teamName) : undefined
  return here?.leftAt === null ? here.teamId : undefined
}

const refuseUnknown = (word: string) =>
  refuse(
    'invalid_request',
    `to: no team called ${JSON.stringify(word)} has joined, and no person of that name has opened this session or written here. list_participants has the names of teams and people.`,
    { field: 'to' },
  )

/** The names of the teams among these that had left before `at`, the time of a message. Asked when the message is in the log, so that the
 *  answer is the same at any later time. A team that leaves in the same millisecond counts as present. */
export const namesLeftBefore = async (queries: Context['queries'], sessionId: string, handles: string[], at: string): Promise<string[]> =>
  (await roster(queries, sessionId))
    .filter(({ teamId, leftAt }) => handles.includes(teamId) && leftAt !== null && leftAt < at)
    .map(({ teamName }) => teamName)
