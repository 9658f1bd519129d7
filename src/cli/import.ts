// `bun run import PATH… [--url URL]`: imports files and folders, shows its progress, and prints a summary.
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { Refusal, type ErrorCode } from '../core/errors.ts'
import { jsonLines } from '../core/json-lines.ts'
import type { Services } from '../process/services.ts'
import { transcriptFiles, type TranscriptFile } from './import-files.ts'
import { fileSource } from '../import/source.ts'
import { importTranscript, type ImportReport } from '../import/transcript.ts'

/** Imports one file, and calls `onProgress` with how many of its bytes are read. */
export type ImportFile = (file: TranscriptFile, onProgress: (bytes: number) => void) => Promise<ImportReport>

export interface Terminal {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** The command's arguments are wrong, or a file that was named could not be imported. Its message is for the person at the terminal. */
export class ImportFailed extends Error {}

export interface ImportArguments {
  paths: string[]
  url: string | undefined
}

const USAGE = 'Usage: bun run import PATH… [--url http://host:port], where a PATH is a transcript or a folder of them.'

export const importArguments = (words: string[]): ImportArguments => {
  const { paths, url } = parsed(words)
  if (paths.length === 0) throw new ImportFailed(USAGE)
  if (url !== undefined && !URL.canParse(url)) throw new ImportFailed(`--url needs a URL, and ${JSON.stringify(url)} is none. ${USAGE}`)
  return { paths, url }
}

const parsed = (words: string[]): ImportArguments => {
  try {
    const { positionals, values } = parseArgs({ args: words, options: { url: { type: 'string' } }, allowPositionals: true })
    return { paths: positionals, url: values.url }
  } catch (error) {
    throw new ImportFailed(`${(error as Error).message}\n${USAGE}`)
  }
}

/** Imports straight into the database. */
export const intoDatabase =
  (services: Services): ImportFile =>
  ({ path }, onProgress) =>
    importTranscript(services, fileSource(path, onProgress))

/** Imports through the server that has the embedded database open, which reads the file itself. */
export const throughLocalServer =
  (url: string, secret: string): ImportFile =>
  async ({ path }, onProgress) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/commands/import`, { method: 'POST', headers, body: JSON.stringify({ path }) })
    if (!response.ok) return throwError((await response.json()) as ErrorResponse)
    for await (const { report, error, code, read } of jsonLines<ProgressLine>(response.body!)) {
      if (report) return report
      if (error !== undefined) throw new Refusal(code!, error)
      onProgress(read ?? 0)
    }
    throw new ImportFailed(`The server at ${url} stopped responding. Run the command again: it continues where it stopped.`)
  }

interface ProgressLine {
  read?: number
  report?: ImportReport
  error?: string
  code?: ErrorCode
}

/** Sends the file to any server, by POST /api/traces. */
export const toServer =
  (url: string, accessToken: string | undefined): ImportFile =>
  async ({ path }, onProgress) => {
    const to = new URL('/api/traces', url)
    to.searchParams.set('name', basename(path))
    const headers = { 'content-type': 'application/x-ndjson', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
    const response = await fetch(to, { method: 'POST', headers, body: bodyOf(path, onProgress), duplex: 'half' } as RequestInit)
    const answer = (await response.json()) as ErrorResponse & ImportReport
    return response.ok ? answer : throwError(answer)
  }

const bodyOf = (path: string, onProgress: (bytes: number) => void) => {
  const chunks = createReadStream(path, { highWaterMark: 1024 * 1024 })[Symbol.asyncIterator]()
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) return controller.close()
      controller.enqueue(value as Uint8Array)
      onProgress((sent += (value as Uint8Array).length))
    },
  })
}

interface ErrorResponse {
  error?: { code: ErrorCode; message: string }
}
const throwError = ({ error }: ErrorResponse): never => {
  throw error ? new Refusal(error.code, error.message) : new ImportFailed("The server's answer was not understood.")
}

/** Imports all of these files and folders, one file after the other. Throws if a file that was named could not be imported. */
export const importAll = async (paths: string[], importFile: ImportFile, out: Terminal): Promise<void> => {
  const files = transcriptFiles(paths)
  const sums = { imported: 0, unchanged: 0, other: 0, events: 0, skipped: 0 }
  const failed: string[] = []
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
      if (skipped_count > SKIPPED_SHOWN) bar.say(`${file.path}: ${count(skipped_count - SKIPPED_SHOWN, 'more line')} like these`)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.code === 'invalid_request' && !file.named) sums.other++
      else failed.push(`${file.path}: ${error.message}`)
    }
    bar.done(file.size, name, sums.events)
  }
  bar.clear()
  const parts = [
    `${count(sums.events, 'event')} from ${count(sums.imported, 'transcript')}`,
    ...(sums.unchanged ? [`${sums.unchanged} had nothing new`] : []),
    ...(sums.other ? [`${count(sums.other, 'other file')} left out`] : []),
    ...(sums.skipped ? [`${count(sums.skipped, 'line')} skipped`] : []),
  ]
  out.write(`Imported ${parts.join(', ')}.\n`)
  if (failed.length > 0) throw new ImportFailed(failed.join('\n'))
}

const SKIPPED_SHOWN = 10
const count = (n: number, what: string) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`

const WIDTH = 24
const EVERY_MS = 100

// The progress, in one line that is rewritten; only on a terminal.
class Bar {
  #before = 0 // bytes of the files that are done
  #shownAt = 0
  #begun = performance.now()

  constructor(
    readonly out: Terminal,
    readonly all: number,
  ) {}

  at(bytes: number, name: string, events: number) {
    const now = performance.now()
    if (!this.out.isTTY || now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    const part = this.all === 0 ? 1 : Math.min(1, (this.#before + bytes) / this.all)
    const filled = Math.round(part * WIDTH)
    const seconds = Math.round((now - this.#begun) / 1000)
    const line = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(part * 100)} %  ${events.toLocaleString('en')} events  ${seconds} s  ${name}`
    this.out.write(`\r\x1b[2K${line.slice(0, (this.out.columns ?? 80) - 1)}`)
  }

  done(bytes: number, name: string, events: number) {
    this.#before += bytes
    this.at(0, name, events)
  }

  say(line: string) {
    this.clear()
    this.out.write(`${line}\n`)
  }

  clear() {
    if (this.out.isTTY) this.out.write('\r\x1b[2K')
  }
}
