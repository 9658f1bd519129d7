// The question that a person is about to answer: the page names it above the field for the message.
import type { Queries } from '../../../db/database.ts'
import type { AnsweredQuestion } from '../../../components/session/composer.tsx'
import { isUuid } from '../../core/ids.ts'
import { questionNamed } from '../../stores/events.ts'

/** A message by its id, or by its sequence, as the question of an answer; undefined where there is none, or it asks nothing. */
export const answeredQuestion = async (
  queries: Queries,
  sessionId: string,
  { id, sequence }: { id?: string; sequence?: number | undefined },
): Promise<AnsweredQuestion | undefined> => {
  const name = sequence ?? id
  if (name === undefined || (typeof name === 'string' && !isUuid(name))) return undefined
  const question = await questionNamed(queries, sessionId, name)
  return question && { id: question.id, sequence: question.sequence, name: String(question.team ?? 'Somebody') }
}
