// What a reader remembers from line to line.
import { cutAt } from '../core/text/cut-at.ts'
import { LONGEST_TOOL_NAME, shortId, textOr } from './json.ts'

/** Stored with the import, so that a transcript that grew is read on: it must be small and plain, and its fields keep their names. */
export interface Memory {
  model?: string | undefined
  calls: Record<string, string> // the tools that have not answered yet, by the id of the call
  exits: Record<string, number> // exit codes that were written before the output
  title?: { text: string; rank: number }
  summary?: string | undefined
  said?: { by: string; kind: string; text: string } | undefined // the newest text, to recognise its second record
  leaves?: string[] // the newest records, to which a summary may belong
  sidechain?: boolean | undefined // all of this transcript is a subagent's
}

export const newMemory = (): Memory => ({ calls: {}, exits: {} })

/** Remembers which tool was called, so that its response can name it. */
export const rememberCall = (memory: Memory, id: unknown, name: string) => {
  memory.calls[callKey(id)] = cutAt(name, LONGEST_TOOL_NAME)
  const since = (uncounted.get(memory) ?? COUNTED_EVERY) + 1
  uncounted.set(memory, since >= COUNTED_EVERY ? 0 : since)
  if (since < COUNTED_EVERY) return
  for (const old of Object.keys(memory.calls).slice(0, -CALLS_KEPT)) delete memory.calls[old]
}
const CALLS_KEPT = 200
const COUNTED_EVERY = 100 // calls, as counting takes longer than remembering one
const uncounted = new WeakMap<Memory, number>()

/** The tool whose call a response answers. */
export const takeCall = (memory: Memory, id: unknown): string | undefined => take(memory.calls, callKey(id))

/** Under which id a call is remembered. Some versions wrote none: then it is the newest call. */
export const callKey = (id: unknown) => (typeof id !== 'string' ? '' : shortId(/^\d+$/.test(id) ? `#${id}` : id)) // a number would be an index

/** Removes and returns the value of a key. */
export const take = <Value>(remembered: Record<string, Value>, key: string): Value | undefined => {
  const value = Object.hasOwn(remembered, key) ? remembered[key] : undefined
  delete remembered[key]
  return value
}

/** Where a title comes from. A higher rank replaces a lower one: a person's own, the program's, the first prompt's first line. */
export const TITLE = { prompt: 0, summary: 1, program: 2, person: 3 }
const TITLE_LENGTH = 120

export const suggestTitle = (memory: Memory, text: unknown, rank: number) => {
  const line = textOr(text)
    ?.split('\n')
    .find((candidate) => candidate.trim() !== '')
  if (line === undefined || (memory.title && memory.title.rank > rank) || (rank === TITLE.prompt && memory.title)) return
  const words = line.replace(/\s+/g, ' ').trim()
  memory.title = { rank, text: words.length <= TITLE_LENGTH ? words : `${cutAt(words, TITLE_LENGTH - 1)}…` }
}

/** A summary, which becomes the session's description, cut to the length of one. */
export const summaryOr = (value: unknown) => {
  const text = textOr(value)
  return text === undefined || text.length <= LONGEST_SUMMARY ? text : `${cutAt(text, LONGEST_SUMMARY - 1)}…`
}
const LONGEST_SUMMARY = 10_000
