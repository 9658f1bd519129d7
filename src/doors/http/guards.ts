// What stands before every handler: nothing behind a guard runs, and nothing is changed, unless the guards agree.
import { refuse } from '../../core/errors.ts'
import { parseToken, sameText } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import type { Member } from '../../stores/members.ts'
import { personOf, type Person } from './cookies.ts'
import { isApi, isMcp, type Asked, type Http } from './http.ts'
import { calledHost, isHost, isLoopback, isLoopbackHost } from './origin.ts'
import type { RateLimit } from './rate-limit.ts'
import { isShared, sharedTokenOf } from './share-link.ts'

type Guard = (c: Asked) => unknown

/** All guards that this configuration asks for, as one. Throws a Refusal. Plain calls, no middleware each: every layer of that is held
 *  as long as a wait is (bench/connections). */
export const guardsOf = (services: Services, limit?: RateLimit): Guard => {
  const { ACCESS_TOKEN } = services.config
  const guards = [sameSite(services)]
  if (limit) guards.push((c) => UNCOUNTED.has(c.req.path) || isCommand(c.req.path) || limit.request(c))
  if (ACCESS_TOKEN !== undefined) guards.push(accessToken(services))
  return (c) => {
    for (const guard of guards) guard(c)
  }
}

const EXEMPT = new Set(['/healthz', '/readyz'])
const UNCOUNTED = new Set([...EXEMPT, '/sign-in']) // that has limits of its own, which no other site's page can use up for the form
const isCommand = (path: string) => path.startsWith('/api/commands/') // these have a secret of their own

/** Host, Origin and Sec-Fetch-Site: a web page of somebody else cannot speak to us, not even through a rebound name. */
const sameSite =
  (services: Services): Guard =>
  (c) => {
    if (EXEMPT.has(c.req.path)) return
    const host = calledHost(c, services)
    if (!isHost(host))
      refuse(
        'forbidden',
        `The Host header ${JSON.stringify(host.slice(0, 200))} names no host. Send a name or an address, with its :port.`,
        {
          host,
        },
      )
    if (!hostAllowed(services, host))
      refuse(
        'forbidden',
        `This server does not answer to the host ${JSON.stringify(host)}. Add it to ALLOWED_HOSTS, or save a link with that host on the settings page.`,
        { host },
      )
    // A page whose address holds a key sends no referrer, and so a form there says `Origin: null`; whose it is, Sec-Fetch-Site says.
    const [said, site] = [c.req.header('origin'), c.req.header('sec-fetch-site')]
    const origin = said === 'null' && site === 'same-origin' ? undefined : said
    if (origin !== undefined && !originAllowed(services, origin, host))
      refuse('forbidden', 'Requests from pages of other sites are refused.', { origin })
    // Links lead to our pages from anywhere. An image or script of another site that asks for one is no link, and would use up what
    // RATE_LIMIT leaves to the person whose browser it is.
    const followed = (c.req.header('sec-fetch-mode') ?? 'navigate') === 'navigate'
    const pageRead = (c.req.method === 'GET' || c.req.method === 'HEAD') && !isApi(c.req.path) && followed
    if (site === 'cross-site' && !pageRead) refuse('forbidden', 'Requests from pages of other sites are refused.')
  }

const ours = ({ config, setting }: Services): string[] =>
  [setting('mcp_url') ?? config.MCP_URL].flatMap((url) => (url ? [new URL(url).host.toLowerCase()] : [])).concat(config.ALLOWED_HOSTS)

const nameOf = (host: string) => host.replace(/:\d+$/, '')

const hostAllowed = (services: Services, host: string) => {
  const { HOST, ALLOWED_HOSTS } = services.config
  if (!isLoopback(HOST) && ALLOWED_HOSTS.length === 0) return true
  return isLoopbackHost(host) || ours(services).some((own) => own === host || nameOf(own) === nameOf(host))
}

const originAllowed = (services: Services, origin: string, host: string) => {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin).host.toLowerCase()
  const port = (name: string) => /:(\d+)$/.exec(name)?.[1]
  const loopbackTwin = isLoopbackHost(from) && isLoopbackHost(host) && port(from) === port(host)
  return from === host || loopbackTwin || ours(services).includes(from)
}

const bearerOf = (c: Asked) => /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1]

const holdsAccessToken = (c: Asked, { config }: Services) => {
  const bearer = bearerOf(c)
  return config.ACCESS_TOKEN !== undefined && bearer !== undefined && sameText(bearer, config.ACCESS_TOKEN)
}

/** ACCESS_TOKEN: agents need it for everything. REST alone opens to a cookie too: to a person's all of it, to a reader's what changes
 *  nothing, to that of a session's link the paths of that link. */
const accessToken =
  (services: Services): Guard =>
  (c) => {
    if (!isApi(c.req.path) || isCommand(c.req.path) || holdsAccessToken(c, services)) return
    if (!isMcp(c.req.path) && (mayCall(c, personOf(c, services)) || sharedTokenOf(c) !== undefined)) return // a link is looked at by the route
    refuse('unauthorized', 'This server needs its access token: send Authorization: Bearer <token>. Ask the operator for it.')
  }

const mayCall = ({ req: { method, path } }: Asked, person: Person | undefined): boolean => {
  if (person?.role !== 'reader') return person !== undefined
  // The tools of history are asked with POST, and only read.
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && path.startsWith('/api/history/'))
}

/** May this request read what the pages show? Everybody, unless a password or token was set. */
export const mayRead = (c: Http, services: Services): boolean => readsForGood(c, services) || personOf(c, services) !== undefined

/** The same, by what stays valid for as long as the server runs: its streams need not be looked at again. */
export const readsForGood = (c: Http, services: Services): boolean => {
  const { ACCESS_TOKEN, VIEWER_PASSWORD } = services.config
  return (ACCESS_TOKEN === undefined && VIEWER_PASSWORD === undefined) || holdsAccessToken(c, services)
}

/** The same for one session, which its own teams may read too, and those who have its link what that opens. */
export const mayReadSession = async (c: Http, services: Services, sessionId: string): Promise<boolean> => {
  if (mayRead(c, services)) return true
  return (await isOfTeam(services, sessionId, c.req.header('x-team-id'))) || isShared(c, services)
}

/** Is this the team_id of a team that is in the session now? */
export const isOfTeam = async (services: Services, sessionId: string, teamId: string | undefined): Promise<boolean> => {
  const member = await memberBy(services, sessionId, teamId)
  return member !== undefined && !member.left
}

/** The team of the session that this team_id proves, gone or present. */
export const memberBy = async (services: Services, sessionId: string, teamId = ''): Promise<Member | undefined> => {
  const token = parseToken(teamId)
  return token && services.memberOf(sessionId, token)
}
