// The whole server as one function from a Request to a Response, without Bun: it takes web standards, Node's crypto, zlib, util, path
// and Buffer, the process's memory use for a metric, JSON and markdown imported as modules, and node:fs in import/source.ts alone.
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Database } from '../db/database.ts'
import type { Config } from './config.ts'
import { Refusal, type ErrorBody } from './core/errors.ts'
import { eventKindsOf } from './core/events/event-kinds.ts'
import type { Log } from './core/runtime/log.ts'
import { guards } from './doors/http/guards.ts'
import { isApi, type Env, type Http } from './doors/http/http.ts'
import { RateLimit } from './doors/http/rate-limit.ts'
import { mcpRoutes } from './doors/mcp/routes.ts'
import { handoffRoute } from './doors/rest/handoff.ts'
import { commandRoutes } from './doors/rest/local-commands.ts'
import { guideRoutes } from './doors/rest/guides.ts'
import { clientRoute, programPath, readClientProgram, type ClientProgram } from './doors/rest/client-package.ts'
import { configRoutes, metaRoutes } from './doors/rest/meta.ts'
import { restRoutes } from './doors/rest/routes.ts'
import { streamRoute } from './doors/rest/stream.ts'
import { traceRoutes } from './doors/rest/traces.ts'
import { errorBody } from './operations/perform.ts'
import { readAssets, type ReadAsset } from './pages/assets.ts'
import { addSecurityHeaders, wantsPage } from './pages/respond.tsx'
import { createWaiting } from './pages/approvals/waiting.ts'
import { errorFor, linkInBrowser, pageRoutes } from './pages/routes.tsx'
import { firstOperatorKey } from './process/operator-key.ts'
import { createServices, type Options, type Services } from './process/services.ts'
import { jobsOf, type Toolset } from './operations/toolset.ts'
import { ownTools, toolsets as all } from './toolsets.ts'

export interface AppOptions {
  toolsets?: readonly Toolset[]
  /** Opens the commands of doors/rest/local-commands.ts to callers that know it. */
  commandSecret?: string
  /** Reads a file of public/. */
  asset?: ReadAsset
  /** What GET /parley-VERSION.tgz serves. */
  program?: ClientProgram | undefined
  /** After how long, and then again and again, a held call over MCP is told that it still waits: tests need not wait for seconds. */
  progressMs?: number
}

export type App = Awaited<ReturnType<typeof createApp>>

interface Parts extends Pick<Options, 'pushSender' | 'ownUrl'> {
  asset: ReadAsset
  commandSecret: string | undefined
}

/** All that a server serves, over a database that is migrated. `firstKey` makes the sign-in key of a first start, which is shown once;
 *  `programPath` is where the program `parley` is served, if it was built. */
export const openApp = async (database: Database, config: Config, log: Log, { asset, commandSecret, ...parts }: Parts) => {
  const services = await createServices(database, config, log, { jobs: jobsOf(all), ownTools, ...parts })
  const program = await readClientProgram(asset)
  const app = await createApp(services, { asset, program, ...(commandSecret && { commandSecret }) })
  return { app, services, firstKey: () => firstOperatorKey(services), programPath: program && programPath(program) }
}

/** All doors over these services. `fetch` answers a request; its second argument is what the runtime tells of it (Runtime). */
export const createApp = async (services: Services, { toolsets = all, commandSecret, asset, program, progressMs }: AppOptions = {}) => {
  const site = { services, assets: await readAssets(asset), eventKinds: eventKindsOf(toolsets), waiting: createWaiting(services), program }
  const limit = services.config.RATE_LIMIT > 0 ? new RateLimit(services) : undefined
  const operations = toolsets.flatMap((toolset) => toolset.operations)

  const app = new Hono<Env>({ strict: false }) // with a slash at the end or without
  const failed = (error: unknown, c: Http) => errorFor(c, site, errorOf(error, services))
  app.onError(failed)
  app.notFound((c) => {
    const message = `There is nothing at this address.${wantsPage(c) ? '' : ' /AGENTS.md and /api/openapi.json list what there is.'}`
    return errorFor(c, site, { code: 'not_found', message, details: {} })
  })

  const admit = guards(services, toolsets, limit)
  // Promises and one middleware: each that awaits `next` keeps half a KiB for each call that is held (bench/connections).
  app.use((c, next) => {
    const answered = admit(c).then(next, async (refusal) => void (c.res = await failed(refusal, c)))
    return isApi(c.req.path) ? answered : answered.then(() => addSecurityHeaders(c, services))
  })

  app.route('/', configRoutes(toolsets, services, program))
  app.route('/', clientRoute(services, program))
  if (commandSecret) app.route('/api', commandRoutes(services, commandSecret, program))
  app.route('/api', streamRoute(services))
  app.route('/api', handoffRoute(services))
  app.route('/api', traceRoutes(services))
  app.route('/api', restRoutes(operations, services))
  app.on('GET', ['/mcp', '/api/mcp', '/mcp/:toolset', '/api/mcp/:toolset'], linkInBrowser)
  app.route('/', mcpRoutes(toolsets, services, { limit, progressMs }))
  app.route('/', pageRoutes(site))
  app.route('/', guideRoutes(toolsets, services))
  app.route('/', metaRoutes(services))
  return app
}

const errorOf = (error: unknown, services: Services): ErrorBody => {
  if (error instanceof Refusal) return error.body
  if (error instanceof HTTPException) return { code: 'invalid_request', message: error.message, details: {} }
  if (error instanceof DOMException && error.name === 'AbortError')
    return { code: 'invalid_request', message: 'The connection ended before the body did.', details: {} } // the caller's doing: not logged
  return errorBody(REQUEST, services, error)
}
const REQUEST = { id: 'request', effect: 'read', refuses: [] } as const
