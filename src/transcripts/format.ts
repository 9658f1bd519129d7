// A format: what recognises a program's transcripts and reads their records.
import type { Json } from './json.ts'
import type { Memory } from './memory.ts'
import type { TraceEvent } from './trace-event.ts'

/** How a transcript begins: its first records, and the name of its file. */
export interface TranscriptHead {
  records: Json[]
  name: string
}

export interface Format {
  source: string
  agent: string // as people call it
  /** Its events have ids of their own, as this server gives them, and the transcript is identified by one. It is read from its beginning each
   *  time, for two transcripts of one session may have different events of it; both have its conversation. */
  ownIds?: true
  /** Is this record one of its own? Asked for the first ones of a transcript. */
  claims(record: Json): boolean
  /** The transcript's own session id; undefined when its head has none. */
  identity(head: TranscriptHead): string | undefined
  /** Under which it may have been imported before. */
  formerIdentity?(head: TranscriptHead): string | undefined
  /** The events of one record. A record of an unknown kind gives an `unknown` one, a known copy of another gives none. */
  read(record: unknown, memory: Memory): TraceEvent[]
}
