// Whom a message is addressed to: teams by handle or name, and who of them is no longer there to read it.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { nameKey } from '../core/text.ts'
import type { Context } from '../operations/context.ts'
import { roster, type Participant } from '../stores/members.ts'

const addressee = z.string().min(1).max(120)
export const addressees = z
  .union([z.array(addressee).min(1).max(32), addressee.transform((one) => [one])], { error: 'must be a list of 1 to 32 handles or names' })
  .meta({ type: 'array', items: { type: 'string' } })

/** The handles of the teams that these words name; refuses a word that names none. */
export const addressedBy = async (queries: Context['queries'], sessionId: string, wanted: string[]): Promise<string[]> => {
  const teams = await roster(queries, sessionId)
  const handlesByWord = new Map<string, string>()
  const left = (team: Participant) => Number(team.leftAt !== null)
  // Of several by one name the last that is set: the one who is present, else the last to come.
  for (const { teamName, teamId } of teams.toSorted((a, b) => left(b) - left(a))) handlesByWord.set(nameKey(teamName), teamId)
  for (const { teamId } of teams) handlesByWord.set(teamId, teamId)
  const handles = wanted.map(
    (word) =>
      handlesByWord.get(nameKey(word)) ??
      refuse('invalid_request', `to: no team called ${JSON.stringify(word)} has joined. list_participants has the names.`, { field: 'to' }),
  )
  return [...new Set(handles)]
}

/** The names of those teams that had left before a message of that time. Asked once it is in the log: then the answer is the same at any
 *  later time. Of one that leaves within the same millisecond nobody knows which was first: it counts as there. */
export const goneBefore = async (queries: Context['queries'], sessionId: string, handles: string[], at: string): Promise<string[]> =>
  (await roster(queries, sessionId))
    .filter(({ teamId, leftAt }) => handles.includes(teamId) && leftAt !== null && leftAt < at)
    .map(({ teamName }) => teamName)
