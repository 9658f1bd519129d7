// How this server describes itself to programs: configuration, OpenAPI, health and metrics. guides.ts has what agents read.
import { refuse } from '../../core/errors.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import { alertRules } from '../../process/status/alerts.ts'
import { residentBytes } from '../../process/status/figures.ts'
import { arePagesOpen, howToRead, mayRead } from '../http/guards.ts'
import { json, readOnly, text, type Http } from '../http/http.ts'
import { programPath, type ClientProgram } from './client-package.ts'
import { openapi } from './openapi.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { baseUrl, linkInForce } from '../http/origin.ts'

/** GET /api/config and /api/openapi.json. */
export const configRoutes = (toolsets: readonly Toolset[], services: Services, program: ClientProgram | undefined) => {
  const { IDLE_LIMIT, IDLE_AFTER, DISCONNECTED_AFTER, ACCESS_TOKEN } = services.config
  // Made once: it takes up to 60 ms of processor time, for which all others would wait each time that somebody asks (tests/faults/fuzz.test.ts).
  let document: ReturnType<typeof openapi> | undefined
  const described = () => (document ??= openapi(toolsets, ACCESS_TOKEN !== undefined))
  return readOnly({
    '/api/config': (c) =>
      json({
        version: manifest.version,
        mcp_url: linkInForce(c, services).url,
        idle_limit: IDLE_LIMIT,
        idle_after: IDLE_AFTER,
        disconnected_after: DISCONNECTED_AFTER,
        pages_open: arePagesOpen(services),
        agents_md: `${baseUrl(c, services)}/AGENTS.md`,
        ...(program && { client: baseUrl(c, services) + programPath(program) }),
      }),
    '/api/openapi.json': (c) => json({ ...described(), servers: [{ url: baseUrl(c, services) }] }),
  })
}

/** Health checks and metrics. */
export const metaRoutes = (services: Services) => {
  const { database, metrics, config, status } = services
  metrics.gauge('parley_waits_held', 'Waits that are held now', () => services.waits.held)
  metrics.gauge('parley_peeks_held', 'Peeks that are held now, by teams that sleep', () => services.peeks.held)
  metrics.gauge('parley_streams_open', 'Event streams that are open now', () => services.streams.open)
  metrics.gauge('parley_waiters', 'Subscriptions of waits and streams to a session', () => services.waiters.size)
  metrics.gauge('parley_batches', 'Group commits since the start', () => services.groupCommit.batches)
  metrics.gauge('parley_database_statements', 'Statements sent since the start', database.statements)
  metrics.gauge('parley_listening', '1 while the database’s notifications of other instances come through, 0 while they are lost', () =>
    Number(services.hearsItself()),
  )
  metrics.gauge(
    'parley_search_index_lag_seconds',
    'For how long the oldest event that no search finds yet has been in the log; 0 when there is none',
    () => services.indexer.lagSeconds,
  )
  metrics.gauge(
    'parley_notice_places_failing',
    'NOTIFY_URL and push services through which people could not be told when that was tried last',
    () => services.outages.failing().length,
  )
  metrics.gauge('parley_jobs_failing', 'Background jobs whose last run failed', () => services.failingJobs().length)
  metrics.gauge('parley_resident_bytes', 'Memory of this process', residentBytes)
  metrics.gauge('parley_max_waits', 'MAX_WAITS: how many waits and peeks may be held', () => config.MAX_WAITS)
  metrics.gauge('parley_max_streams', 'MAX_STREAMS: how many event streams may be open', () => config.MAX_STREAMS)
  metrics.gauge('parley_event_loop_lag_seconds', 'How late timers were, 99 of 100 of the last minute', () => status.lag.p99Seconds)
  metrics.gauge(
    'parley_database_answer_seconds',
    'How long the database took to answer the background job of settings last, or has not answered by now',
    status.databaseSeconds,
  )
  metrics.gauge(
    'parley_disk_free_bytes',
    'Free space of the embedded database’s disk; +Inf without one',
    () => database.freeBytes?.() ?? Infinity,
  )

  const ready = async () => {
    try {
      await database.query('select 1')
      return json({ ready: true })
    } catch {
      return json({ ready: false, reason: 'The database is not responding.' }, 503, { 'retry-after': '1' })
    }
  }
  return readOnly({
    '/healthz': () => json({ alive: true }),
    '/readyz': ready,
    '/metrics': async (c) => (requireReader(c, services), text(await metrics.text(), metrics.contentType)),
    '/alerts.yml': () => text(alertRules(), 'text/yaml; charset=utf-8'),
    '/api/status': async (c) => (requireReader(c, services), json(await status.read())),
  })
}

const requireReader = (c: Http, services: Services) =>
  mayRead(c, services) || refuse('unauthorized', `${howToRead(services, false)}, to read this.`)
