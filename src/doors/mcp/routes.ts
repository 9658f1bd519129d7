// Where MCP is served: /mcp with the first toolset or those in ?toolsets=, /mcp/NAME with that one, and with ?tools= the named ones of their
// tools alone. Each also at /api/mcp.
import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import type { Services } from '../../process/services.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Env, Http } from '../http/http.ts'
import { mcpEndpoint, type Endpoint, type EndpointOptions } from './endpoint.ts'
import { toolNames } from './tools.ts'

export const mcpRoutes = (toolsets: readonly Toolset[], services: Services, options: EndpointOptions) => {
  const endpointFor = endpointCache(toolsets, services, options)
  const first = [toolsets[0]!.name]
  const app = new Hono<Env>()
  for (const path of ['/mcp', '/api/mcp']) {
    app.all(path, async (c) => (await endpointFor(namesIn(c, 'toolsets') ?? first, namesIn(c, 'tools'))).answer(c))
    app.all(`${path}/:toolset`, async (c) => (await endpointFor([c.req.param('toolset')], namesIn(c, 'tools'))).answer(c))
  }
  return app
}

const namesIn = (c: Http, query: 'toolsets' | 'tools'): string[] | undefined => {
  const oneShort = query.slice(0, -1)
  if (c.req.query(oneShort) !== undefined)
    refuse('invalid_request', `There is no ?${oneShort}= here: write ?${query}=, with one name or several.`, { field: oneShort })
  const given = c.req.queries(query)?.join(',').split(',')
  return given && [...new Set(given.map((name) => name.trim()))]
}

const KEPT = 100

// Endpoints are made on first use. Those that were used last are kept. There is no end of the lists of tools that a
// caller may name: endpoints of such lists take the place of each other alone.
const endpointCache = (toolsets: readonly Toolset[], services: Services, options: EndpointOptions) => {
  const ofToolsets = new LRUCache<string, Promise<Endpoint>>({ max: KEPT })
  const ofTools = new LRUCache<string, Promise<Endpoint>>({ max: KEPT })
  return (names: readonly string[], tools?: readonly string[]): Promise<Endpoint> => {
    for (const name of names) if (!namesOf(toolsets).includes(name)) unknown('toolset', name, namesOf(toolsets))
    const chosen = toolsets.filter(({ name }) => names.includes(name)) // one set has one order, and so the same tools
    const endpoints = tools ? ofTools : ofToolsets
    const key = JSON.stringify([namesOf(chosen), tools?.toSorted()])
    const kept = endpoints.get(key)
    if (kept) return kept
    const there = [...toolNames(chosen).keys()]
    for (const tool of tools ?? []) if (!there.includes(tool)) unknown('tool', tool, there)
    const endpoint = mcpEndpoint(chosen, services, options, tools)
    endpoints.set(key, endpoint)
    return endpoint
  }
}

const namesOf = (toolsets: readonly Toolset[]) => toolsets.map(({ name }) => name)

const unknown = (what: string, name: string, known: readonly string[]): never =>
  refuse('not_found', `There is no ${what} ${JSON.stringify(redacted(name))} here. There are: ${known.join(', ')}.`)
