// What every reader of transcripts makes of a line: events that have no number yet, in the words of the log.
import type { CONVERSATION_TYPES, TRACE_TYPES } from '../../db/schema.ts'
import type { Content } from '../core/event-text.ts'
import { sha256 } from '../core/ids.ts'

export type Json = Record<string, unknown>

export interface Draft {
  /** What tells the event from all others of the transcript, where that is not its line. It begins with `/`. */
  key?: string | undefined
  type: (typeof CONVERSATION_TYPES)[number] | (typeof TRACE_TYPES)[number]
  author: 'team' | 'person' | 'system' | 'agent'
  authorName?: string | undefined
  teamId?: string | undefined
  replyTo?: string | undefined // the key of another event
  to?: string[] | undefined
  content: Content
  at?: unknown
  toolName?: string | undefined
  model?: string | undefined
  originatingModel?: string | undefined
  /** Begins a turn if the one before is over: what a program writes before it shows the prompt. */
  opens?: boolean
  /** The turn is over: with this event; with the answer before it, if there is one; or with this, if the agent had nothing to do. */
  ends?: 'here' | 'before' | 'idle' | undefined
  /** Another agent's work beside the turn: neither its answer nor a sign that it goes on. */
  aside?: boolean | undefined
}

/** What a reader remembers from line to line. It is kept with the transcript, and so must be small and plain. */
export interface Memory {
  model?: string | undefined
  calls: Record<string, string> // the tools that have not answered yet, by the id of the call
  exits: Record<string, number> // exit codes that were told before the output
  title?: { text: string; rank: number }
  summary?: string | undefined
  said?: { by: string; kind: string; text: string } | undefined // to know the second record of one and the same text
  leaves?: string[] // the newest records, to which a summary may belong
  sidechain?: boolean | undefined // all of this transcript is a subagent's
}

export interface Beginning {
  records: Json[]
  name: string
}

/** A reader of one kind of transcript. */
export interface Format {
  source: string
  agent: string // as people call it
  /** What identifies it is the id of an event, as this server gives them. */
  ownIds?: true
  /** Is this record one of its own? Asked for the first ones of a transcript. */
  claims(record: Json): boolean
  /** The transcript's own session id; undefined when it does not tell one. */
  identity(head: Beginning): string | undefined
  /** The events of one record. A record of an unknown kind gives an `unknown` one, a known copy of another gives none. */
  read(record: unknown, memory: Memory): Draft[]
}

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
export const objectOr = (value: unknown): Json => (isObject(value) ? value : {})
export const listOr = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const textOr = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** A name, no longer than the log keeps it. */
export const nameOr = (value: unknown) => textOr(value)?.slice(0, LONGEST_NAME)
export const LONGEST_NAME = 200

/** A value as a word. `String` copies a list's text at each of its levels: 1 MB in 3,000 levels took 0.3 s each time. */
export const wordOf = (value: unknown) => String(Array.isArray(value) ? value.flat(Infinity) : value)

/** An id short enough to be repeated with each event of a record, and kept from batch to batch: of a longer one, its hash. */
export const shortId = (id: string) => (id.length <= LONGEST_ID ? id : sha256(id))
const LONGEST_ID = 200

/** A record that no reader understands: kept whole. */
export const unknown = (record: unknown): Draft => ({
  type: 'unknown',
  author: 'agent',
  content: { record },
  at: isObject(record) ? record.timestamp : undefined,
})

/** What a program says about its own state. */
export const runtime = (event: string, { text, ...data }: Json = {}, more: Partial<Draft> = {}): Draft => ({
  type: 'runtime',
  author: 'system',
  content: { event, ...(textOr(text) && { text }), ...(Object.keys(data).length > 0 && { data }) },
  ...more,
})

/** What was put before the model beside the prompts: instructions, surroundings, the output of a person's own commands. */
export const context = (text: string, event = 'context'): Draft => ({ type: 'system', author: 'system', content: { event, text } })

export const prompt = (text: string): Draft => ({ type: 'user_input', author: 'person', authorName: 'User', content: { text } })

/** Remembers which tool was called, so that its response can name it. */
export const called = (memory: Memory, id: unknown, name: string) => {
  memory.calls[callKey(id)] = name.slice(0, LONGEST_NAME)
  const [oldest, ...more] = Object.keys(memory.calls)
  if (more.length >= CALLS_KEPT) delete memory.calls[oldest!]
}

export const answered = (memory: Memory, id: unknown): string | undefined => taken(memory.calls, callKey(id))

/** Under which id a call is remembered. Some versions wrote none: then it is the newest call. */
export const callKey = (id: unknown) => (typeof id !== 'string' ? '' : shortId(/^\d+$/.test(id) ? `#${id}` : id)) // a number would be an index

/** What was remembered under this key, and is no longer. */
export const taken = <Value>(remembered: Record<string, Value>, key: string): Value | undefined => {
  const value = Object.hasOwn(remembered, key) ? remembered[key] : undefined
  delete remembered[key]
  return value
}

const CALLS_KEPT = 200

/** A title counts if none of a higher rank is known: a person's own, the program's, the beginning of the first prompt. */
export const titled = (memory: Memory, text: unknown, rank: number) => {
  const line = textOr(text)
    ?.split('\n')
    .find((candidate) => candidate.trim() !== '')
  if (line === undefined || (memory.title && memory.title.rank > rank) || (rank === TITLE.prompt && memory.title)) return
  const words = line.replace(/\s+/g, ' ').trim()
  memory.title = { rank, text: words.length <= TITLE_LENGTH ? words : `${words.slice(0, TITLE_LENGTH - 1).toWellFormed()}…` }
}

/** A summary is the session's description: no longer than one may be, for it is kept from batch to batch. */
export const summaryOr = (value: unknown) => {
  const text = textOr(value)
  return text === undefined || text.length <= LONGEST_SUMMARY ? text : `${text.slice(0, LONGEST_SUMMARY - 1).toWellFormed()}…`
}
const LONGEST_SUMMARY = 10_000

export const TITLE = { prompt: 0, summary: 1, program: 2, person: 3 }
const TITLE_LENGTH = 120
