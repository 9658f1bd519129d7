// Which access token a hub is sent: the one that `connect` keeps for it comes first, for PARLEY_TOKEN may be another hub's.
import { baseOfLink } from '../core/address.ts'
import { connectionsOf } from './connections.ts'
import { askHub, sameHub } from './hub.ts'
import type { Machine } from './machine.ts'

const WITHIN_MS = 5_000

/** The token that `connect` keeps for a hub. Of connections that an older version of the program kept, the newest has the current one. */
export const keptToken = (home: string, link: string): string | undefined =>
  connectionsOf(home).findLast((connection) => connection.token && sameHub(connection.link, link))?.token

/** The kept token, or PARLEY_TOKEN where none is kept. */
export const knownToken = ({ home, env }: Machine, link: string): string | undefined =>
  keptToken(home, link) ?? (env.PARLEY_TOKEN || undefined)

/** The known token, or PARLEY_TOKEN where the hub does not take the kept one any more: by that a person gives a new one. */
export const currentToken = async (machine: Machine, link: string): Promise<string | undefined> => {
  const known = knownToken(machine, link)
  const given = machine.env.PARLEY_TOKEN
  return given && given !== known && (await refuses(link, known)) ? given : known
}

const refuses = (link: string, token: string | undefined): Promise<boolean> =>
  askHub(baseOfLink(link), '/api/config', { token, withinMs: WITHIN_MS }).then(
    ({ status }) => status === 401,
    () => false,
  )
