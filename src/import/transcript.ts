// Imports one transcript: recognises it, continues where an earlier import stopped, and writes it batch by batch. However large it is, only a
// batch and a line are in memory.
import { refuse } from '../core/errors.ts'
import { pause } from '../core/runtime/pause.ts'
import { cutAt } from '../core/text/cut-at.ts'
import { jsonIn } from '../core/text/json.ts'
import type { Services } from '../process/services.ts'
import { newestImported, sessionOfEvent } from '../stores/imports.ts'
import { isBelow } from '../stores/control/genealogy.ts'
import { sessionById, setParent } from '../stores/sessions.ts'
import { isObject, type Json } from '../transcripts/json.ts'
import { newMemory, type Memory } from '../transcripts/memory.ts'
import { unknown, type TraceEvent } from '../transcripts/trace-event.ts'
import { elementsOf, isDocument } from '../transcripts/elements.ts'
import { refuseUnknown, recognise } from '../transcripts/recognise.ts'
import { linesOf, LONGEST_LINE, type Line } from '../transcripts/lines.ts'
import { peekable, skip, tailLength, tailOf, type TranscriptSource } from './source.ts'
import { cutMark } from '../transcripts/storable.ts'
import { identified, sessionIdOf, importProgressOf, Writer, type IdentifiedEvent, type ImportProgress, type RefuseEnded } from './writer.ts'

export interface SkippedLine {
  line: number
  reason: string
}

/** The result of an import. `skipped` has the first thousand lines that could not be read; `skipped_count` counts all of them. */
export interface ImportReport {
  session_id: string
  source: string
  turns: number
  events: number
  added: number
  skipped: SkippedLine[]
  skipped_count: number
}

const HEAD_BYTES = 256 * 1024
const HEAD_RECORDS = 100
const BATCH_EVENTS = { pglite: 200, postgres: 1000 } // PGlite works on this thread: a call that comes meanwhile waits for one batch
const BATCH_BYTES = 512 * 1024
const RECORD_EVENTS = 2000 // a record's events are one batch; no program writes as many
const SKIPPED_REPORTED = 1000
const START = { bytes: 0, lines: 0, open: false, tail: '' }

/** Imports a transcript, or what is new in one that was imported before. `parent`: the session that it belongs to. */
export const importTranscript = async (
  services: Services,
  source: TranscriptSource,
  parent?: string,
  refuseEnded: RefuseEnded = async () => {},
): Promise<ImportReport> => {
  const stream = peekable(source.read(0))
  const begun =
    (await readHead(stream, source.name, HEAD_BYTES)) ?? (await readHead(stream, source.name, LONGEST_LINE + 1)) ?? refuseUnknown()
  const { recognised, document } = begun
  const original = recognised.format.ownIds ? await sessionOfEvent(services.database, recognised.identity) : undefined
  if (original !== undefined)
    refuse('conflict', 'This feed belongs to a session of this server, which already has all of it. Nothing was imported.', {
      session_id: original,
    })
  const sessionId = await sessionIdOf(services.database, recognised)
  if (parent !== undefined) await refuseForeign(services, sessionId, parent)
  const progress = await importProgressOf(services.database, sessionId)
  const writer = new Writer(services, sessionId, recognised, parent, refuseEnded)
  const fromBeginning = document || recognised.format.ownIds || progress.bytes === 0
  const awaited = recognised.format.ownIds && (await newestImported(services.database, sessionId))
  const anew = { ...progress, ...START, memory: newMemory(), again: progress.batches > 0, awaited }
  const reading = new TranscriptReader(writer, fromBeginning ? anew : progress, document)
  if (document) await reading.all(elementsOf(stream.whole()))
  else if (fromBeginning) await reading.all(linesOf(stream.whole(), START))
  else {
    const from = progress.bytes - tailLength(progress.tail)
    if (source.rereadable) await stream.end()
    const rest = source.rereadable ? source.read(from) : skip(stream.whole(), from)
    const onwards = await afterTail(rest, progress.tail, sessionId)
    if (onwards) await reading.all(linesOf(onwards, progress))
  }
  if (parent !== undefined) await refuseEnded(services.database)
  // Also when nothing was new. Another import may have tied it meanwhile.
  if (parent !== undefined && !(await setParent(services.database, sessionId, parent))) refuse('conflict', ANOTHERS)
  const session = await sessionById(services.database, sessionId)
  return {
    session_id: sessionId,
    source: recognised.format.source,
    turns: session?.turn ?? 0,
    events: session?.lastSequence ?? 0,
    added: writer.added,
    skipped: reading.skipped,
    skipped_count: reading.skippedCount,
  }
}

const ANOTHERS = 'This transcript belongs to another session, and stays there. Leave session_id out to import what is new in it.'

const refuseForeign = async ({ database }: Services, id: string, parent: string) => {
  if (parent === id || (await isBelow(database, id, parent)))
    refuse(
      'invalid_request',
      'session_id is this transcript itself, or comes from it. Name the session that it belongs to, or leave it out.',
      {
        field: 'session_id',
      },
    )
  const before = (await sessionById(database, id))?.parentSessionId ?? parent
  if (before !== parent) refuse('conflict', ANOTHERS)
}

type Stream = ReturnType<typeof peekable>

const readHead = async (stream: Stream, name: string, bytes: number) => {
  const head = await stream.head(bytes)
  const document = isDocument(head.toString('utf8').replace(/^\uFEFF/, ''))
  const records: Json[] = []
  for await (const { text } of document ? elementsOf(single(head)) : linesOf(single(head), START)) {
    const record = jsonIn(text)
    if (isObject(record)) records.push(record)
    if (records.length === HEAD_RECORDS) break
  }
  const recognised = recognise({ records, name })
  return recognised && { recognised, document }
}

async function* single(bytes: Uint8Array) {
  yield bytes
}

// The bytes behind those that were read before; undefined when the transcript ends before them, as an older copy does.
const afterTail = async (chunks: AsyncIterable<Uint8Array>, tail: string, sessionId: string) => {
  const length = tailLength(tail)
  const stream = peekable(chunks)
  const before = await stream.head(length)
  if (before.length < length) return void (await stream.end())
  if (tailOf(before) !== tail)
    refuse(
      'conflict',
      `This transcript does not continue the one imported earlier: its beginning has changed. Nothing was added. To have it as it is now, purge the earlier one on the server's machine (bun run purge ${sessionId}), then import it again.`,
      { session_id: sessionId },
    )
  return skip(stream.whole(), length)
}

const STOPPING = 'This server is stopping. Once it runs again, send the transcript once more: nothing is imported twice.'

class TranscriptReader {
  skipped: SkippedLine[] = []
  skippedCount = 0
  #events: IdentifiedEvent[] = []
  #bytes = 0
  #last: Line | undefined
  #memory: Memory
  #writing: Promise<ImportProgress>
  #batch: number

  constructor(
    readonly writer: Writer,
    progress: ImportProgress,
    readonly whole: boolean, // a document, which is read from the beginning each time
  ) {
    this.#memory = structuredClone(progress.memory)
    this.#writing = Promise.resolve(progress)
    this.#batch = BATCH_EVENTS[writer.services.database.engine]
  }

  async all(lines: AsyncIterable<Line>) {
    for await (const line of lines) {
      if (!this.#take(line)) break
      this.#last = line
      if (this.#events.length >= this.#batch || this.#bytes >= BATCH_BYTES) await this.#flush(this.#last)
    }
    if (this.#last) await this.#flush(this.#last)
    await this.#writing
  }

  // False: the line is incomplete, and is left for the next import.
  #take(line: Line): boolean {
    if (line.text.trim() === '') return true
    const record = line.left > 0 ? undefined : jsonIn(line.text)
    if (line.left > 0) {
      this.#skip(line.number, `longer than ${LONGEST_LINE / 1024 / 1024} MiB: only its beginning was kept`)
      this.#add(line, { ...unknown({}), content: { text: `${cutAt(line.text, 65_536)}\n${cutMark(line.left)}` } }, 0)
      return true
    }
    if (record === undefined) {
      this.#skip(line.number, line.ended ? 'not JSON' : 'incomplete: read once the transcript has grown')
      return line.ended
    }
    const events = this.#read(record)
    events.slice(0, RECORD_EVENTS).forEach((event, i) => this.#add(line, event, i))
    const left = events.length - RECORD_EVENTS
    if (left > 0) {
      this.#skip(line.number, `more than ${RECORD_EVENTS} events: only the first of them were kept`)
      this.#add(line, { ...unknown({}), content: { text: cutMark(left, 'events') } }, RECORD_EVENTS)
    }
    return true
  }

  // A record on which its reader throws is kept as it is: nothing in a transcript stops its import.
  #read(record: unknown): TraceEvent[] {
    try {
      return this.writer.recognised.format.read(record, this.#memory)
    } catch {
      return [unknown(record)]
    }
  }

  #add({ number }: Line, event: TraceEvent, i: number) {
    const place = i === 0 ? String(number) : `${number}.${i}`
    const key = event.key ?? (this.whole ? `/${place}` : place)
    const ready = identified(this.writer.sessionId, event, key)
    this.#events.push(ready)
    this.#bytes += ready.json.length
  }

  #skip(line: number, reason: string) {
    this.skippedCount++
    if (this.skipped.length < SKIPPED_REPORTED) this.skipped.push({ line, reason })
  }

  // A batch is written while the next one is read.
  async #flush({ number, end, tail, ended }: Line) {
    const events = this.#events
    const place = this.whole ? START : { bytes: end, lines: number, open: !ended, tail: tailOf(tail) }
    const read = { ...place, memory: structuredClone(this.#memory) }
    ;[this.#events, this.#bytes, this.#last] = [[], 0, undefined]
    const progress = await this.#writing
    if (this.writer.services.stopping.aborted) refuse('unavailable', STOPPING, { retry_after: 1 })
    await pause() // PGlite works on this thread: without a pause nothing else has its turn
    this.#writing = this.writer.write(events, { ...progress, ...read })
    this.#writing.catch(() => {}) // thrown where it is awaited next
  }
}
