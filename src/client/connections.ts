// What `connect` has changed on this machine, kept in ~/.parley so that `disconnect` can take out exactly that.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, ClientName, WakeFor } from './clients.ts'
import { dropWhole, parleyFolder, readOwn, removeFile, RUNNER, writeOwn } from './folder.ts'
import { sameHub } from './hub.ts'
import type { Insertion } from './settings/insertion.ts'

/** One settings file as it was changed. */
export type ChangedFile = Change & {
  made: Insertion[]
  /** There was no such file. */
  wasMissing: boolean
  /** The outermost folder that was made for it. */
  madeFolder?: string | undefined
  /** The place among the connections that changed this file: a higher one lies over a lower one. Older versions of the program kept none. */
  layer?: number
}

export interface Connection {
  client: ClientName
  link: string
  server: string
  token?: string | undefined
  wakeFor: WakeFor
  guard?: boolean
  version: string
  files: ChangedFile[]
}

/** A file of a connection that lies above another one's, as it stands now. */
export interface Later {
  connection: Connection
  file: ChangedFile
}

const fileIn = (home: string): string => join(parleyFolder(home), 'connections.json')

export const connectionsOf = (home: string): Connection[] => readOwn<{ connections: Connection[] }>(fileIn(home))?.connections ?? []

const sameConnection = (a: Pick<Connection, 'client' | 'link'>, b: Pick<Connection, 'client' | 'link'>): boolean =>
  a.client === b.client && a.link === b.link

/** The connection of a client to the hub of this link. There is one; older versions of the program made one for each link, and then it is
 *  that of the link itself before any other. */
export const connectionTo = (all: Connection[], client: ClientName, link: string): Connection | undefined => {
  const own = all.filter((each) => each.client === client && sameHub(each.link, link))
  return own.find((each) => each.link === link) ?? own[0]
}

/** Keeps a connection as it is now, in the place of `earlier`, and how files of the others stand now. `isTaken`: the hub takes its access
 *  token. A hub has one: it becomes that of every other connection to the hub. */
export const keepConnection = (
  home: string,
  connection: Connection,
  isTaken: boolean,
  earlier: Connection | undefined,
  later: Later[] = [],
): void => {
  const all = withFiles(connectionsOf(home), later).map((other) =>
    isTaken && sameHub(other.link, connection.link) ? { ...other, token: connection.token } : other,
  )
  const isEarlier = (other: Connection) => sameConnection(other, earlier ?? connection)
  keepAll(home, all.some(isEarlier) ? all.map((other) => (isEarlier(other) ? connection : other)) : [...all, connection])
}

/** Forgets a connection, and keeps how files of others stand now. */
export const dropConnection = (home: string, connection: Connection, later: Later[]): void =>
  keepAll(
    home,
    withFiles(connectionsOf(home), later).filter((other) => !sameConnection(other, connection)),
  )

const withFiles = (connections: Connection[], later: Later[]): Connection[] =>
  connections.map((each) => {
    const own = later.filter(({ connection }) => sameConnection(connection, each)).map(({ file }) => file)
    return { ...each, files: each.files.map((file) => own.find(({ path }) => path === file.path) ?? file) }
  })

// Writes the whole record at once, so that a failure leaves it as it was.
const keepAll = (home: string, connections: Connection[]): void => {
  if (connections.length > 0) writeOwn(fileIn(home), { connections })
  else removeFile(fileIn(home))
}

/** After the last connection nothing is left on this machine but what a runner keeps: without its memory it would not find the worktrees again
 *  that it has made, nor `runner prune` remove them. Returns a sentence for each thing that could not be removed. */
export const dropFolder = (home: string): string[] => {
  const folder = parleyFolder(home)
  if (connectionsOf(home).length > 0 || !existsSync(folder)) return []
  const names = readdirSync(folder)
  const stuck = names.filter((name) => name !== RUNNER).flatMap((name) => dropWhole(join(folder, name)))
  return stuck.length > 0 || names.includes(RUNNER) ? stuck : dropWhole(folder)
}
