// How each client is given the link: commands and configuration made from the link in force, so that they work as shown.
import type { ServerLink } from '../../src/core/server-link.ts'
import { quoted } from '../../src/core/text/shell-word.ts'

const json = (value: unknown) => JSON.stringify(value, null, 2)

export const claude = ({ url, token }: ServerLink) =>
  `claude mcp add --transport http parley ${quoted(url)}${token ? ' \\\n  --header "Authorization: Bearer $PARLEY_TOKEN"' : ''}`

/** An MCP link with all tools of these toolsets, whatever it was narrowed to. */
export const withToolsets = (url: string, names: string): string => {
  const [address, query = ''] = url.split('?')
  const others = query.split('&').filter((part) => part !== '' && !/^tool(set)?s=/.test(part))
  return `${address!.replace(/\/mcp\/\w+\/?$/, '/mcp')}?${[...others, `toolsets=${names}`].join('&')}`
}

/** The link with the tools of records beside those of rooms. */
export const withRecords = ({ url }: ServerLink) => withToolsets(url, 'rooms,records')

/** For which clients the line is that connects: it finds those that are installed. */
export const CONNECTS = 'Claude Code, Codex, Gemini CLI, opencode'
export const connectCommand = (program: string) => `npx -y ${program} connect`

/** The first line to show: the one that also has messages wake the agent, where this server hands out the program `parley`. */
export const connecting = (link: ServerLink) =>
  link.program ? { label: CONNECTS, code: connectCommand(link.program) } : { label: 'Claude Code', code: claude(link) }

export const codex = ({ url, token }: ServerLink) =>
  `codex mcp add parley --url ${quoted(url)}${token ? ' \\\n  --bearer-token-env-var PARLEY_TOKEN' : ''}`

export const codexConfig = ({ url, token }: ServerLink) =>
  `[mcp_servers.parley]\nurl = "${url}"\ntool_timeout_sec = 60${token ? '\nbearer_token_env_var = "PARLEY_TOKEN"' : ''}`

export const gemini = ({ url, token }: ServerLink) =>
  `gemini mcp add --transport http parley ${quoted(url)}${token ? ' \\\n  --header "Authorization: Bearer $PARLEY_TOKEN"' : ''}`

export const opencode = ({ url, token }: ServerLink) =>
  json({
    mcp: { parley: { type: 'remote', url, enabled: true, ...(token && { headers: { Authorization: 'Bearer {env:PARLEY_TOKEN}' } }) } },
  })

export const mcpJson = ({ url, token }: ServerLink) =>
  json({ mcpServers: { parley: { type: 'http', url, ...(token && { headers: { Authorization: 'Bearer ${PARLEY_TOKEN}' } }) } } })

const header = ({ token }: ServerLink) => (token ? ' \\\n  -H "Authorization: Bearer $PARLEY_TOKEN"' : '')

export const curlCreate = (link: ServerLink) =>
  `curl -sS --fail-with-body ${link.base}/api/sessions${header(link)} \\\n  -d '{"title":"Shipping the parser","description":"Who does what","creator_team_name":"Alex"}'`

export const curlJoin = (link: ServerLink, session: string) =>
  `curl -sS --fail-with-body ${link.base}/api/sessions/${session}/join${header(link)} \\\n  -d '{"team_name":"Bea"}'`

export const curlFollow = (link: ServerLink, session = '$SID') =>
  `curl -sS --fail-with-body "${link.base}/api/sessions/${session}/wait?since_cursor=\${CURSOR:-0}"${header(link)} \\\n  -H "X-Team-ID: \${TEAM_ID:?}"`

export const curlPost = (link: ServerLink, session = '$SID') =>
  `curl -sS --fail-with-body ${link.base}/api/sessions/${session}/messages${header(link)} \\\n  -H "X-Team-ID: \${TEAM_ID:?}" \\\n  -d 'Hello from the shell'`

// An agent that is connected knows from its tools what to do, and need not be let read a page.
const unlessConnected = ({ base }: ServerLink) => `If you have no tools of parley, read ${base}/AGENTS.md first.`

export const invitation = (link: ServerLink, session: string) =>
  `Join the Parley session ${session} as "<your team's name>", and follow it until it is concluded. ${unlessConnected(link)}`

/** What a colleague needs to bring an agent into a session, to be sent as it is. */
export const wayIn = (link: ServerLink, program: string, session: string) =>
  [
    'Bring your agent into our Parley session. In a shell, with Node 20 (macOS, Linux or WSL):',
    `  ${connectCommand(program)}`,
    ...(link.base.startsWith('http:')
      ? ['It refuses plain http: open the ssh tunnel that it names or, in a network that you trust, add --insecure.']
      : []),
    ...(link.token ? ['It asks for the access token of this server, which you get from me in another way.'] : []),
    'Then start the agent anew, and say to it:',
    `  ${invitation(link, session)}`,
    `The session is here: ${link.base}/sessions/${session}`,
  ].join('\n')

export const convene = (link: ServerLink) =>
  `Convene a Parley session about <subject>. Tell me its id, and follow it until it is concluded. ${unlessConnected(link)}`
