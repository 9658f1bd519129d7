// What describes this server to others: configuration for agents, descriptions, health and metrics.
import { Hono } from 'hono'
import { refuse } from '../../core/errors.ts'
import type { ServedOp } from '../../operations/context.ts'
import type { Services } from '../../process/services.ts'
import agents from '../../../AGENTS.md' with { type: 'text' }
import { mayRead } from '../http/guards.ts'
import { json, type Env, type Http } from '../http/http.ts'
import { openapi } from './openapi.ts'
import { baseUrl, linkInForce } from '../http/origin.ts'
import { methodNotAllowed } from './routes.ts'

const IN_AGENTS_MD = 'http://127.0.0.1:7423' // what the file says where no server fills in its own

/** For agents: where to reach this server, and what it can do. */
export const configRoutes = (operations: readonly ServedOp[], services: Services) => {
  const { IDLE_LIMIT, IDLE_AFTER, DISCONNECTED_AFTER } = services.config
  return readOnly({
    '/api/config': (c) =>
      json({
        mcp_url: linkInForce(c, services).url,
        idle_limit: IDLE_LIMIT,
        idle_after: IDLE_AFTER,
        disconnected_after: DISCONNECTED_AFTER,
        agents_md: `${baseUrl(c, services)}/AGENTS.md`,
      }),
    '/api/openapi.json': (c) => json(openapi(operations, baseUrl(c, services), services.config.ACCESS_TOKEN !== undefined)),
  })
}

// Its lines as they work here, copied as they stand: with the token that every call needs.
const withAccessToken = (guide: string) =>
  guide
    .replaceAll(/\bcurl (?=-\w)/g, 'curl -H "Authorization: Bearer $PARLEY_TOKEN" ')
    .replace("TEAM_ID='%s'\\n", "TEAM_ID='%s'\\nPARLEY_TOKEN='%s'\\n")
    .replace('"$TEAM_ID" > ~/.parley.env', '"$TEAM_ID" "$PARLEY_TOKEN" > ~/.parley.env')
    .replace(
      'If the server needs an access token, send it',
      'This server needs an access token: set `PARLEY_TOKEN` (ask the operator), and send it',
    )

const readOnly = (answers: Record<string, (c: Http) => Response | Promise<Response>>) => {
  const app = new Hono<Env>()
  for (const [path, answer] of Object.entries(answers)) app.get(path, answer).all(path, () => methodNotAllowed(['GET']))
  return app
}

export const metaRoutes = (services: Services) => {
  const { database, metrics } = services
  metrics.gauge('waits_held', 'Waits held now', () => services.waits.held)
  metrics.gauge('streams_open', 'Event streams open now', () => services.streams.open)
  metrics.gauge('waiters', 'Callers waiting to be woken', () => services.waiters.size)
  metrics.gauge('batches', 'Group commits since the start', () => services.appender.batches)
  metrics.gauge('database_statements', 'Statements sent since the start', database.statements)
  metrics.gauge('listening', 'Whether notifications of the database come through: 1 or 0', () => Number(services.hearsItself()))
  metrics.gauge(
    'search_index_lag_seconds',
    'For how long the oldest event that no search finds yet has been in the log; 0 when there is none',
    () => services.indexer.lagSeconds,
  )
  metrics.gauge('resident_bytes', 'Memory of this process', () => process.memoryUsage.rss())

  const guide = services.config.ACCESS_TOKEN === undefined ? agents : withAccessToken(agents)
  const live = (c: Http) =>
    guide.replaceAll(`${IN_AGENTS_MD}/mcp`, linkInForce(c, services).url).replaceAll(IN_AGENTS_MD, baseUrl(c, services))
  const ready = async () => {
    try {
      await database.query('select 1')
      return json({ ready: true })
    } catch {
      return json({ ready: false, reason: 'The database is not responding.' }, 503, { 'retry-after': '1' })
    }
  }
  return readOnly({
    '/AGENTS.md': (c) => text(live(c), 'text/markdown'),
    '/llms.txt': (c) => {
      const base = baseUrl(c, services)
      return text(
        `# Parley\n\n> The meeting room for teams of AI agents: sessions, a feed to follow with one blocking call, a shared document, a conclusion.\n\n- [How an agent takes part](${base}/AGENTS.md)\n- [REST, described](${base}/api/openapi.json)\n- [The MCP link in force](${base}/api/config)\n`,
        'text/plain',
      )
    },
    '/healthz': () => json({ alive: true }),
    '/readyz': ready,
    '/metrics': (c) =>
      mayRead(c, services)
        ? text(metrics.text(), 'text/plain; version=0.0.4')
        : refuse('unauthorized', 'Reading needs the access token or a signed-in person.'),
  })
}

const text = (body: string, type: string) =>
  new Response(body, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' } })
