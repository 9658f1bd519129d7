// Recognises which program wrote a transcript, and which of its sessions this is.
import { refuse } from '../core/errors.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { Format, TranscriptHead } from './format.ts'
import type { Json } from './json.ts'
import { gemini } from './gemini.ts'
import { parley } from './parley.ts'

const FORMATS: readonly Format[] = [parley, codex, gemini, claudeCode]

export interface Recognised {
  format: Format
  /** Identifies the transcript among all of its source. */
  identity: string
  /** What identified it in an earlier version, if that was something else. */
  formerIdentity: string | undefined
  /** The first time in it. */
  startedAt: string | undefined
}

/** The format and identity of a transcript that begins so; undefined when no reader knows it. */
export const recognise = (head: TranscriptHead): Recognised | undefined => {
  const format = head.records.flatMap((record) => FORMATS.find(({ claims }) => claims(record)) ?? [])[0]
  const identity = format?.identity(head)
  if (format === undefined || identity === undefined) return undefined
  const formerIdentity = format.formerIdentity?.(head)
  return { format, identity, formerIdentity, startedAt: head.records.map(timeOf).find((at) => at !== undefined) }
}

export const refuseUnknown = (): never =>
  refuse(
    'invalid_request',
    'Parley cannot read this transcript. It reads Claude Code, Codex, Gemini CLI and exported sessions (feed.jsonl).',
    { field: 'body' },
  )

const timeOf = ({ timestamp, at, startTime }: Json) => [timestamp, at, startTime].map(readTime).find((time) => time !== undefined)

const EARLIEST = Date.UTC(2000, 0)
const LONGEST_TIME = 128 // characters; thousands of events of one record may share a time
const AHEAD_MS = 24 * 60 * 60 * 1000 // a clock may be a day fast; times further ahead would push all later events there

/** A time as the log has it; undefined for a value that is no time, or cannot be true. */
export const readTime = (value: unknown): string | undefined => {
  const ms = typeof value === 'number' ? value : typeof value === 'string' && value.length <= LONGEST_TIME ? Date.parse(value) : Number.NaN
  return ms > EARLIEST && ms < Date.now() + AHEAD_MS ? new Date(ms).toISOString() : undefined
}
