// A URL may name several hosts, one of which is the primary: postgres://user@one,two:5433/database.

interface Hosts {
  target_session_attrs?: 'primary'
  host?: never // of each host one, which the driver takes and its types do not
  port?: never
}

const hostsIn = (url: string) =>
  url
    .slice(url.lastIndexOf('@') + 1)
    .replace(/^\w+:\/\//, '')
    .split(/[/?]/)[0]!
    .split(',')

/** The driver's options for the hosts of `url`: if there are several, it uses the one that takes writes, unless the URL says otherwise. */
export const hostsOf = (url: string): Hosts => {
  const hosts = hostsIn(url)
  return {
    ...(hosts.length > 1 && !url.includes('target_session_attrs=') && { target_session_attrs: 'primary' }),
    ...(hosts.some(isIPv6) && { host: hosts.map(nameOf) as never, port: hosts.map(portOf) as never }),
  }
}

// The driver takes the first colon of [2001:db8::1]:5432 for the one before the port, unless it is given both apart.
const isIPv6 = (host: string) => host.startsWith('[')
const nameOf = (host: string) => host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
const portOf = (host: string) => Number(/:(\d+)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? 5432)
