// What will be changed in a client's settings, before anything is.
import { structuredPatch } from 'diff'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '../clients.ts'
import type { ChangedFile, Connection, Later } from '../connections.ts'
import { add, has, notUnderstood, valueOf, withoutTokens } from './formats.ts'
import { insert } from './insertion.ts'
import { readSettings, refuseReadOnly } from './settings-file.ts'
import { topLayer, unstacked } from './stack.ts'

export interface Planned {
  path: string
  before: string | undefined
  /** Undefined: the file goes, for it was made by us and nothing else is in it. */
  after: string | undefined
  file: ChangedFile
  later: Later[]
}

/** What `change` makes of its file. `earlier`: the connection that it replaces, among `all` of the client. Throws Stop with the lines to paste
 *  for a file that is not understood. */
export const planOf = (change: Change, earlier: Connection | undefined, all: Connection[]): Planned => {
  const { path } = change
  const before = readSettings(path)
  const text = before ?? ''
  if (!valueOf(change, text)) throw notUnderstood(change)
  const former = earlier?.files.find((file) => file.path === path)
  const isWanted = !former || isDeepStrictEqual(former.entries, change.entries) // else something of ours is to go
  if (isWanted && has(change, text))
    return { path, before, after: before, file: former ?? { ...change, made: [], wasMissing: false }, later: [] }
  const base = former ? unstacked(text, former, earlier!, all) : { text, later: [] }
  const made = has(change, base.text) ? [] : add(change, base.text)
  if (!made) throw notUnderstood(change)
  refuseReadOnly(path)
  const wasMissing = former?.wasMissing ?? before === undefined
  const file = { ...change, made, wasMissing, madeFolder: former?.madeFolder, layer: topLayer(path, all) }
  return { path, before, after: made.reduce(insert, base.text), file, later: base.later }
}

/** What is left of a file when `connection` is taken out; undefined where nothing of it is there. */
export const withoutChange = (file: ChangedFile, connection: Connection, all: Connection[]): Planned | undefined => {
  const { path } = file
  const before = readSettings(path)
  if (before === undefined || file.made.length === 0) return undefined
  if (!valueOf(file, before)) throw notUnderstood(file, 'Take out')
  const { text, later } = unstacked(before, file, connection, all)
  if (text === before) return undefined
  refuseReadOnly(path)
  const isEmpty = text.trim() === '' || text.replaceAll(/\s/g, '') === '{}'
  return { path, before, after: file.wasMissing && isEmpty ? undefined : text, file, later }
}

const AROUND = 2 // lines shown around a change

/** The change of a file as lines with + and -, without access tokens. */
export const shownDiff = ({ path, before = '', after = '' }: Planned): string => {
  const { hunks } = structuredPatch(path, path, before, after, '', '', { context: AROUND })
  const lines = hunks.flatMap((hunk) => hunk.lines.filter((line) => !line.startsWith('\\')).map((line) => `  ${line}`))
  return withoutTokens([path, ...lines].join('\n'))
}
