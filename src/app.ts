// The whole server as one function from a Request to a Response: web standards only, so that it runs on any runtime.
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { Refusal, refuse } from './core/errors.ts'
import { commandRoutes } from './doors/commands.ts'
import { errorAnswer, type Env } from './doors/http.ts'
import { accessToken, rateLimit, sameSite } from './doors/guards.ts'
import { mcpEndpoint, type Endpoint } from './doors/mcp.ts'
import { metaRoutes } from './doors/meta.ts'
import { methodNotAllowed, restRoutes } from './doors/rest.ts'
import { streamRoute } from './doors/stream.ts'
import { errorBody } from './gate.ts'
import type { Services } from './services.ts'
import { toolsets as all, type Toolset } from './toolsets.ts'

export interface Parts {
  toolsets?: readonly Toolset[]
  /** Opens the commands of doors/commands.ts to whoever knows it. */
  commandSecret?: string
}

export const createApp = async (services: Services, { toolsets = all, commandSecret }: Parts = {}) => {
  const operations = toolsets.flatMap((toolset) => toolset.operations)
  const app = new Hono<Env>()
  app.onError((error) => {
    if (error instanceof Refusal) return errorAnswer(error.body)
    if (error instanceof HTTPException) return errorAnswer({ code: 'invalid_request', message: error.message, details: {} })
    return errorAnswer(errorBody(REQUEST, services, error))
  })
  app.notFound((c) =>
    errorAnswer({
      code: 'not_found',
      message: `There is nothing at ${c.req.path}. /AGENTS.md and /api/openapi.json tell what there is.`,
      details: {},
    }),
  )
  app.use(sameSite(services), rateLimit(services), accessToken(services))
  app.route('/', metaRoutes(operations, services))
  if (commandSecret) app.route('/api', commandRoutes(services, commandSecret))
  app.route('/api', streamRoute(services))
  app.route('/api', restRoutes(operations, services))
  for (const path of [
    '/api/config',
    '/api/openapi.json',
    '/api/sessions/:session_id/stream',
    '/AGENTS.md',
    '/llms.txt',
    '/healthz',
    '/readyz',
    '/metrics',
  ]) {
    app.all(path, () => methodNotAllowed(['GET']))
  }
  const endpoint = endpoints(toolsets, services)
  app.all('/mcp', async (c) => (await endpoint(c.req.query('toolsets') ?? toolsets[0]!.name)).answer(c))
  app.all('/api/mcp', async (c) => (await endpoint(c.req.query('toolsets') ?? toolsets[0]!.name)).answer(c))
  app.all('/mcp/:toolset', async (c) => (await endpoint(c.req.param('toolset'))).answer(c))
  return app
}

const REQUEST = { name: 'request', effect: 'read', refuses: [] } as const

// Made when first asked for, and kept: there are only so many combinations.
const endpoints = (toolsets: readonly Toolset[], services: Services) => {
  const made = new Map<string, Promise<Endpoint>>()
  return (names: string): Promise<Endpoint> => {
    const wanted = [...new Set(names.split(','))]
    const chosen = wanted.map(
      (name) =>
        toolsets.find((toolset) => toolset.name === name) ??
        refuse(
          'not_found',
          `There is no toolset ${JSON.stringify(name)}. There are: ${toolsets.map((toolset) => toolset.name).join(', ')}.`,
        ),
    )
    const key = wanted.join(',')
    const endpoint = made.get(key) ?? mcpEndpoint(chosen, services)
    made.set(key, endpoint)
    return endpoint
  }
}
