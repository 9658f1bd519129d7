// GET /api/sessions/:session_id/handoff.md: what an agent of any vendor needs to go on, in one answer.
import { Hono } from 'hono'
import { refuse } from '../core/errors.ts'
import { handoffOf, type Reach } from '../rooms/handoff.ts'
import { existingSession } from '../rooms/refusals.ts'
import type { Services } from '../services.ts'
import { mayReadSession } from './guards.ts'
import { GUARDED, type Env, type Http } from './http.ts'
import { baseUrl, linkInForce } from './origin.ts'

export const handoffRoute = (services: Services) =>
  new Hono<Env>().get('/sessions/:session_id/handoff.md', async (c) => {
    const id = c.req.param('session_id')
    if (!(await mayReadSession(c, services, id))) refuse('unauthorized', 'Sign in, or send your X-Team-ID, to read this session.')
    const session = await existingSession(services.database, id)
    return c.body(await handoffOf(services, session, reachOf(c, services)), 200, {
      'content-type': 'text/markdown; charset=utf-8',
      'cache-control': 'no-store',
      ...GUARDED,
    })
  })

export const reachOf = (c: Http, services: Services): Reach => ({
  base: baseUrl(c, services),
  mcpUrl: linkInForce(c, services).url,
  token: services.config.ACCESS_TOKEN !== undefined,
})
