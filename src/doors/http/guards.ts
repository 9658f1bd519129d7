// Who may call what. `guards` runs before every handler; the other functions are asked by handlers about one session.
import type { MiddlewareHandler } from 'hono'
import { answersAnyHost, isLoopbackHost, urlAt } from '../../core/address.ts'
import { refuse, unauthorized } from '../../core/errors.ts'
import { sameText, UUID_SHAPE } from '../../core/ids.ts'
import { notOpened, OPENS, type KeyRow } from '../../core/key-scopes.ts'
import { memberBy } from '../../operations/callers.ts'
import { NO_SUCH_SESSION } from '../../operations/subject.ts'
import type { Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import { personOf, type Person } from './cookies.ts'
import { bearerOf, identify, refuseKeyInQuery } from './credentials.ts'
import { isApi, isMcp, type Env, type Http } from './http.ts'
import { calledHost, isHost } from './origin.ts'
import type { RateLimit } from './rate-limit.ts'
import { isShared, sharedTokenOf } from './share-link.ts'

/** The checks before every handler, in this order: Host and Origin, RATE_LIMIT, a key in the URL, who sends it, what a key opens,
 *  ACCESS_TOKEN. The first that fails throws a Refusal. */
export const guards = (services: Services, toolsets: readonly Toolset[], limit?: RateLimit) => {
  const { ACCESS_TOKEN } = services.config
  const readOnly = readOnlyPosts(toolsets)
  const forInvited = pathsForInvited(toolsets)
  return async (c: Http): Promise<void> => {
    const { path } = c.req
    if (!HEALTH.has(path)) refuseOtherSites(c, services)
    if (limit && !UNCOUNTED.has(path) && !isCommand(path)) limit.countRequest(c)
    if (!isCommand(path) && !ANSWERS_ANYBODY.test(path)) {
      refuseKeyInQuery(c)
      await identify(c, services)
      refuseUnopened(c)
    }
    if (ACCESS_TOKEN !== undefined) requireAccessToken(c, services, readOnly, forInvited)
  }
}

const ANSWERS_ANYBODY = /^\/(?:healthz|readyz|public\/)/ // and without the database
const HEALTH = new Set(['/healthz', '/readyz'])
const UNCOUNTED = new Set([...HEALTH, '/sign-in']) // sign-in has limits of its own, which no other site's page can use up for the form
const isCommand = (path: string) => path.startsWith('/api/commands/') // these have a secret of their own

// By Host, Origin and Sec-Fetch-Site: another site's page in a person's browser cannot call this server, not even through a DNS name that
// it has rebound to this address.
const refuseOtherSites = (c: Http, services: Services) => {
  const host = calledHost(c, services)
  if (!isHost(host)) {
    const given = JSON.stringify(host.slice(0, 200))
    refuse('forbidden', `The Host header ${given} names no host. Send a name or an address, with its :port.`, { host })
  }
  if (!answersTo(services, host, services.setting('mcp_url')))
    refuse(
      'forbidden',
      `This server does not answer to the host ${JSON.stringify(host)}. Add it to ALLOWED_HOSTS, or save a link with that host on the settings page.`,
      { host },
    )
  // A page whose address holds a key sends no referrer, and so a form there says `Origin: null`; whose it is, Sec-Fetch-Site says.
  const [header, site] = [c.req.header('origin'), c.req.header('sec-fetch-site')]
  const origin = header === 'null' && site === 'same-origin' ? undefined : header
  if (origin !== undefined && !originAllowed(services, origin, host))
    refuse('forbidden', 'Requests from pages of other sites are refused.', { origin })
  // Links of other sites may lead to our pages. Their images and scripts may not ask for one: that is no link, and would use up the
  // RATE_LIMIT of the person whose browser it is.
  const followed = (c.req.header('sec-fetch-mode') ?? 'navigate') === 'navigate'
  const pageRead = (c.req.method === 'GET' || c.req.method === 'HEAD') && !isApi(c.req.path) && followed
  if (site === 'cross-site' && !pageRead) refuse('forbidden', 'Requests from pages of other sites are refused.')
}

// MCP_URL beside a saved link: whoever saves a wrong one still reaches the settings page.
const ours = ({ MCP_URL, ALLOWED_HOSTS }: Services['config'], saved: string | undefined): string[] =>
  [saved, MCP_URL].flatMap((url) => (url ? [new URL(url).host.toLowerCase()] : [])).concat(ALLOWED_HOSTS)

const nameOf = (host: string) => host.replace(/:\d+$/, '')

/** Does this server answer to the host while `saved` is the link that is saved on the settings page? */
export const answersTo = ({ config }: Services, host: string, saved: string | undefined): boolean => {
  if (answersAnyHost(config) || isLoopbackHost(host) || isAtHost(config, host)) return true
  return ours(config, saved).some((own) => own === host || nameOf(own) === nameOf(host))
}

// The address that the start prints, and by which this machine's own commands call.
const isAtHost = ({ HOST, PORT }: Services['config'], host: string) => {
  const at = urlAt(HOST, PORT)
  return URL.canParse(at) && nameOf(new URL(at).host) === nameOf(host)
}

const originAllowed = (services: Services, origin: string, host: string) => {
  if (!URL.canParse(origin)) return false
  const from = new URL(origin).host.toLowerCase()
  const port = (name: string) => /:(\d+)$/.exec(name)?.[1]
  const loopbackTwin = isLoopbackHost(from) && isLoopbackHost(host) && port(from) === port(host)
  return from === host || loopbackTwin || ours(services.config, services.setting('mcp_url')).includes(from)
}

// The key row of a path that is no operation. Operations, MCP's too, name theirs, which operations/perform.ts asks.
const keyRowOfPath = (path: string): KeyRow | undefined => {
  if (OPEN_PATHS.test(path) || isMcp(path)) return undefined
  if (path.startsWith('/api/')) return STREAMED.test(path) ? OPENS.session : IMPORTS.test(path) ? OPENS.imports : undefined
  return ONE_SESSION.test(path) ? OPENS.session : OPENS.everything
}
const OPEN_PATHS = /^\/(?:healthz|readyz|AGENTS\.md|llms\.txt|public|join|shared|sign-in|sign-out|theme)(?:\/|$)|^\/parley-/
const STREAMED = /^\/api\/sessions\/[^/]+\/(?:stream|handoff\.md)\/?$/ // whose session it is, `mayReadSession` looks
const IMPORTS = /^\/api\/traces\/?$/
const ONE_SESSION = new RegExp(`^/sessions/(${UUID_SHAPE})(?:[./]|$)`, 'i')

const refuseUnopened = (c: Http) => {
  const key = c.get('key')
  const row = key && keyRowOfPath(c.req.path)
  if (!row) return
  if (!row[key.scope]) refuse('forbidden', notOpened(key.scope, row), { scope: key.scope })
  const [, id] = ONE_SESSION.exec(c.req.path) ?? []
  if (id !== undefined) refuseForeign(c, id)
}

// To a key of one session alone, no other session exists.
const refuseForeign = (c: Http, sessionId: string) => {
  const key = c.get('key')
  if (key && OPENS.session[key.scope] === 'own' && sessionId.toLowerCase() !== key.sessionId) refuse('not_found', NO_SUCH_SESSION)
}

const holdsAccessToken = (c: Http, { config }: Services) => {
  const bearer = bearerOf(c)
  return config.ACCESS_TOKEN !== undefined && bearer !== undefined && sameText(bearer, config.ACCESS_TOKEN)
}

// Agents need the access token, or a key, for everything. REST also opens to cookies: a person's for all of it, a reader's for what changes
// nothing, a shared link's for the paths that this link opens (the route looks up whether it is still active).
const requireAccessToken = (c: Http, services: Services, readOnly: ReadonlySet<string>, forInvited: RegExp) => {
  if (!isApi(c.req.path) || isCommand(c.req.path) || holdsAccessToken(c, services) || c.get('key')) return
  if (!isMcp(c.req.path) && (mayCall(c, personOf(c, services), readOnly) || sharedTokenOf(c) !== undefined)) return
  const refuseTokenless = () => unauthorized(personOf(c, services)?.role === 'reader' ? READS_ONLY : LOCKED)
  if (!mayBeInvited(c, forInvited)) refuseTokenless()
  c.set('refuseTokenless', refuseTokenless)
}

const LOCKED =
  'This server needs its access token, or a key: send Authorization: Bearer <token>. Ask the operator for it, or a person for an invitation.'
const READS_ONLY =
  "You signed in with the viewer's password, which only allows reading. Sign in with the operator key or a link of your own, or send the access token or a key as Authorization: Bearer <token>."

// The body may hold the code of an invitation, or a team_id that came of one, and is not read yet. So such a request passes here, and
// operations, MCP and imports refuse it if it brings neither (Call.refuseTokenless).
const mayBeInvited = ({ req }: Http, forInvited: RegExp): boolean =>
  (((isMcp(req.path) || IMPORTS.test(req.path)) && req.method === 'POST') || (forInvited.test(req.path) && CALLING.has(req.method))) &&
  (req.header('x-invite') !== undefined || req.header('x-team-id') !== undefined || req.method !== 'GET')
const CALLING = new Set(['GET', 'POST', 'PUT', 'PATCH'])

// The REST paths under which an operation takes teams, or may let a call in without the access token. Each judges the call itself, as it
// does one over MCP: an invited team may call by either door what teams may.
const pathsForInvited = (toolsets: readonly Toolset[]): RegExp => {
  const taking = toolsets
    .flatMap(({ operations }) => operations)
    .filter(({ callers, letsIn }) => letsIn !== undefined || callers.some(({ kind }) => kind === 'team'))
  return new RegExp(`^/api/(?:${[...new Set(taking.map(({ route }) => route[1].split('/')[1]))].join('|')})(?:/|$)`)
}

const mayCall = ({ req: { method, path } }: Http, person: Person | undefined, readOnly: ReadonlySet<string>): boolean => {
  if (person?.role !== 'reader') return person !== undefined
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && readOnly.has(path.replace(/\/+$/, '')))
}

const readOnlyPosts = (toolsets: readonly Toolset[]): ReadonlySet<string> =>
  new Set(
    toolsets.flatMap(({ readOnlyPosts, operations }) =>
      readOnlyPosts ? operations.filter(({ effect }) => effect === 'read').map(({ route }) => `/api${route[1]}`) : [],
    ),
  )

/** May this request read what the pages show? Everybody may, unless VIEWER_PASSWORD or ACCESS_TOKEN is set. */
export const mayRead = (c: Http, services: Services): boolean =>
  readsForGood(c, services) || personOf(c, services) !== undefined || keyOpens(c, OPENS.everything)

const keyOpens = (c: Http, row: KeyRow) => {
  const key = c.get('key')
  return key !== undefined && row[key.scope] !== false
}

/** May it read by a right that stays valid as long as the server runs? Its streams need not be checked again. */
export const readsForGood = (c: Http, services: Services): boolean => {
  return arePagesOpen(services) || holdsAccessToken(c, services)
}

/** May everybody who reaches this server read what it shows? */
export const arePagesOpen = ({ config }: Pick<Services, 'config'>): boolean =>
  config.ACCESS_TOKEN === undefined && config.VIEWER_PASSWORD === undefined

/** May it see the page at its path? */
export const mayReadPage = async (c: Http, services: Services): Promise<boolean> =>
  mayRead(c, services) || keyOpens(c, OPENS.session) || isShared(c, services) // whose own session a key reads, the guards have looked

/** Refuses who may not read, with `advice`. What an open page asks for is not led to the sign-in page: its script would put that into its own. */
export const readersOnly =
  (may: (c: Http) => boolean | Promise<boolean>, advice: string): MiddlewareHandler<Env> =>
  async (c, next) =>
    (await may(c)) ? next() : refuse('unauthorized', advice)

/** What the refusal of a read advises: what this server takes. `session`: whether the teams of one session may read it. */
export const howToRead = ({ config }: Services, session: boolean): string => {
  const ways = [...(session ? ['your team_id as X-Team-ID'] : []), ...(config.ACCESS_TOKEN === undefined ? [] : ['the access token'])]
  return `Sign in, or send ${[...ways, 'a key of the scope read or full'].join(', or ')}`
}

/** May it read this session? Its own teams may too, and whoever has its shared link may read what that opens. `sessionId`: the id under
 *  which the session is then looked up, which may be a part of what stands in the path (`idWithin`). */
export const mayReadSession = async (c: Http, services: Services, sessionId: string): Promise<boolean> => {
  refuseForeign(c, sessionId)
  if (mayRead(c, services) || keyOpens(c, OPENS.session)) return true
  const member = await memberBy(services, sessionId, c.req.header('x-team-id'))
  return (member?.left === false && (member.invited || !c.get('refuseTokenless'))) || isShared(c, services)
}
