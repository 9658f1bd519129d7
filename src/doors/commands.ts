// Our own commands on the machine where the server runs: whoever can read the lock file beside the embedded database may call these.
import { Hono } from 'hono'
import { refuse } from '../core/errors.ts'
import { sameText } from '../core/ids.ts'
import { newOperatorKey } from '../operator-key.ts'
import type { Services } from '../services.ts'
import { json, type Env } from './http.ts'

export const commandRoutes = (services: Services, secret: string) =>
  new Hono<Env>().post('/commands/operator-key', async (c) => {
    if (!sameText(c.req.header('authorization') ?? '', `Bearer ${secret}`))
      refuse('forbidden', 'This is for the commands of this server alone.')
    return json({ key: await newOperatorKey(services) })
  })
