// Imports files and folders one after the other, shows its progress, and prints a summary.
import { basename } from 'node:path'
import { Refusal } from '../../core/errors.ts'
import { isAboutFile } from '../../core/file-error.ts'
import { counted } from '../../core/text/numbers.ts'
import { Stop, type Terminal } from '../machine.ts'
import { Bar } from './bar.ts'
import { NoSuchPath, transcriptFiles, type TranscriptFile } from './files.ts'

/** What an import of one file says, in the wire's names. */
export interface ImportReport {
  added: number
  skipped: { line: number; reason: string }[]
  skipped_count: number
}

/** Imports one file, and calls `onProgress` with how many of its bytes are read. */
export type ImportFile = (file: TranscriptFile, onProgress: (bytes: number) => void) => Promise<ImportReport>

/** The command's arguments are wrong, or a file that was named could not be imported. Its message is for the person at the terminal. */
export class ImportFailed extends Stop {}

/** This file could not be imported, which says nothing of the others. */
export class FileFailed extends Error {}

/** Imports all of these files and folders, one file after the other; a path that does not exist is named at the end, for not everybody has
 *  every client. Throws NoSuchPath if none exists, at the end if a file or folder could not be read or imported, and at once, after it has
 *  said which and what does not exist, if the others cannot be either; a file within a folder that is no transcript is passed over. */
export const importAll = async (paths: string[], importFile: ImportFile, out: Terminal): Promise<void> => {
  const sums = { imported: 0, unchanged: 0, other: 0, events: 0, skipped: 0 }
  const failed: string[] = []
  const absent: string[] = []
  const files = transcriptFiles(
    paths,
    (path) => absent.push(path),
    (line) => failed.push(line),
  )
  const nothing = `There is nothing at ${absent.join(', ')}.`
  if (absent.length === paths.length) throw new NoSuchPath(nothing)
  const notThere = absent.length > 0 ? [nothing] : []
  const bar = new Bar(
    out,
    files.reduce((sum, { size }) => sum + size, 0),
  )
  for (const file of files) {
    const name = basename(file.path)
    try {
      const { added, skipped, skipped_count } = await importFile(file, (bytes) => bar.at(bytes, name, sums.events))
      sums[added > 0 ? 'imported' : 'unchanged']++
      sums.events += added
      sums.skipped += skipped_count
      for (const { line, reason } of skipped.slice(0, SKIPPED_SHOWN)) bar.say(`${file.path}:${line}: ${reason}`)
      if (skipped_count > SKIPPED_SHOWN) bar.say(`${file.path}: ${counted(skipped_count - SKIPPED_SHOWN, 'more line')} like these`)
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof FileFailed || isAboutFile(error, file.path))) {
        bar.clear()
        for (const line of [...notThere, ...failed]) out.write(`${line}\n`)
        throw error
      }
      if (error instanceof Refusal && error.code === 'invalid_request' && !file.named) sums.other++
      else failed.push(`${file.path}: ${error.message}`)
    }
    bar.done(file.size, name, sums.events)
  }
  bar.clear()
  const parts = [
    `${counted(sums.events, 'event')} from ${counted(sums.imported, 'transcript')}`,
    ...(sums.unchanged ? [`${sums.unchanged} had nothing new`] : []),
    ...(sums.other ? [`${counted(sums.other, 'other file')} left out`] : []),
    ...(sums.skipped ? [`${counted(sums.skipped, 'line')} skipped`] : []),
  ]
  out.write(`Imported ${parts.join(', ')}.\n`)
  for (const line of notThere) out.write(`${line}\n`)
  if (failed.length > 0) throw new ImportFailed(failed.join('\n'))
}

const SKIPPED_SHOWN = 10
