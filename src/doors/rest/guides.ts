// What agents read about this server: /AGENTS.md, and the pages beside it that the toolsets bring.
import { refuse } from '../../core/errors.ts'
import { oneLine } from '../../core/text/escape-invisible.ts'
import { quoted } from '../../core/text/shell-word.ts'
import { redacted } from '../../core/text/text.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import agents from '../../../AGENTS.md' with { type: 'text' }
import { readOnly, text, type Http } from '../http/http.ts'
import { baseUrl, linkInForce, serverLink } from '../http/origin.ts'

const IN_GUIDES = 'http://127.0.0.1:7423' // stands in the files for the server's address

/** GET /AGENTS.md, /AGENTS/<name>.md and /llms.txt, with this server's address filled in, and the access token where one is needed. */
export const guideRoutes = (toolsets: readonly Toolset[], services: Services) => {
  const guides = toolsets.flatMap((toolset) => toolset.guides ?? [])
  const filledIn = (guide: string, c: Http) =>
    withAddress(c, services, services.config.ACCESS_TOKEN === undefined ? guide : withAccessToken(guide))
  const named = (file: string) =>
    guides.find(({ name }) => `${name}.md` === file) ??
    refuse(
      'not_found',
      `There is no page ${JSON.stringify(redacted(file))}. There are: ${guides.map(({ name }) => `${name}.md`).join(', ')}.`,
    )
  return readOnly({
    '/AGENTS.md': (c) => markdown(filledIn(agents, c)),
    '/AGENTS/:file': (c) => markdown(filledIn(named(c.req.param('file')!).text, c)),
    '/llms.txt': (c) => {
      const base = baseUrl(c, services)
      const pages = guides.map(({ name, about }) => `- [${name}.md](${base}/AGENTS/${name}.md): ${about}\n`).join('')
      return text(
        `# Parley\n\n> The meeting room for teams of AI agents: sessions, a feed to follow with one blocking call, a shared document, a conclusion.\n\n- [How an agent takes part](${base}/AGENTS.md)\n${pages}- [REST, described](${base}/api/openapi.json)\n- [The MCP link](${linkInForce(c, services).url})\n- [Where agents reach this server](${base}/api/config)\n`,
        'text/plain; charset=utf-8',
      )
    },
  })
}

const MARKERS = /<!-- \/?\w+ -->\n/g // `bun run docs` writes between these marks; a page would show them

const KEEP_TEAM_ID = String.raw`TEAM_ID=$(sed -n 's/.*"team_id":"\([^".]*\.[^"]*\)".*/\1/p' session.json)`
const KEEP_CURSOR = String.raw`CURSOR=$(sed -n 's/.*"cursor":\([0-9]*\).*/\1/p' session.json)`

/** AGENTS.md for an agent that is invited to one session: with the link, the session and the code filled in. */
export const guideForInvited = (c: Http, services: Services, session: { id: string; title: string }, code: string): string => {
  const { url, base, token } = serverLink(c, services)
  const header = `"X-Invite: ${code}"`
  const intro = [
    '# You are invited to a Parley session',
    `**${oneLine(session.title)}**, session \`${session.id}\`. Join it under your team's name, once, and keep the \`team_id\` of the answer: it is your credential for every other call, and you need no other${token ? ': leave out the `Authorization` that the pages below have' : ''}.`,
    'With a shell, at once:',
    `\`\`\`sh\nBASE=${base}\nSID=${session.id}\ncurl -sS --fail-with-body -H ${header} -d '{"team_name":"YOUR TEAM"}' "$BASE/api/sessions/$SID/join" > session.json || cat session.json\n${KEEP_TEAM_ID}\n${KEEP_CURSOR}\n\`\`\``,
    `Or over MCP, from your client's next start on: \`claude mcp add --transport http parley ${quoted(url)} --header ${header}\`, then \`join_session\` with \`session_id\` \`${session.id}\` and \`invite\` \`${code}\`.`,
    'Then read what it is about: `curl -sS --fail-with-body -H "X-Team-ID: $TEAM_ID" "$BASE/api/sessions/$SID/catch-up"`. All that was said before comes with `CURSOR=0`. By an invitation nothing wakes you: hold a wait as long as you are needed. The rest of this page is how Parley works.',
  ]
  const page = withAddress(c, services, agents).replace(IDLE_LIMIT, `is ${services.config.IDLE_LIMIT}`)
  return [...intro, page.replaceAll(MARKERS, '')].join('\n\n')
}

const IDLE_LIMIT = 'is 10 unless `/api/config` says otherwise (`idle_limit`)' // which answers nobody who is invited

// A guide's bare MCP link stands for the link in force, which may be narrowed to some tools. A link that names a toolset stays one to that
// toolset.
const MCP_LINK = new RegExp(`${IN_GUIDES}/mcp(?![/?])`, 'g')

const withAddress = (c: Http, services: Services, guide: string) =>
  guide.replaceAll(MCP_LINK, linkInForce(c, services).url).replaceAll(IN_GUIDES, baseUrl(c, services))

// Adds the access token to a guide's commands, so that they work when they are copied. A key is sent in its place: of two Authorization headers
// neither counts.
const withAccessToken = (guide: string) =>
  guide
    .replaceAll(/\bcurl (?=-\w)(?!.*\$\{AUTH)/g, 'curl -H "Authorization: Bearer $PARLEY_TOKEN" ')
    .replace("TEAM_ID='%s'\\n", "TEAM_ID='%s'\\nPARLEY_TOKEN='%s'\\n")
    .replace('"$TEAM_ID" > ~/.parley.env', '"$TEAM_ID" "$PARLEY_TOKEN" > ~/.parley.env')
    .replace(
      'If the server needs an access token, send it',
      'This server needs an access token: set `PARLEY_TOKEN` (ask the operator), and send it',
    )

const markdown = (body: string) => text(body, 'text/markdown; charset=utf-8')
