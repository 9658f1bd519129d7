// POST /api/traces: imports the transcript in the body while it arrives, and never holds it as a whole.
import { Hono } from 'hono'
import { refuse, unauthorized } from '../../core/errors.ts'
import { idWithin, isUuid } from '../../core/ids.ts'
import { bodySource, hashedBody, refuseTooLong } from '../../import/source.ts'
import { importTranscript } from '../../import/transcript.ts'
import type { RefuseEnded } from '../../import/writer.ts'
import type { Services } from '../../process/services.ts'
import type { Queries } from '../../../db/database.ts'
import { isAway, isUndone } from '../../../db/errors.ts'
import { isGoodKey } from '../../stores/keys.ts'
import { sessionById } from '../../stores/sessions.ts'
import { isSignedIn } from '../../stores/sign-ins.ts'
import { actorOf, personOf } from '../http/cookies.ts'
import { memberBy } from '../../operations/callers.ts'
import { NO_SUCH_SESSION } from '../../operations/subject.ts'
import { json, methodNotAllowed, type Env, type Http } from '../http/http.ts'
import { refuseUnknown } from '../http/query.ts'
import { refuseForm } from './routes.ts'
import { answeredBefore, keepAnswer, importKeyOf } from './import-idempotency.ts'

/** Answers when all is written. A transcript that is sent again adds what is new in it alone. */
export const traceRoutes = (services: Services) =>
  new Hono<Env>().post(PATH, importTrace(services)).all(PATH, () => methodNotAllowed(['POST']))

const PATH = '/traces'

const importTrace = (services: Services) => async (c: Http) => {
  await refuseUninvited(c, services)
  refuseUnknown(c, ARGUMENTS)
  const limit = services.config.MAX_TRACE_BYTES
  if (Number(c.req.header('content-length') ?? 0) > limit) refuseTooLong(limit)
  const owner = await ownerOf(c, services)
  refuseForm(c)
  c.env?.patient?.() // the answer is sent when all is written
  return imported(c, services, limit, owner).catch((error) => refuseInterrupted(c, services, error))
}

// Without the access token a team that came by an invitation may import into its own session.
const refuseUninvited = async (c: Http, services: Services) => {
  const refuseTokenless = c.get('refuseTokenless')
  if (!refuseTokenless) return
  const member = await memberBy(services, idWithin(c.req.query('session_id') ?? ''), c.req.header('x-team-id'))
  if (!member?.invited) refuseTokenless()
}

const ARGUMENTS = ['name', 'session_id']

interface Owner {
  sessionId?: string
  /** The team that sent it has left the session: a retry gets its earlier answer, a new import is refused. */
  left?: boolean
}

const imported = async (c: Http, services: Services, limit: number, { sessionId: parent, left }: Owner): Promise<Response> => {
  const name = c.req.query('name') ?? ''
  const idempotencyKey = importKeyOf(c, services, parent)
  if (!idempotencyKey && left) unauthorized()
  if (!idempotencyKey)
    return json(await importTranscript(services, bodySource(c.req.raw.body, name, limit), parent, refuseEnded(c, services)))
  const body = hashedBody(c.req.raw.body, limit, JSON.stringify([name, parent ?? null]))
  try {
    const before = await answeredBefore(services, idempotencyKey, body)
    if (before) return json(before, 200, { 'idempotency-replayed': 'true' })
    if (left) unauthorized()
    const report = await importTranscript(services, bodySource(body.chunks, name, limit), parent, refuseEnded(c, services))
    return json(await keepAnswer(services, idempotencyKey, await body.digest(), report))
  } catch (error) {
    await body.cancel()
    throw error
  }
}

/** The session that `session_id` ties the transcript to. Only a team of that session, a person or a key may name it. */
const ownerOf = async (c: Http, services: Services): Promise<Owner> => {
  const given = c.req.query('session_id')
  if (given === undefined) return {}
  const sessionId = idWithin(given)
  if (actorOf(c, services) !== undefined || c.get('key')) {
    const found = isUuid(sessionId) && (await sessionById(services.database, sessionId))
    return found ? { sessionId } : refuse('not_found', NO_SUCH_SESSION, { field: 'session_id' })
  }
  const member = await memberBy(services, sessionId, c.req.header('x-team-id'))
  return member ? { sessionId, left: member.left } : unauthorized()
}

// Asked before each batch: a large transcript comes in for hours.
const refuseEnded = (c: Http, services: Services): RefuseEnded => {
  const [signIn, key] = [personOf(c, services) && c.get('signIn'), c.get('key')]
  // A new operator key ends sign-ins without a word in their rows.
  const isIn = async (queries: Queries) => !signIn || (personOf(c, services) !== undefined && (await isSignedIn(queries, signIn.id)))
  return async (queries) => {
    if ((await isIn(queries)) && (!key || (await isGoodKey(queries, key.id)))) return
    unauthorized(
      'The key or sign-in that this import came with has ended. What was written before stays; send the file again with a new one to add the rest.',
    )
  }
}

const refuseInterrupted = (c: Http, services: Services, error: unknown): never => {
  if (c.req.raw.signal.aborted)
    refuse('invalid_request', 'The upload was cut off. What arrived is imported; send the file again to add the rest.')
  if (isAway(error) || isUndone(error)) services.failedForNow('an import', error)
  if (isAway(error))
    refuse(
      'unavailable',
      'The database is not responding. What arrived may or may not be imported; send the file again in a second to add the rest.',
      {
        retry_after: 1,
        outcome: 'unknown',
      },
    )
  if (isUndone(error))
    refuse('unavailable', 'Other calls at the same time got in the way of this one. Send the file again in a second to add the rest.', {
      retry_after: 1,
    })
  throw error
}
