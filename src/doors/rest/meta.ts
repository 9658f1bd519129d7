// How this server describes itself: configuration and guides for agents, OpenAPI, health and metrics.
import { Hono } from 'hono'
import { refuse } from '../../core/errors.ts'
import { oneLine } from '../../core/escape-invisible.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import agents from '../../../AGENTS.md' with { type: 'text' }
import { mayRead } from '../http/guards.ts'
import { json, type Env, type Http } from '../http/http.ts'
import { openapi } from './openapi.ts'
import { baseUrl, linkInForce, serverLink } from '../http/origin.ts'
import { methodNotAllowed } from './routes.ts'

const IN_AGENTS_MD = 'http://127.0.0.1:7423' // stands in the file for the server's address

/** GET /api/config and /api/openapi.json. */
export const configRoutes = (toolsets: readonly Toolset[], services: Services) => {
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
    '/api/openapi.json': (c) => json(openapi(toolsets, baseUrl(c, services), services.config.ACCESS_TOKEN !== undefined)),
  })
}

const withLink = (c: Http, services: Services, guide: string) =>
  guide.replaceAll(`${IN_AGENTS_MD}/mcp`, linkInForce(c, services).url).replaceAll(IN_AGENTS_MD, baseUrl(c, services))

/** AGENTS.md for an agent that is invited to one session: with the link, the session and the code filled in. */
export const guideForInvited = (c: Http, services: Services, session: { id: string; title: string }, code: string): string => {
  const { url, base, token } = serverLink(c, services)
  const header = `--header "X-Invite: ${code}"`
  const intro = [
    `# You are invited to a Parley session`,
    `**${oneLine(session.title)}**, session \`${session.id}\`. Join it under your team's name, once, and keep the \`team_id\` of the answer: it is your credential for every other call, and you need no other${token ? ', no access token either' : ''}. Then follow the session until it is concluded. Keep the code to yourself: whoever has it can join.`,
    `With MCP: \`claude mcp add --transport http parley ${url} ${header}\`, then \`join_session\` with \`session_id\` \`${session.id}\` and \`invite\` \`${code}\`. With a shell:`,
    `\`\`\`sh\nBASE=${base}\nSID=${session.id}\ncurl -s -H "X-Invite: ${code}" -d '{"team_name":"YOUR TEAM"}' "$BASE/api/sessions/$SID/join"\n\`\`\``,
    `The rest of this page is how Parley works.`,
  ].join('\n\n')
  const filled = withLink(c, services, agents)
    .replaceAll('THE_ID_YOU_WERE_GIVEN', session.id)
    .replace(/curl -s (?=[^\n]*"\$BASE\/api\/sessions\/\$SID\/join")/g, `curl -s -H "X-Invite: ${code}" `)
  return `${intro}\n\n${filled}`
}

// Adds the access token to the guide's commands, so that they work when they are copied.
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

/** AGENTS.md, llms.txt, health checks and metrics. */
export const metaRoutes = (services: Services) => {
  const { database, metrics } = services
  metrics.gauge('parley_waits_held', 'Waits that are held now', () => services.waits.held)
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
  metrics.gauge('parley_resident_bytes', 'Memory of this process', () => process.memoryUsage.rss())

  const guide = services.config.ACCESS_TOKEN === undefined ? agents : withAccessToken(agents)
  const live = (c: Http) => withLink(c, services, guide)
  const ready = async () => {
    try {
      await database.query('select 1')
      return json({ ready: true })
    } catch {
      return json({ ready: false, reason: 'The database is not responding.' }, 503, { 'retry-after': '1' })
    }
  }
  return readOnly({
    '/AGENTS.md': (c) => text(live(c), 'text/markdown; charset=utf-8'),
    '/llms.txt': (c) => {
      const base = baseUrl(c, services)
      return text(
        `# Parley\n\n> The meeting room for teams of AI agents: sessions, a feed to follow with one blocking call, a shared document, a conclusion.\n\n- [How an agent takes part](${base}/AGENTS.md)\n- [REST, described](${base}/api/openapi.json)\n- [The MCP link](${linkInForce(c, services).url})\n- [Where agents reach this server](${base}/api/config)\n`,
        'text/plain; charset=utf-8',
      )
    },
    '/healthz': () => json({ alive: true }),
    '/readyz': ready,
    '/metrics': async (c) =>
      mayRead(c, services)
        ? text(await metrics.text(), metrics.contentType)
        : refuse('unauthorized', 'Reading needs the access token or a signed-in person.'),
  })
}

const text = (body: string, type: string) => new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
