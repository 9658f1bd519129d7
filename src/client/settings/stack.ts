// Several hubs in one settings file lie upon each other: what the first one put in may hold the second one's entry.
import type { ChangedFile, Connection } from '../connections.ts'
import { add, remove } from './formats.ts'
import { insert } from './insertion.ts'

export interface Unstacked {
  text: string
  /** Files of connections made after it, as these stand in the text now. */
  later: Later[]
}

export interface Later {
  connection: Connection
  file: ChangedFile
}

/** The text of a file without what `connection` put there. `all`: the connections of the client, in the order in which they were made. */
export const unstacked = (text: string, file: ChangedFile, connection: Connection, all: Connection[]): Unstacked => {
  const above = all.slice(all.indexOf(connection) + 1).flatMap((other): Later[] => {
    const lying = other.files.find(({ path, made }) => path === file.path && made.length > 0)
    return lying ? [{ connection: other, file: lying }] : []
  })
  const bare = above.reduceRight((left, { file: lying }) => removed(left, lying), text)
  let now = removed(bare, file)
  const later = above.map(({ connection: other, file: lying }, n) => {
    const made = add(lying, now) ?? []
    now = made.reduce(insert, now)
    const first = n === 0 && { wasMissing: file.wasMissing || lying.wasMissing, madeFolder: file.madeFolder ?? lying.madeFolder }
    return { connection: other, file: { ...lying, made, ...first } }
  })
  return { text: now, later }
}

const removed = (text: string, file: ChangedFile): string => (file.made.length > 0 ? remove(file, text, file.made) : text)
