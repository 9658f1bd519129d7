// Which files a command names: a file as it is, a folder by what in it looks like a transcript.
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface TranscriptFile {
  path: string
  size: number
  /** Named by itself: if it is not a transcript, that is a mistake to be reported. */
  named: boolean
}

const LOOKS_LIKE_ONE = /\.jsonl$|(?:^|\/)session-[^/]*\.json$/

/** Throws with a sentence for a path that is not there. */
export const transcriptFiles = (paths: string[]): TranscriptFile[] =>
  paths.flatMap((given): TranscriptFile[] => {
    const path = resolve(given)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) throw new NoSuchPath(`There is nothing at ${given}.`)
    if (!found.isDirectory()) return [{ path, size: found.size, named: true }]
    return readdirSync(path, { recursive: true })
      .map((name) => join(path, String(name)))
      .filter((file) => LOOKS_LIKE_ONE.test(file))
      .toSorted()
      .flatMap((file) => {
        const stat = statSync(file, { throwIfNoEntry: false })
        return stat?.isFile() ? [{ path: file, size: stat.size, named: false }] : []
      })
  })

export class NoSuchPath extends Error {}
