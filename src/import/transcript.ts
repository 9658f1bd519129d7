// Imports one transcript: recognises it, goes on from where it was read before, and writes it batch by batch. However large it is, a
// batch and a line are all that is in memory.
import { refuse } from '../core/errors.ts'
import { pause } from '../core/pause.ts'
import type { Services } from '../process/services.ts'
import { sessionOfEvent } from '../stores/imports.ts'
import { sessionById, setParent } from '../stores/sessions.ts'
import { isObject, unknown, type Draft, type Json, type Memory } from './draft.ts'
import { elementsOf, isDocument } from './elements.ts'
import { notKnown, recognise } from './formats.ts'
import { linesOf, LONGEST_LINE, type Line } from './lines.ts'
import { peekable, skip, tailLength, tailOf, type Source } from './source.ts'
import { cutMark } from './storable.ts'
import { noMemory, readyOf, sessionIdOf, standingOf, Writer, type Ready, type Standing } from './writer.ts'

export interface Skipped {
  line: number
  reason: string
}

/** What an import did. `skipped` names the first thousand lines that gave no event; `skipped_count` counts them all. */
export interface Report {
  session_id: string
  source: string
  turns: number
  events: number
  added: number
  skipped: Skipped[]
  skipped_count: number
}

const HEAD_BYTES = 256 * 1024
const HEAD_RECORDS = 100
const BATCH_EVENTS = { pglite: 200, postgres: 1000 } // PGlite works on this thread: a call that comes meanwhile waits for one batch
const BATCH_BYTES = 512 * 1024
const SKIPPED_TOLD = 1000
const NOWHERE = { bytes: 0, lines: 0, open: false, tail: '' }

/** Imports a transcript, or of one that was imported before what is new. `parent`: the room that it belongs to. */
export const importTranscript = async (services: Services, source: Source, parent?: string): Promise<Report> => {
  const stream = peekable(source.read(0))
  const begun = (await beginning(stream, source.name, HEAD_BYTES)) ?? (await beginning(stream, source.name, LONGEST_LINE + 1)) ?? notKnown()
  const { recognised, document } = begun
  const original = recognised.format.ownIds ? await sessionOfEvent(services.database, recognised.identity) : undefined
  if (original !== undefined)
    refuse('conflict', 'This feed belongs to a session of this server, which already has all of it. Nothing was imported.', {
      session_id: original,
    })
  const sessionId = sessionIdOf(recognised)
  const standing = await standingOf(services.database, sessionId)
  const writer = new Writer(services, sessionId, recognised, parent)
  const reading = new Reading(writer, document ? { ...standing, ...NOWHERE, memory: noMemory() } : standing, document)
  if (document) await reading.all(elementsOf(stream.whole()))
  else if (standing.bytes === 0) await reading.all(linesOf(stream.whole(), standing))
  else {
    const from = standing.bytes - tailLength(standing.tail)
    if (source.again) await stream.end()
    const rest = source.again ? source.read(from) : skip(stream.whole(), from)
    const onwards = await after(rest, standing.tail)
    if (onwards) await reading.all(linesOf(onwards, standing))
  }
  if (parent !== undefined) await setParent(services.database, sessionId, parent) // also when nothing was new
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

type Stream = ReturnType<typeof peekable>

const beginning = async (stream: Stream, name: string, bytes: number) => {
  const head = await stream.head(bytes)
  const document = isDocument(head.toString('utf8').replace(/^\uFEFF/, ''))
  const records: Json[] = []
  for await (const { text } of document ? elementsOf(one(head)) : linesOf(one(head), NOWHERE)) {
    const record = parsed(text)
    if (isObject(record)) records.push(record)
    if (records.length === HEAD_RECORDS) break
  }
  const recognised = recognise({ records, name })
  return recognised && { recognised, document }
}

async function* one(bytes: Uint8Array) {
  yield bytes
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// What follows the bytes that are known already; nothing when the transcript ends before them (an older copy).
const after = async (chunks: AsyncIterable<Uint8Array>, tail: string) => {
  const length = tailLength(tail)
  const stream = peekable(chunks)
  const before = await stream.head(length)
  if (before.length < length) return void (await stream.end())
  if (tailOf(before) !== tail)
    refuse('conflict', 'This transcript does not continue the one imported earlier: its beginning has changed. Nothing was added.')
  return skip(stream.whole(), length)
}

class Reading {
  skipped: Skipped[] = []
  skippedCount = 0
  #drafts: Ready[] = []
  #bytes = 0
  #last: Line | undefined
  #memory: Memory
  #writing: Promise<Standing>
  #batch: number

  constructor(
    readonly writer: Writer,
    standing: Standing,
    readonly whole: boolean, // read from the beginning, though much of it may have been read before
  ) {
    this.#memory = structuredClone(standing.memory)
    this.#writing = Promise.resolve(standing)
    this.#batch = BATCH_EVENTS[writer.services.database.engine]
  }

  async all(lines: AsyncIterable<Line>) {
    for await (const line of lines) {
      if (!this.#take(line)) break
      this.#last = line
      if (this.#drafts.length >= this.#batch || this.#bytes >= BATCH_BYTES) await this.#flush(this.#last)
    }
    if (this.#last) await this.#flush(this.#last)
    await this.#writing
  }

  // False: the line is not there whole yet, and is left for the next import.
  #take(line: Line): boolean {
    if (line.text.trim() === '') return true
    const record = line.left > 0 ? undefined : parsed(line.text)
    if (line.left > 0) {
      this.#skip(line.number, `longer than ${LONGEST_LINE / 1024 / 1024} MiB: only its beginning was kept`)
      this.#add(line, { ...unknown({}), content: { text: `${line.text.slice(0, 65_536)}\n${cutMark(line.left)}` } }, 0)
      return true
    }
    if (record === undefined) {
      this.#skip(line.number, line.ended ? 'not JSON' : 'incomplete: read once the transcript has grown')
      return line.ended
    }
    this.#read(record).forEach((draft, i) => this.#add(line, draft, i))
    return true
  }

  // A record that its reader stumbles over is kept as it is: nothing in a transcript stops its import.
  #read(record: unknown): Draft[] {
    try {
      return this.writer.recognised.format.read(record, this.#memory)
    } catch {
      return [unknown(record)]
    }
  }

  #add({ number }: Line, draft: Draft, i: number) {
    const place = i === 0 ? String(number) : `${number}.${i}`
    const key = draft.key ?? (this.whole ? `/${place}` : place)
    const ready = readyOf(this.writer.sessionId, draft, key)
    this.#drafts.push(ready)
    this.#bytes += ready.json.length
  }

  #skip(line: number, reason: string) {
    this.skippedCount++
    if (this.skipped.length < SKIPPED_TOLD) this.skipped.push({ line, reason })
  }

  // One batch is written while the next one is read.
  async #flush({ number, end, tail, ended }: Line) {
    const drafts = this.#drafts
    const place = this.whole ? NOWHERE : { bytes: end, lines: number, open: !ended, tail: tailOf(tail) }
    const read = { ...place, memory: structuredClone(this.#memory) }
    ;[this.#drafts, this.#bytes, this.#last] = [[], 0, undefined]
    const standing = await this.#writing
    await pause() // on PGlite nothing else has its turn without it
    this.#writing = this.writer.write(drafts, { ...standing, ...read })
    this.#writing.catch(() => {}) // thrown where it is awaited next
  }
}
