// The addresses under which this server is reached.

// Where a server that listens on a wildcard address is reached on its own machine.
const OF_WILDCARDS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]', '[::ffff:0:0]': '127.0.0.1', '*': '127.0.0.1' }

/** The URL of a server that listens on `host`, for somebody on the same machine. `host`: a name or an address, IPv6 with brackets or
 *  without. */
export const urlAt = (host: string, port: number | undefined): string => {
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  // URL gives an address one spelling: `::0` and `0:0::0` are wildcards too. An address that URL does not take, such as one with a zone,
  // stays as it is.
  const name = URL.canParse(`http://${bracketed}`) ? new URL(`http://${bracketed}`).hostname : bracketed
  return `http://${OF_WILDCARDS[name] ?? name}:${port}`
}

const ONLY_HERE = String.raw`localhost|127(\.\d{1,3}){3}|\[::1\]`
const LOOPBACK_NAME = new RegExp(`^(${ONLY_HERE}|::1)$`)
const LOOPBACK_HOST = new RegExp(`^(${ONLY_HERE})(:\\d+)?$`)

/** Is this name or address one that only this machine reaches? */
export const isLoopback = (name: string): boolean => LOOPBACK_NAME.test(name)

/** Is this host[:port] one that only its own machine reaches? */
export const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host)

/** The base URL of a server whose MCP link this is: the link without its /mcp or /mcp/TOOLSET, also where these stand behind /api. */
export const baseOfLink = (link: string): string => {
  const { origin, pathname } = new URL(link)
  return origin + pathname.replace(/\/((api\/)?mcp(\/[^/]+)?)?\/?$/, '')
}

/** Whether a server with this configuration answers to any host name: it is open to other machines, and nobody said by which names they reach
 *  it. */
export const answersAnyHost = ({ HOST, ALLOWED_HOSTS }: { HOST: string; ALLOWED_HOSTS: readonly string[] }): boolean =>
  !isLoopback(HOST) && ALLOWED_HOSTS.length === 0
