// Several hubs in one settings file lie upon each other: what the first one put in may hold the second one's entry.
import type { ChangedFile, Connection, Later } from '../connections.ts'
import { add, notUnderstood, remove } from './formats.ts'
import { insert } from './insertion.ts'

export interface Unstacked {
  text: string
  /** Files of connections made after it, as these stand in the text now. */
  later: Later[]
}

/** The text of a file without what `connection` put there. `all`: the connections of the client, in the order in which they were made. Throws
 *  Stop with the lines to take out where they stand in another way than they were put there. */
export const unstacked = (text: string, file: ChangedFile, connection: Connection, all: Connection[]): Unstacked => {
  const above = all
    .slice(all.indexOf(connection) + 1)
    .flatMap((other): Later[] => {
      const lying = other.files.find(({ path, made }) => path === file.path && made.length > 0)
      return lying ? [{ connection: other, file: lying }] : []
    })
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
