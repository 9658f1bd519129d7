// The question that a person is about to answer: the page names it above the field for the message.
import type { Queries } from '../../../db/database.ts'
import type { AnsweredQuestion } from '../../../components/session/composer.tsx'
import { isUuid } from '../../core/ids.ts'
import { page } from '../../stores/events.ts'

/** A message by its id, or by its sequence, as the question of an answer; undefined where there is none, or it asks nothing. */
export const answeredQuestion = async (
  queries: Queries,
  sessionId: string,
  { id, sequence }: { id?: string; sequence?: number | undefined },
): Promise<AnsweredQuestion | undefined> => {
  if (sequence === undefined && (id === undefined || !isUuid(id))) return undefined
  const [where, value] = sequence === undefined ? ['id', id] : ['sequence', sequence]
  const { events } = await page(queries, `session_id = $1 and ${where} = $2 and expects_reply`, 'asc', [sessionId, value], 1)
  const [question] = events
  return question && { id: question.id, sequence: question.sequence, name: String(question.team ?? 'Somebody') }
}
