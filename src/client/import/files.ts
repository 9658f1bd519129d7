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

/** `absent` gets each path that does not exist, `cannot` a line for each one, and each folder below, that cannot be read. */
export const transcriptFiles = (paths: string[], absent: (path: string) => void, cannot: (line: string) => void): TranscriptFile[] =>
  paths.flatMap((given) => {
    try {
      return filesAt(resolve(given), cannot)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') absent(given)
      else cannot(`${given}: ${message}`)
      return []
    }
  })

const filesAt = (path: string, cannot: (line: string) => void): TranscriptFile[] => {
  const found = statSync(path)
  if (!found.isDirectory()) return [{ path, size: found.size, named: true }]
  return namesBelow(path, cannot)
    .filter((file) => TRANSCRIPT_NAME.test(file))
    .toSorted()
    .flatMap((file) => {
      const size = sizeOf(file)
      return size === undefined ? [] : [{ path: file, size, named: false }]
    })
}

const namesBelow = (folder: string, cannot: (line: string) => void): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? namesBelow(path, cannot) : [path]
    })
  } catch (error) {
    cannot(`${folder}: ${(error as Error).message}`)
    return []
  }
}

// Undefined for what is no file, or no longer there. Why a file cannot be read is told when it is.
const sizeOf = (file: string): number | undefined => {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat?.isFile() ? stat.size : undefined
  } catch {
    return 0
  }
}

/** None of the paths exists. */
export class NoSuchPath extends Stop {}
