// `bun run import PATH… [--hub LINK]`: imports files and folders, shows its progress, and prints a summary.
import type { Server } from '../../db/lock.ts'
import { Refusal, type ErrorCode } from '../core/errors.ts'
import { jsonLines } from '../core/text/json-lines.ts'
import type { Services } from '../process/services.ts'
import { ImportFailed, type ImportFile, type ImportReport } from '../client/import/run.ts'
import { fileSource } from '../import/source.ts'
import { importTranscript } from '../import/transcript.ts'
import { responseTo } from './local-server.ts'
import { takenApart } from './words.ts'

export interface ImportArguments {
  paths: string[]
  hub: string | undefined
}

export const USAGE = 'Usage: bun run import PATH… [--hub http://host:port], where a PATH is a transcript or a folder of them.'

export const importArguments = (words: string[]): ImportArguments => {
  const failure = (message: string) => new ImportFailed(`${message}\n${USAGE}`)
  const { positionals: paths, values } = takenApart(words, OPTIONS, failure)
  const hub = values.hub ?? values.url
  if (paths.length === 0) throw new ImportFailed(USAGE)
  if (hub !== undefined && !/^https?:$/.test(URL.parse(hub)?.protocol ?? ''))
    throw new ImportFailed(`--hub needs an http:// or https:// URL, and ${JSON.stringify(hub)} is none. ${USAGE}`)
  return { paths, hub }
}

// --url is another name of --hub.
const OPTIONS = { hub: { type: 'string' }, url: { type: 'string' } } as const

/** Imports straight into the database. */
export const intoDatabase =
  (services: Services): ImportFile =>
  ({ path }, onProgress) =>
    importTranscript(services, fileSource(path, onProgress))

/** Imports through the server that has the embedded database open, which reads the file itself. */
export const throughLocalServer =
  (server: Server): ImportFile =>
  async ({ path }, onProgress) => {
    const response = await responseTo(server, 'import', { path })
    for await (const { report, error, code, read } of jsonLines<ProgressLine>(response.body!)) {
      if (report) return report
      if (error !== undefined) throw new Refusal(code!, error)
      onProgress(read ?? 0)
    }
    throw new ImportFailed(`The server at ${server.url} stopped responding. Run the command again: it continues where it stopped.`)
  }

interface ProgressLine {
  read?: number
  report?: ImportReport
  error?: string
  code?: ErrorCode
}
