// The address under which this server was called, and the link that agents are given.
import ipaddr from 'ipaddr.js'
import { baseOfLink } from '../../core/address.ts'
import type { ServerLink } from '../../core/server-link.ts'
import type { Services } from '../../process/services.ts'
import type { Http } from './http.ts'

/** Can host[:port] stand in a URL as it is? A Host header may hold anything, and links are made from it. */
export const isHost = (host: string) => /^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`)

const lastOf = (header: string | undefined) => header?.split(',').at(-1)?.trim()

/** host[:port] as the client called it: from a trusted proxy's X-Forwarded-Host, else from Host. */
export const calledHost = (c: Http, { config }: Services): string =>
  ((config.TRUST_PROXY && lastOf(c.req.header('x-forwarded-host'))) || (c.req.header('host') ?? '')).toLowerCase()

/** http or https, likewise from X-Forwarded-Proto or the URL. */
export const calledScheme = (c: Http, { config }: Services): string => {
  const forwarded = config.TRUST_PROXY ? lastOf(c.req.header('x-forwarded-proto'))?.toLowerCase() : undefined
  return forwarded === 'http' || forwarded === 'https' ? forwarded : new URL(c.req.url).protocol.replace(':', '')
}

/** The client's IP address, likewise, or its network; "unknown" where the runtime does not know it. */
export const addressOf = (c: Http, { config }: Services): string =>
  networkOf(withoutPort((config.TRUST_PROXY && lastOf(c.req.header('x-forwarded-for'))) || (c.env?.address ?? 'unknown')))

// Some proxies add the client's port, which differs with each connection.
const withoutPort = (address: string): string => /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address)?.slice(1).find(Boolean) ?? address

// Of IPv6 one machine has a whole /64: what an address may, all of that may together.
const networkOf = (address: string): string => {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address) // an IPv4 address that is written as one of IPv6 is IPv4 again
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64` : parsed.toString() // prettier-ignore
}

/** The MCP link in force, and its source: saved on the settings page, else MCP_URL, else the address of this request. */
export const linkInForce = (c: Http, services: Services): { url: string; source: 'saved' | 'environment' | 'request' } => {
  const saved = services.setting('mcp_url')
  if (saved) return { url: saved, source: 'saved' }
  if (services.config.MCP_URL) return { url: services.config.MCP_URL, source: 'environment' }
  return { url: `${calledScheme(c, services)}://${calledHost(c, services)}/mcp`, source: 'request' }
}

/** The server's base URL: the link in force without its /mcp or /mcp/TOOLSET. */
export const baseUrl = (c: Http, services: Services): string => baseOfLink(linkInForce(c, services).url)

/** The link in force, the base URL, and whether callers need the access token. */
export const serverLink = (c: Http, services: Services): ServerLink => ({
  url: linkInForce(c, services).url,
  base: baseUrl(c, services),
  token: services.config.ACCESS_TOKEN !== undefined,
})
