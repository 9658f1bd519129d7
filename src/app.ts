// The whole server as one function from a Request to a Response, without Bun: it takes web standards, Node's crypto, zlib, util, path
// and Buffer, the process's memory use for a metric, JSON and markdown imported as modules, and node:fs in import/source.ts alone.
import { Hono } from 'hono'
import { etag } from 'hono/etag'
import { HTTPException } from 'hono/http-exception'
import { getPathNoStrict } from 'hono/utils/url'
import type { ServedOp } from './operations/context.ts'
import { Refusal, refuse, type ErrorBody } from './core/errors.ts'
import { commandRoutes } from './doors/rest/local-commands.ts'
import { errorAnswer, isApi, type Env, type Http, type Runtime } from './doors/http/http.ts'
import { guardsOf } from './doors/http/guards.ts'
import { handoffRoute } from './doors/rest/handoff.ts'
import { mcpEndpoint, type Endpoint } from './doors/mcp/routes.ts'
import { configRoutes, metaRoutes } from './doors/rest/meta.ts'
import { errorFor, linkInBrowser, pageRoutes } from './pages/routes.tsx'
import { guarded, type Site } from './pages/respond.tsx'
import { readAssets, type ReadAsset } from './pages/assets.ts'
import { RateLimit } from './doors/http/rate-limit.ts'
import { methodNotAllowed, restRoutes } from './doors/rest/routes.ts'
import { streamRoute } from './doors/rest/stream.ts'
import { traceRoutes } from './doors/rest/traces.ts'
import { redacted } from './core/text.ts'
import { errorBody } from './operations/perform.ts'
import type { Services } from './process/services.ts'
import { toolsets as all, type Toolset } from './toolsets.ts'

export interface Parts {
  toolsets?: readonly Toolset[]
  /** Opens the commands of doors/rest/local-commands.ts to those who know it. */
  commandSecret?: string
  /** Reads what lies in public/. */
  asset?: ReadAsset
}

/** All doors over these services: `fetch` answers a request, with what the runtime tells of it. */
export const createApp = async (services: Services, { toolsets = all, commandSecret, asset }: Parts = {}) => {
  const site = { services, assets: await readAssets(asset) }
  const limit = services.config.RATE_LIMIT > 0 ? new RateLimit(services) : undefined
  const guard = guardsOf(services, limit)
  const operations = toolsets.flatMap((toolset) => toolset.operations)
  const agents = part(site)
  apiRoutes(agents, operations, services, commandSecret)
  mcpRoutes(agents, toolsets, services, limit)

  const people = part(site)
  people.use(async (c, next) => {
    try {
      guard(c)
      await next()
    } catch (error) {
      c.res = await failed(error, c, site)
    }
    guarded(c, services)
  })
  people.route('/', pageRoutes(site))
  people.route('/', metaRoutes(services))

  // Two parts, each with a router of its own. Some pages have a name where others have a parameter, which Hono's fast router cannot
  // tell apart; its slow one took a tenth of a read's time (bench/mcp).
  return {
    fetch(request: Request, runtime?: Runtime): Response | Promise<Response> {
      const path = getPathNoStrict(request)
      if (!isApi(path)) return people.fetch(request, runtime)
      // Not as a middleware: a route that has none is called without Hono's chain, which took a tenth of a read's time (bench/mcp).
      try {
        guard({ req: { path, method: request.method, header: (name) => request.headers.get(name) ?? undefined }, env: runtime })
      } catch (error) {
        return errorAnswer(errorOf(error, services))
      }
      return agents.fetch(request, runtime)
    },
  }
}

// Routes to be, whose failures and unknown paths are answered like all others.
const part = (site: Site) => {
  const app = new Hono<Env>({ strict: false }) // with a slash at the end or without
  app.onError((error, c) => failed(error, c, site))
  app.notFound((c) => {
    const message = `There is nothing at ${redacted(c.req.path)}. /AGENTS.md and /api/openapi.json list what there is.`
    return errorFor(c, site, { code: 'not_found', message, details: {} })
  })
  return app
}

const failed = (error: unknown, c: Http, site: Site) => errorFor(c, site, errorOf(error, site.services))

const errorOf = (error: unknown, services: Services): ErrorBody => {
  if (error instanceof Refusal) return error.body
  if (error instanceof HTTPException) return { code: 'invalid_request', message: error.message, details: {} }
  if (error instanceof DOMException && error.name === 'AbortError')
    return { code: 'invalid_request', message: 'The connection ended before the body did.', details: {} } // no fault of ours to log
  return errorBody(REQUEST, services, error)
}
const REQUEST = { name: 'request', effect: 'read', refuses: [] } as const

const apiRoutes = (app: Hono<Env>, operations: readonly ServedOp[], services: Services, commandSecret: string | undefined) => {
  app.route('/', configRoutes(operations, services))
  if (commandSecret) app.route('/api', commandRoutes(services, commandSecret))
  app.route('/api', streamRoute(services))
  app.route('/api', handoffRoute(services))
  for (const { conditional, route } of operations) if (conditional) app.use(`/api${route[1]}`, etag())
  app.route('/api', traceRoutes(services))
  app.route('/api', restRoutes(operations, services))
  app.all('/api/traces', () => methodNotAllowed(['POST']))
  for (const path of ['stream', 'handoff.md']) app.all(`/api/sessions/:session_id/${path}`, () => methodNotAllowed(['GET']))
}

const mcpRoutes = (app: Hono<Env>, toolsets: readonly Toolset[], services: Services, limit: RateLimit | undefined) => {
  const endpoint = endpoints(toolsets, services, limit)
  const first = toolsets[0]!.name
  app.on('GET', ['/mcp', '/api/mcp', '/mcp/:toolset'], linkInBrowser)
  for (const path of ['/mcp', '/api/mcp'])
    app.all(path, async (c) => (await endpoint(c.req.queries('toolsets')?.join(',') ?? first)).answer(c))
  app.all('/mcp/:toolset', async (c) => (await endpoint(c.req.param('toolset'))).answer(c))
}

// Made when first asked for, and kept: there are few combinations.
const endpoints = (toolsets: readonly Toolset[], services: Services, limit: RateLimit | undefined) => {
  const made = new Map<string, Promise<Endpoint>>()
  return (names: string): Promise<Endpoint> => {
    const wanted = [...new Set(names.split(',').map((name) => name.trim()))]
    const chosen = wanted.map(
      (name) =>
        toolsets.find((toolset) => toolset.name === name) ??
        refuse(
          'not_found',
          `There is no toolset ${JSON.stringify(redacted(name))}. There are: ${toolsets.map((toolset) => toolset.name).join(', ')}.`,
        ),
    )
    const key = wanted.join(',')
    const endpoint = made.get(key) ?? mcpEndpoint(chosen, services, limit)
    made.set(key, endpoint)
    return endpoint
  }
}
