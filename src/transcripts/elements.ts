// Splits a transcript that is one JSON document into lines without reading it whole. Each element of its list becomes a line; the list is
// the document itself or its member `messages`, of which the members before it make the first line and those behind it a `$set` at the end.
import { LONGEST_LINE, type Line } from './lines.ts'

/** Does the transcript begin like one JSON document, and not like a record a line? */
export const isDocument = (head: string): boolean => {
  const [first, ...more] = head.trimStart().split('\n', 2)
  if (first!.startsWith('[')) return !first!.trimEnd().endsWith(']') || more.join('').trim() === ''
  return first!.trimEnd() === '{' || (more.length === 0 && /^\{[^\n]*"messages"\s*:\s*\[/.test(first!) && !first!.trimEnd().endsWith('}'))
}

/** The document's lines, numbered from its beginning: a document is read from there at each import. */
export async function* elementsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const scan = new Scanner()
  for await (const chunk of chunks) {
    scan.read(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    yield* scan.take()
  }
  scan.finish()
  yield* scan.take()
}

const LONGEST_MEMBER_NAME = 64 // bytes: `"messages":` with the space around it

class Scanner {
  #lines: Line[] = []
  #parts: Buffer[] = []
  #length = 0
  #depth = 0
  #listDepth = 0 // the depth whose commas separate lines
  #inString = false
  #escaped = false
  #members: string[] = []
  #array = false // the document is the list
  #listed = false // the list has begun
  #bytes = 0
  #number = 0

  take(): Line[] {
    return this.#lines.splice(0)
  }

  read(chunk: Buffer) {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]!
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === 0x5c) this.#escaped = true
        else if (byte === 0x22) this.#inString = false
      } else if (byte === 0x22) this.#inString = true
      else if (byte === 0x5b || byte === 0x7b) start = this.#open(chunk, start, i, byte === 0x5b)
      else if (byte === 0x5d || byte === 0x7d) start = this.#close(chunk, start, i)
      else if (byte === 0x2c && this.#depth === this.#listDepth) start = this.#unit(chunk, start, i)
    }
    this.#keep(chunk.subarray(start))
    this.#bytes += chunk.length
  }

  finish() {
    if (this.#depth > 0) this.#unit(Buffer.alloc(0), 0, 0) // the document was cut off: its last, incomplete element is reported as a bad line
    if (this.#members.length > 0) this.#emit(`{"$set":{${this.#members.join(',')}}}`)
  }

  #open(chunk: Buffer, start: number, i: number, array: boolean) {
    this.#depth++
    if (this.#depth === 1) {
      ;[this.#listDepth, this.#array, this.#listed] = [1, array, array]
      return i + 1
    }
    if (this.#depth !== 2 || !array || this.#listed || this.#listDepth !== 1) return start
    // Each list reads again all since the last comma: without this limit, 80 KB of `[]` took 33 s.
    if (this.#length + i - start > LONGEST_MEMBER_NAME) return start
    this.#keep(chunk.subarray(start, i))
    if (!/^\s*"messages"\s*:\s*$/.test(this.#text())) return i
    ;[this.#parts, this.#length, this.#listDepth, this.#listed] = [[], 0, 2, true]
    this.#emit(`{${this.#members.splice(0).join(',')}}`)
    return i + 1
  }

  #close(chunk: Buffer, start: number, i: number) {
    const closes = this.#depth === this.#listDepth
    this.#depth--
    if (!closes) return start
    const next = this.#unit(chunk, start, i)
    this.#listDepth = this.#depth
    return next
  }

  #unit(chunk: Buffer, start: number, i: number) {
    this.#keep(chunk.subarray(start, i))
    const text = this.#text().trim()
    const left = Math.max(0, this.#length - LONGEST_LINE)
    ;[this.#parts, this.#length] = [[], 0]
    if (text === '') return i + 1
    if (!this.#array && this.#listDepth === 1 && left === 0) this.#members.push(text)
    else this.#emit(text, left)
    return i + 1
  }

  #keep(part: Buffer) {
    const room = LONGEST_LINE - this.#length
    if (part.length > 0 && room > 0) this.#parts.push(Buffer.from(part.subarray(0, room)))
    this.#length += part.length
  }

  #text = () => Buffer.concat(this.#parts).toString('utf8')

  #emit(text: string, left = 0) {
    this.#lines.push({ number: ++this.#number, text, end: this.#bytes, tail: Buffer.alloc(0), ended: true, left })
  }
}
