// Several hubs in one settings file lie upon each other: what the first one put in may hold the second one's entry.
import type { ChangedFile, Connection, Later } from '../connections.ts'
import { add, notUnderstood, remove } from './formats.ts'
import { insert } from './insertion.ts'

export interface Unstacked {
  text: string
  /** Files that lie above it, as these stand in the text now. */
  later: Later[]
}

/** The text of a file without what `connection` put there. `all`: the connections of the client. Throws Stop with the lines to take out where
 *  they stand in another way than they were put there. */
export const unstacked = (text: string, file: ChangedFile, connection: Connection, all: Connection[]): Unstacked => {
  const layers = layersOf(file.path, all)
  const above = layers
    .slice(layers.findIndex((each) => each.connection === connection) + 1)
    .filter((each) => each.file.made.length > 0)
    .map((each, n) => (n === 0 ? { ...each, file: heirOf(file, each.file) } : each))
  if (file.format === 'toml') return { text: removed(text, file), later: above } // a table there lies in no other one's text
  const bare = above.reduceRight((left, { file: lying }) => removed(left, lying), text)
  let now = removed(bare, file)
  const later = above.map(({ connection: other, file: lying }) => {
    const made = add(lying, now) ?? []
    now = made.reduce(insert, now)
    return { connection: other, file: { ...lying, made } }
  })
  return { text: now, later }
}

// The insertions of all connections into a file, the lowest first; those without a layer lie in the order of the connections.
const layersOf = (path: string, all: Connection[]): Later[] =>
  all
    .flatMap((connection) => connection.files.filter((file) => file.path === path).map((file) => ({ connection, file })))
    .toSorted((a, b) => layerOf(a.file) - layerOf(b.file))

const layerOf = ({ layer = 0 }: ChangedFile): number => layer

/** Above all that connections have put into a file. */
export const topLayer = (path: string, all: Connection[]): number =>
  1 + Math.max(0, ...layersOf(path, all).map(({ file }) => layerOf(file)))

// A file or folder that was made for the connection that goes is for the next one to remove.
const heirOf = ({ wasMissing, madeFolder }: ChangedFile, next: ChangedFile): ChangedFile => {
  return { ...next, wasMissing: wasMissing || next.wasMissing, madeFolder: madeFolder ?? next.madeFolder }
}

const removed = (text: string, file: ChangedFile): string => {
  if (file.made.length === 0) return text
  const left = remove(file, text, file.made)
  if (left === undefined) throw notUnderstood(file, 'Take out')
  return left
}
