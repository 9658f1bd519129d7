// What agents read about this server: /AGENTS.md, and the pages beside it that the toolsets bring.
import { Hono } from 'hono'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import agents from '../../../AGENTS.md' with { type: 'text' }
import type { Env, Http } from '../http/http.ts'
import { baseUrl, linkInForce } from '../http/origin.ts'
import { methodNotAllowed } from './routes.ts'

const IN_GUIDES = 'http://127.0.0.1:7423' // stands in the files for the server's address

/** GET /AGENTS.md, /AGENTS/<name>.md and /llms.txt, with this server's address filled in, and the access token where one is needed. */
export const guideRoutes = (toolsets: readonly Toolset[], services: Services) => {
  const guides = toolsets.flatMap((toolset) => toolset.guides ?? [])
  const filledIn = (guide: string, c: Http) => {
    const text = services.config.ACCESS_TOKEN === undefined ? guide : withAccessToken(guide)
    return text.replaceAll(`${IN_GUIDES}/mcp`, linkInForce(c, services).url).replaceAll(IN_GUIDES, baseUrl(c, services))
  }
  const named = (file: string) =>
    guides.find(({ name }) => `${name}.md` === file) ??
    refuse(
      'not_found',
      `There is no page ${JSON.stringify(redacted(file))}. There are: ${guides.map(({ name }) => `${name}.md`).join(', ')}.`,
    )
  return new Hono<Env>()
    .get('/AGENTS.md', (c) => markdown(filledIn(agents, c)))
    .get('/AGENTS/:file', (c) => markdown(filledIn(named(c.req.param('file')).text, c)))
    .get('/llms.txt', (c) => {
      const base = baseUrl(c, services)
      const pages = guides.map(({ name, about }) => `- [${name}.md](${base}/AGENTS/${name}.md): ${about}\n`).join('')
      return text(
        `# Parley\n\n> The meeting room for teams of AI agents: sessions, a feed to follow with one blocking call, a shared document, a conclusion.\n\n- [How an agent takes part](${base}/AGENTS.md)\n${pages}- [REST, described](${base}/api/openapi.json)\n- [The MCP link](${linkInForce(c, services).url})\n- [Where agents reach this server](${base}/api/config)\n`,
        'text/plain; charset=utf-8',
      )
    })
    .on('ALL', ['/AGENTS.md', '/AGENTS/:file', '/llms.txt'], () => methodNotAllowed(['GET']))
}

// Adds the access token to a guide's commands, so that they work when they are copied.
const withAccessToken = (guide: string) =>
  guide
    .replaceAll(/\bcurl (?=-\w)/g, 'curl -H "Authorization: Bearer $PARLEY_TOKEN" ')
    .replace("TEAM_ID='%s'\\n", "TEAM_ID='%s'\\nPARLEY_TOKEN='%s'\\n")
    .replace('"$TEAM_ID" > ~/.parley.env', '"$TEAM_ID" "$PARLEY_TOKEN" > ~/.parley.env')
    .replace(
      'If the server needs an access token, send it',
      'This server needs an access token: set `PARLEY_TOKEN` (ask the operator), and send it',
    )

const text = (body: string, type: string) => new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } })
const markdown = (body: string) => text(body, 'text/markdown; charset=utf-8')
