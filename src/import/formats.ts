// Which program wrote a transcript, and which session of it this is.
import { refuse } from '../core/errors.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import type { Beginning, Format, Json } from './draft.ts'
import { gemini } from './gemini.ts'
import { parley } from './parley.ts'

const FORMATS: readonly Format[] = [parley, codex, gemini, claudeCode]

export interface Recognised {
  format: Format
  /** The transcript's own name among all of its source. */
  identity: string
  /** The first time that it tells. */
  startedAt: string | undefined
}

/** Whose transcript begins with these records; undefined for what cannot be read here. */
export const recognise = (head: Beginning): Recognised | undefined => {
  const format = head.records.flatMap((record) => FORMATS.find(({ claims }) => claims(record)) ?? [])[0]
  const identity = format?.identity(head)
  if (format === undefined || identity === undefined) return undefined
  return { format, identity, startedAt: head.records.map(timeOf).find((at) => at !== undefined) }
}

export const notKnown = (): never =>
  refuse(
    'invalid_request',
    'Parley cannot read this transcript. It reads Claude Code, Codex, Gemini CLI and exported sessions (feed.jsonl).',
    { field: 'body' },
  )

const timeOf = ({ timestamp, at, startTime }: Json) => [timestamp, at, startTime].map(readTime).find((time) => time !== undefined)

const EARLIEST = Date.UTC(2000, 0)
const LONGEST_TIME = 128 // characters; the same time may stand with thousands of events of one record
const AHEAD_MS = 24 * 60 * 60 * 1000 // a clock may be wrong by a day, and no later time may hold up all that follow

/** A time as the log has it; undefined for what is none, or cannot be true. */
export const readTime = (value: unknown): string | undefined => {
  const ms = typeof value === 'number' ? value : typeof value === 'string' && value.length <= LONGEST_TIME ? Date.parse(value) : Number.NaN
  return ms > EARLIEST && ms < Date.now() + AHEAD_MS ? new Date(ms).toISOString() : undefined
}
