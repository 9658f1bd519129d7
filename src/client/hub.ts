// A hub: a Parley server that this program was connected to. What it answers is checked before it is used, for another program may listen
// on its port by now.
import { baseOfLink, isLoopback } from '../core/address.ts'
import { valueIn } from '../core/lookup.ts'
import { quoted } from '../core/text/shell-word.ts'
import { Stop } from './machine.ts'

export interface Hub {
  /** The MCP link. */
  link: string
  /** Its ACCESS_TOKEN, where it has one. */
  token: string | undefined
}

export interface HubAnswer {
  status: number
  body: any // whatever came
  headers: Headers
}

/** Nothing answered, or not in JSON. */
export class Unreachable extends Error {}

interface AskOptions {
  token?: string | undefined
  team?: string
  withinMs: number
  signal?: AbortSignal
}

/** GETs a path below a hub's base URL. Throws Unreachable. Follows no redirect: a credential goes to the hub alone. */
export const askHub = async (base: string, path: string, { token, team, withinMs, signal }: AskOptions): Promise<HubAnswer> => {
  const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(team && { 'x-team-id': team }) }
  const signals = [AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]
  try {
    const response = await fetch(base + path, { headers, redirect: 'manual', signal: AbortSignal.any(signals) })
    const elsewhere = redirectsTo(response, base)
    if (elsewhere !== undefined) throw new Unreachable(`${NOT_PARLEY} and redirects to ${elsewhere}`)
    return { status: response.status, body: await bodyOf(response), headers: response.headers }
  } catch (error) {
    throw error instanceof Unreachable ? error : new Unreachable(whyNot(error))
  }
}

// What says 502 in HTML is a proxy before a hub that is away.
const bodyOf = (response: Response): Promise<unknown> =>
  response.json().catch((error) => {
    throw error instanceof SyntaxError && response.status >= 500 ? new Unreachable(`HTTP ${response.status}`) : error
  })

const NOT_PARLEY = 'something answers there that is not Parley'

/** The origin that an answer redirects to; undefined for any other answer. */
export const redirectsTo = ({ status, headers }: Response, from: string): string | undefined => {
  const location = headers.get('location')
  const redirects = status >= 300 && status < 400 && location !== null && URL.canParse(location, from)
  return redirects ? new URL(location, from).origin : undefined
}

/** Why a call had no answer. */
export const whyNot = (error: unknown): string => {
  const { name, cause, code, message } = error as Error & { code?: string; cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError') return 'no answer in time'
  if (error instanceof SyntaxError) return NOT_PARLEY
  const why = cause?.code ?? cause?.message ?? code ?? message
  const means = valueIn(MEANS, why)
  return means ? `${means}: ${why}` : why
}

const CUT_OFF = 'it ended the connection without an answer; perhaps it wants https'
const NO_HTTPS = 'it speaks no https; perhaps it wants http'
const UNTRUSTED = 'its certificate is not trusted here; NODE_EXTRA_CA_CERTS=FILE adds it'
const MEANS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of this name',
  ECONNRESET: CUT_OFF,
  UND_ERR_SOCKET: CUT_OFF,
  EPROTO: NO_HTTPS,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_HTTPS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
}

/** What GET /api/config says. */
export interface HubConfig {
  link: string
  /** The URL of its newest program `parley`; undefined for a hub that has none. */
  program: string | undefined
}

/** The hub's configuration, checked; undefined when the answer is not Parley's. */
export const hubConfigOf = ({ status, body }: HubAnswer): HubConfig | undefined => {
  if (status !== 200 || typeof body?.mcp_url !== 'string' || !/^https?:/.test(body.mcp_url) || !URL.canParse(body.mcp_url)) return undefined
  return { link: body.mcp_url, program: URL.canParse(body.client) ? body.client : undefined }
}

/** The MCP link that a person gave, also by the hub's base URL. Throws Stop. */
export const linkOf = (given: string): string => {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new Stop(`--hub needs the address of a Parley, such as http://127.0.0.1:7423/mcp, and ${JSON.stringify(given)} is none.`)
  const { origin, pathname, search } = new URL(given)
  const base = baseOfLink(given)
  return base === origin + pathname.replace(/\/$/, '') ? `${base}/mcp${search}` : given
}

/** Can somebody between this machine and the hub change what it sends? */
export const isUnguarded = (link: string): boolean => new URL(link).protocol === 'http:' && !isLoopback(new URL(link).hostname)

/** Why a link that is unguarded is refused, and what to do. `can`: what somebody on the way is able to do. */
export const refusedAsUnguarded = (link: string, can: string): string =>
  `${link} is plain http to another machine: whoever is on the way can ${can}. Reach the hub ${guardedWays(link)}. In a network that you trust, add --insecure.`

/** The ways to the hub of an unguarded link on which nobody can change what is sent, as the end of a sentence. */
export const guardedWays = (link: string): string => {
  const { hostname, port, pathname, search } = new URL(link)
  const far = port || '80'
  const near = Number(far) < FIRST_FREE_PORT ? '7423' : far
  const tunnel = `ssh -N -L ${near}:127.0.0.1:${far} ${hostname.replaceAll(/[[\]]/g, '')}`
  const tunnelled = `http://127.0.0.1:${near}${pathname.replace(/\/$/, '')}${search}`
  return `by https, or through an ssh tunnel: leave \`${tunnel}\` running, and add --hub ${quoted(tunnelled)}`
}

const FIRST_FREE_PORT = 1024 // below it only an administrator's programs may listen

/** Can somebody change what is sent on the way to this link, and nobody on the way to the other? What goes to the other must not follow to
 *  this one. */
export const isLessGuarded = (link: string, other: string): boolean => isUnguarded(link) && !isUnguarded(other)

/** Whether two links lead to one hub: one may be to other toolsets than the other. */
export const sameHub = (a: string, b: string): boolean => baseOfLink(a) === baseOfLink(b)

/** The host and port as one word, for names. */
export const hostWord = (link: string): string => new URL(link).host.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')
