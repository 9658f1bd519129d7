// A URL may name several hosts, one of which is the primary: postgres://user@one,two:5433/database.

interface Hosts {
  target_session_attrs?: 'primary'
}

const authority = (url: string) => url.slice(url.lastIndexOf('@') + 1).replace(/^\w+:\/\//, '')

/** The driver's options for the hosts of `url`: if there are several, it uses the one that takes writes, unless the URL says otherwise. */
export const hostsOf = (url: string): Hosts =>
  authority(url).split(/[/?]/)[0]!.includes(',') && !url.includes('target_session_attrs=') ? { target_session_attrs: 'primary' } : {}
