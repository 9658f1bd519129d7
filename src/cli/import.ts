// `bun run import PATH… [--url URL]`: imports files and folders, shows how far it is, and tells what it did.
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { Refusal, type ErrorCode } from '../core/errors.ts'
import { jsonLines } from '../core/json-lines.ts'
import type { Services } from '../process/services.ts'
import { transcriptFiles, type TranscriptFile } from './import-files.ts'
import { fileSource } from '../import/source.ts'
import { importTranscript, type Report } from '../import/transcript.ts'

/** Imports one file; `told` hears how many of its bytes are read. */
export type Importing = (file: TranscriptFile, told: (bytes: number) => void) => Promise<Report>

export interface Terminal {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** The command cannot be run as it was given, or a file that was named could not be imported. */
export class ImportFailed extends Error {}

export interface Wanted {
  paths: string[]
  url: string | undefined
}

/** What the command's words ask for. */
export const importArguments = (words: string[]): Wanted => {
  const paths = [...words]
  const at = paths.findIndex((word) => word === '--url' || word.startsWith('--url='))
  const [word] = at < 0 ? [] : paths.splice(at, 1)
  const url = word === undefined ? undefined : word === '--url' ? paths.splice(at, 1)[0] : word.slice('--url='.length)
  const unclear = paths.find((path) => path.startsWith('-'))
  if (paths.length === 0 || unclear || (word && !URL.canParse(url ?? '')))
    throw new ImportFailed('Usage: bun run import PATH… [--url http://host:port], where a PATH is a transcript or a folder of them.')
  return { paths, url }
}

/** Straight into the database. */
export const intoDatabase =
  (services: Services): Importing =>
  ({ path }, told) =>
    importTranscript(services, fileSource(path, told))

/** Through the server that holds the embedded database: it reads the file itself. */
export const throughHolder =
  (url: string, secret: string): Importing =>
  async ({ path }, told) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/commands/import`, { method: 'POST', headers, body: JSON.stringify({ path }) })
    if (!response.ok) return refusedWith((await response.json()) as Answer)
    for await (const { report, error, code, read } of jsonLines<Said>(response.body!)) {
      if (report) return report
      if (error !== undefined) throw new Refusal(code!, error)
      told(read ?? 0)
    }
    throw new ImportFailed(`The server at ${url} stopped responding. Run the command again: it continues where it stopped.`)
  }

interface Said {
  read?: number
  report?: Report
  error?: string
  code?: ErrorCode
}

/** To any server, over POST /api/traces. */
export const toServer =
  (url: string, accessToken: string | undefined): Importing =>
  async ({ path }, told) => {
    const to = new URL('/api/traces', url)
    to.searchParams.set('name', basename(path))
    const headers = { 'content-type': 'application/x-ndjson', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
    const response = await fetch(to, { method: 'POST', headers, body: bodyOf(path, told), duplex: 'half' } as RequestInit)
    const answer = (await response.json()) as Answer & Report
    return response.ok ? answer : refusedWith(answer)
  }

const bodyOf = (path: string, told: (bytes: number) => void) => {
  const chunks = createReadStream(path, { highWaterMark: 1024 * 1024 })[Symbol.asyncIterator]()
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) return controller.close()
      controller.enqueue(value as Uint8Array)
      told((sent += (value as Uint8Array).length))
    },
  })
}

interface Answer {
  error?: { code: ErrorCode; message: string }
}
const refusedWith = ({ error }: Answer): never => {
  throw error ? new Refusal(error.code, error.message) : new ImportFailed("The server's answer was not understood.")
}

/** Imports all of them, one after the other. Throws when one that was named by itself could not be. */
export const importAll = async (paths: string[], importing: Importing, out: Terminal): Promise<void> => {
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
      const { added, skipped, skipped_count } = await importing(file, (bytes) => bar.at(bytes, name, sums.events))
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

// One line that is rewritten again and again, only on a terminal.
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
