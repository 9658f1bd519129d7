// Finds the files of an import: those named, and in a folder those whose names look like a transcript's.
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Stop } from '../machine.ts'

export interface TranscriptFile {
  path: string
  size: number
  /** Named itself, not found in a folder: if it is no transcript, that is reported. */
  named: boolean
}

const TRANSCRIPT_NAME = /\.jsonl$|(?:^|\/)session-[^/]*\.json$/

/** Throws NoSuchPath for a path that does not exist. */
export const transcriptFiles = (paths: string[]): TranscriptFile[] =>
  paths.flatMap((given): TranscriptFile[] => {
    const path = resolve(given)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) throw new NoSuchPath(`There is nothing at ${given}.`)
    if (!found.isDirectory()) return [{ path, size: found.size, named: true }]
    return readdirSync(path, { recursive: true })
      .map((name) => join(path, String(name)))
      .filter((file) => TRANSCRIPT_NAME.test(file))
      .toSorted()
      .flatMap((file) => {
        const stat = statSync(file, { throwIfNoEntry: false })
        return stat?.isFile() ? [{ path: file, size: stat.size, named: false }] : []
      })
  })

export class NoSuchPath extends Stop {}
