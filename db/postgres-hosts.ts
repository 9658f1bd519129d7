// A URL may name several hosts, of which one is the primary: postgres://user@one,two:5433/database.

interface Hosts {
  target_session_attrs?: 'primary'
}

const authority = (url: string) => url.slice(url.lastIndexOf('@') + 1).replace(/^\w+:\/\//, '')

/** The driver's option for the hosts of `url`: of several, the one that takes writes, unless the URL itself says which. */
export const hostsOf = (url: string): Hosts =>
  authority(url).split(/[/?]/)[0]!.includes(',') && !url.includes('target_session_attrs=') ? { target_session_attrs: 'primary' } : {}
