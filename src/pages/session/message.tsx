import { Composer, ComposerPage, type ComposerProps } from '../../../components/session/composer.tsx'
import type { Problem } from '../../../components/forms/form-field.tsx'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { postMessage } from '../../rooms/feed/post-message.ts'
import { personOf } from '../../doors/http/cookies.ts'
import { mayReadSession } from '../../doors/http/guards.ts'
import type { Http } from '../../doors/http/http.ts'
import { performAsPerson, nextIdempotencyKey, problemOf } from '../forms/perform-as-person.ts'
import { fragment, frameOf, page, seeOther, type Site } from '../respond.tsx'
import { formOf, LARGE_FORM, valuesOf } from '../forms/fields.ts'
import { answeredQuestion } from './answered-question.ts'

/** POST /sessions/:id/messages: a person's message to all teams, with `reply_to` the answer to a question. htmx gets a new, empty form, or
 *  the same form with the problem. */
export const sendMessage = async (c: Http, site: Site): Promise<Response> => {
  const sessionId = c.req.param('id')!
  const { text = '', key: idempotencyKey, reply_to } = valuesOf(await formOf(c, LARGE_FORM))
  const outcome = await performAsPerson(c, site, postMessage, idempotencyKey, {
    session_id: sessionId,
    content: { text },
    ...(reply_to && { reply_to }),
  })
  const error = outcome.ok ? undefined : outcome.error
  const composer: ComposerProps = {
    sessionId,
    // Somebody who was signed out meanwhile keeps the form, and the text in it.
    person: { name: personOf(c, site.services)?.name ?? 'yourself', role: 'person' },
    idempotencyKey: nextIdempotencyKey(idempotencyKey, error),
    answers: error && reply_to ? await questionFor(c, site, sessionId, reply_to) : undefined,
    text: error && text,
    problem: error && messageProblem(error),
    again: true,
  }
  if (c.req.header('hx-request')) return fragment(c, <Composer {...composer} />, error && STATUS[error.code])
  if (outcome.ok) return seeOther(c, `/sessions/${sessionId}#m${String(outcome.data.cursor)}`)
  const frame = { ...frameOf(c, site), path: `/sessions/${sessionId}` }
  return page(c, <ComposerPage {...{ frame, composer }} />, STATUS[outcome.error.code])
}

// Whoever may not read the session learns nothing of the question.
const questionFor = async (c: Http, { services }: Site, sessionId: string, id: string) =>
  isUuid(sessionId) && (await mayReadSession(c, services, sessionId)) ? answeredQuestion(services.database, sessionId, { id }) : undefined

// The form has one field: the problem need not name it.
const messageProblem = (error: ErrorBody): Problem => {
  const problem = problemOf(error)
  return { ...problem, text: problem.text.replace(/^Must have at most/, 'The message is too long: at most') }
}
