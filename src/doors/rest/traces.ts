// POST /api/traces: a transcript as the body, imported while it comes in. However long it is, it is never held as a whole.
import { Hono } from 'hono'
import { refuse, unauthorized } from '../../core/errors.ts'
import { idWithin, isUuid } from '../../core/ids.ts'
import { bodySource, hashing, refuseTooLong } from '../../import/source.ts'
import { importTranscript } from '../../import/transcript.ts'
import type { Services } from '../../process/services.ts'
import { isAway, isUndone } from '../../../db/errors.ts'
import { sessionById } from '../../stores/sessions.ts'
import { actorOf } from '../http/cookies.ts'
import { memberBy } from '../http/guards.ts'
import { json, type Env, type Http } from '../http/http.ts'
import { refuseUnknown } from '../http/query.ts'
import { refuseForm } from './routes.ts'
import { answeredBefore, keepAnswer, traceKeyOf } from './import-idempotency.ts'

export const traceRoutes = (services: Services) =>
  new Hono<Env>().post('/traces', async (c) => {
    if (c.req.query('team_id') !== undefined)
      refuse('invalid_request', 'A team_id in the URL would end up in logs. Send it in the X-Team-ID header.', { field: 'team_id' })
    refuseUnknown(c, ARGUMENTS)
    const limit = services.config.MAX_TRACE_BYTES
    if (Number(c.req.header('content-length') ?? 0) > limit) refuseTooLong(limit)
    const tied = await tiedTo(c, services)
    refuseForm(c)
    c.env?.patient?.() // the answer comes when all is written
    return imported(c, services, limit, tied).catch((error) => brokenOff(c, error))
  })

const ARGUMENTS = ['name', 'session_id']

interface Tied {
  room?: string
  /** The team that says so is gone: it gets the answer that it had, and adds nothing. */
  left?: boolean
}

const imported = async (c: Http, services: Services, limit: number, { room: parent, left }: Tied): Promise<Response> => {
  const name = c.req.query('name') ?? ''
  const key = traceKeyOf(c, services, parent)
  if (!key && left) unauthorized()
  if (!key) return json(await importTranscript(services, bodySource(c.req.raw.body, name, limit), parent))
  const body = hashing(c.req.raw.body, limit, JSON.stringify([name, parent ?? null]))
  try {
    const before = await answeredBefore(services, key, body)
    if (before) return json(before, 200, { 'idempotency-replayed': 'true' })
    if (left) unauthorized()
    const report = await importTranscript(services, bodySource(body.chunks, name, limit), parent)
    return json(await keepAnswer(services, key, await body.digest(), report))
  } catch (error) {
    await body.cancel()
    throw error
  }
}

/** The room that the transcript belongs to, for those who may say so: one of its teams, or a person. */
const tiedTo = async (c: Http, services: Services): Promise<Tied> => {
  const given = c.req.query('session_id')
  if (given === undefined) return {}
  const room = idWithin(given)
  if (actorOf(c, services) !== undefined) {
    const found = isUuid(room) && (await sessionById(services.database, room))
    return found ? { room } : refuse('not_found', 'There is no session with that session_id.', { field: 'session_id' })
  }
  const member = await memberBy(services, room, c.req.header('x-team-id'))
  return member ? { room, left: member.left } : unauthorized()
}

const brokenOff = (c: Http, error: unknown): never => {
  if (c.req.raw.signal.aborted)
    refuse('invalid_request', 'The upload was cut off. What arrived is imported; send the file again to add the rest.')
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
