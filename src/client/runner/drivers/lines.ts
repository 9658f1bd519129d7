// What a CLI prints, line by line. Nothing that it can print ends the reading, and a line is all of it that is in memory.
import type { Readable } from 'node:stream'
import { isObject, jsonIn } from '../../../core/text/json.ts'
import type { Json } from '../../../transcripts/json.ts'
import { linesOf } from '../../../transcripts/lines.ts'

/** Who takes the lines: an object of JSON is a record, everything else text. */
export interface Sink {
  record(record: Json): void
  text(line: string): void
}

const LONGEST_TEXT = 64 * 1024 // characters of a line that is no record
const TEXTS_PASSED = 1000 // lines that are no record, of one CLI; a program that prints nothing else would fill the log

/** Reads until the output ends. A line longer than 16 MiB is text, of which the first 64 KiB are kept. Never rejects. */
export const readLines = async (output: Readable, { record, text }: Sink): Promise<void> => {
  let texts = 0
  const passText = (line: string, left: number) => {
    if (line.trim() === '' || ++texts > TEXTS_PASSED + 1) return
    text(texts > TEXTS_PASSED ? 'More lines that are not of the protocol follow; they are left out.' : shortened(line, left))
  }
  try {
    for await (const { text: line, left } of linesOf(output, { bytes: 0, lines: 0, open: false })) {
      const value = left > 0 ? undefined : jsonIn(line)
      if (isObject(value)) record(value)
      else passText(line, left)
    }
  } catch {
    // The pipe broke: what the program's end says about it follows.
  }
}

const shortened = (line: string, left: number) => {
  const kept = line.slice(0, LONGEST_TEXT).trimEnd()
  const more = line.trimEnd().length - kept.length + left
  return more > 0 ? `${kept}\n[… ${more.toLocaleString('en')} more characters on this line]` : kept
}
