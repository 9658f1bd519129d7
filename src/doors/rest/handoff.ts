// GET /api/sessions/:session_id/handoff.md: one page of markdown with all that an agent of any vendor needs to continue.
import { refuse } from '../../core/errors.ts'
import { idWithin } from '../../core/ids.ts'
import { handoffOf } from '../../rooms/handoff.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { howToRead, mayReadSession } from '../http/guards.ts'
import { GUARDED, readOnly, type Http } from '../http/http.ts'
import { serverLink } from '../http/origin.ts'
import { refuseUnknown } from '../http/query.ts'

export const handoffRoute = (services: Services) => readOnly({ '/sessions/:session_id/handoff.md': handoff(services) })

const handoff = (services: Services) => async (c: Http) => {
  refuseUnknown(c, [])
  const id = idWithin(c.req.param('session_id')!)
  if (!(await mayReadSession(c, services, id))) refuse('unauthorized', `${howToRead(services, true)}, to read this session.`)
  const session = await existingSession(services.database, id)
  return c.body(await handoffOf(services, session, serverLink(c, services)), 200, {
    'content-type': 'text/markdown; charset=utf-8',
    'cache-control': 'no-store',
    ...GUARDED,
  })
}
