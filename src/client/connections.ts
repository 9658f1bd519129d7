// What `connect` has changed on this machine, kept in ~/.parley so that `disconnect` can take out exactly that.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, ClientName, WakeFor } from './clients.ts'
import { parleyFolder, readOwn, RUNNER, writeOwn } from './folder.ts'
import type { Insertion } from './settings/insertion.ts'

/** One settings file as it was changed. */
export type ChangedFile = Change & {
  made: Insertion[]
  /** There was no such file. */
  wasMissing: boolean
  /** The outermost folder that was made for it. */
  madeFolder?: string | undefined
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

const fileIn = (home: string): string => join(parleyFolder(home), 'connections.json')

export const connectionsOf = (home: string): Connection[] => readOwn<{ connections: Connection[] }>(fileIn(home))?.connections ?? []

export const sameConnection = (a: Pick<Connection, 'client' | 'link'>, b: Pick<Connection, 'client' | 'link'>): boolean =>
  a.client === b.client && a.link === b.link

/** Keeps a connection, as the newest. */
export const keepConnection = (home: string, connection: Connection): void => {
  const others = connectionsOf(home).filter((other) => !sameConnection(other, connection))
  writeOwn(fileIn(home), { connections: [...others, connection] })
}

/** Keeps a connection as it is now, in its place among the others: what it put into settings lies where it lay. */
export const renewConnection = (home: string, connection: Connection): void =>
  writeOwn(fileIn(home), { connections: connectionsOf(home).map((other) => (sameConnection(other, connection) ? connection : other)) })

/** Keeps how one file of a connection stands now. */
export const keepFile = (home: string, connection: Connection, file: ChangedFile): void => {
  const now = connectionsOf(home).find((other) => sameConnection(other, connection))
  if (now) renewConnection(home, { ...now, files: now.files.map((each) => (each.path === file.path ? file : each)) })
}

/** Forgets a connection. After the last one nothing is left on this machine but what a runner keeps. */
export const dropConnection = (home: string, connection: Connection): void => {
  const others = connectionsOf(home).filter((other) => !sameConnection(other, connection))
  if (others.length > 0) writeOwn(fileIn(home), { connections: others })
  else dropAllButRunners(parleyFolder(home))
}

// Without its memory a runner would not find the worktrees again that it has made, nor `runner prune` remove them.
const dropAllButRunners = (folder: string): void => {
  const names = readdirSync(folder)
  for (const name of names) if (name !== RUNNER) rmSync(join(folder, name), { recursive: true, force: true })
  if (!names.includes(RUNNER)) rmSync(folder, { recursive: true, force: true })
}
