// The MCP servers that a client knows already: ours must not take another's name.
import { CLIENTS, type ClientName, type Wish } from '../clients.ts'
import { connectionsOf } from '../connections.ts'
import { Stop, type Machine } from '../machine.ts'
import { valueOf } from './formats.ts'
import { readSettings } from './settings-file.ts'

const NAME = 'parley'

interface Names {
  /** The one that a person gave, now or before. */
  asked: string | undefined
  /** In place of "parley", where that is another hub. */
  second: string
  /** The entry that was added for this hub before: its person may have changed the link since. */
  added: { server: string; files: readonly { path: string }[] } | undefined
}

/** The name under which the hub is added. Throws Stop where somebody else's server has it. */
export const serverNamed = (machine: Machine, client: ClientName, link: string, { asked, second, added }: Names): string => {
  if (asked !== undefined && !/^[A-Za-z0-9_-]{1,40}$/.test(asked))
    throw new Stop(`--name takes letters, digits, - and _, and ${JSON.stringify(asked)} has others.`)
  const { path, servers } = serversOf(machine, client, link)
  const name = asked ?? NAME
  const there = urlOf(servers[name])
  const isThisOne = added?.server === name && added.files.some((file) => file.path === path)
  if (servers[name] === undefined || there === link || isThisOne) return name
  const isOurs = connectionsOf(machine.home).some((other) => other.client === client && other.server === name)
  if (isOurs && asked === undefined && servers[second] === undefined) return second
  throw new Stop(
    `${CLIENTS[client].title} has another MCP server named "${name}"${there ? ` (${there})` : ''}. It stays as it is: choose another name for this one with --name.`,
  )
}

/** Whether the client has this very server by its person's own doing. */
export const ownServer = (machine: Machine, client: ClientName, { link, server }: Pick<Wish, 'link' | 'server'>): boolean =>
  urlOf(serversOf(machine, client, link).servers[server]) === link

const serversOf = (machine: Machine, client: ClientName, link: string): { path: string; servers: Record<string, unknown> } => {
  const { changes, serversAt } = CLIENTS[client]
  const [change] = changes(machine, { link, token: undefined, server: NAME, wakeFor: 'all', guard: false, call: () => '' })
  const { path } = change!
  const servers = valueOf(change!, readSettings(path) ?? '')?.[serversAt]
  return { path, servers: typeof servers === 'object' && servers !== null ? (servers as Record<string, unknown>) : {} }
}

const urlOf = (server: unknown): string | undefined => {
  const { url, httpUrl } = (server ?? {}) as { url?: unknown; httpUrl?: unknown }
  const found = url ?? httpUrl
  return typeof found === 'string' ? found : undefined
}
