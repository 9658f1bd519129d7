// A server that listens on a wildcard is reached at any of its addresses; on its own machine at this one.
const REACHED_AT: Record<string, string> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]', '[::ffff:0:0]': '127.0.0.1', '*': '127.0.0.1' }

/** The link, for somebody on the same machine, to what listens on this host (a name or an address, IPv6 with brackets or without). */
export const urlAt = (host: string, port: number | undefined): string => {
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  // In one spelling: `::0` and `0:0::0` are wildcards too. What is no host in a link, such as an address with a zone, stays as it is.
  const name = URL.canParse(`http://${bracketed}`) ? new URL(`http://${bracketed}`).hostname : bracketed
  return `http://${REACHED_AT[name] ?? name}:${port}`
}
