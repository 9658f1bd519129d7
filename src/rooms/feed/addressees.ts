// The teams that a message is addressed to, by handle or name, and which of them are no longer there to read it.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { nameKey } from '../../core/text.ts'
import type { Context } from '../../operations/context.ts'
import { roster, type Participant } from '../../stores/members.ts'

const addressee = z.string().min(1).max(120)
export const addressees = z
  .union([z.array(addressee).min(1).max(32), addressee.transform((one) => [one])], { error: 'must be a list of 1 to 32 handles or names' })
  .meta({ type: 'array', items: { type: 'string' } })

/** The handles of the teams with these handles or names. Refuses a word that names no team. */
export const handlesNamed = async (queries: Context['queries'], sessionId: string, words: string[]): Promise<string[]> => {
  const teams = await roster(queries, sessionId)
  const handlesByWord = new Map<string, string>()
  const left = (team: Participant) => Number(team.leftAt !== null)
  // Of several teams by one name the last one set counts: the one that is present, else the last to have joined.
  for (const { teamName, teamId } of teams.toSorted((a, b) => left(b) - left(a))) handlesByWord.set(nameKey(teamName), teamId)
  for (const { teamId } of teams) handlesByWord.set(teamId, teamId)
  const handles = words.map(
    (word) =>
      handlesByWord.get(nameKey(word)) ??
      refuse('invalid_request', `to: no team called ${JSON.stringify(word)} has joined. list_participants has the names.`, { field: 'to' }),
  )
  return [...new Set(handles)]
}

/** The names of the teams among these that had left before `at`, the time of a message. Asked when the message is in the log, so that the
 *  answer is the same at any later time. A team that leaves in the same millisecond counts as present. */
export const namesLeftBefore = async (queries: Context['queries'], sessionId: string, handles: string[], at: string): Promise<string[]> =>
  (await roster(queries, sessionId))
    .filter(({ teamId, leftAt }) => handles.includes(teamId) && leftAt !== null && leftAt < at)
    .map(({ teamName }) => teamName)
