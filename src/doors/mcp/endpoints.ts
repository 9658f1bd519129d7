// Where MCP is served: /mcp (and /api/mcp) with the first toolset or those in ?toolsets=, /mcp/NAME with that one.
import { Hono } from 'hono'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import type { Services } from '../../process/services.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Env } from '../http/http.ts'
import type { RateLimit } from '../http/rate-limit.ts'
import { mcpEndpoint, type Endpoint } from './routes.ts'

export const mcpRoutes = (toolsets: readonly Toolset[], services: Services, limit: RateLimit | undefined) => {
  const endpointFor = endpointCache(toolsets, services, limit)
  const first = toolsets[0]!.name
  const app = new Hono<Env>()
  for (const path of ['/mcp', '/api/mcp'])
    app.all(path, async (c) => (await endpointFor(c.req.queries('toolsets')?.join(',') ?? first)).answer(c))
  app.all('/mcp/:toolset', async (c) => (await endpointFor(c.req.param('toolset'))).answer(c))
  return app
}

// Endpoints are made on first use and kept. There are no more of them than lists of the toolsets' names.
const endpointCache = (toolsets: readonly Toolset[], services: Services, limit: RateLimit | undefined) => {
  const endpoints = new Map<string, Promise<Endpoint>>()
  return (list: string): Promise<Endpoint> => {
    const names = [...new Set(list.split(',').map((name) => name.trim()))]
    const chosen = names.map((name) => toolsets.find((toolset) => toolset.name === name) ?? unknownToolset(name, toolsets))
    const key = names.join(',')
    const endpoint = endpoints.get(key) ?? mcpEndpoint(chosen, services, limit)
    endpoints.set(key, endpoint)
    return endpoint
  }
}

const unknownToolset = (name: string, toolsets: readonly Toolset[]): never => {
  const known = toolsets.map((toolset) => toolset.name).join(', ')
  return refuse('not_found', `There is no toolset ${JSON.stringify(redacted(name))}. There are: ${known}.`)
}
