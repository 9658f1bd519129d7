// Splits bytes into lines in bounded memory: of a line that is too long only its beginning is kept.

export interface Line {
  number: number // one-based
  text: string
  end: number // of the bytes read with it, from the beginning of the transcript
  tail: Buffer // its last bytes
  ended: boolean // by a line feed; the last line of a file that is being written is not
  left: number // bytes of it that were not kept
}

/** Where the reading of a transcript goes on. */
export interface LinePosition {
  bytes: number
  lines: number
  /** The last line read had no line feed yet: one that comes first belongs to it. */
  open: boolean
}

export const LONGEST_LINE = 16 * 1024 * 1024
const KEPT_OF_LONGER = 64 * 1024
const TAIL = 1024 // bytes of a line's end that are kept to recognise it

/** The lines from there on. A line longer than 16 MiB comes with its first 64 KiB. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, { bytes, lines, open }: LinePosition): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let length = 0 // of the line so far
  let tail = Buffer.alloc(0)
  const take = (part: Buffer) => {
    const wasOver = length > LONGEST_LINE
    length += part.length
    if (length <= LONGEST_LINE) return void parts.push(part)
    if (!wasOver) parts = [Buffer.concat([...parts, part.subarray(0, KEPT_OF_LONGER)]).subarray(0, KEPT_OF_LONGER)]
    tail = Buffer.concat([tail, part]).subarray(-TAIL)
  }
  const line = (ended: boolean): Line => {
    const kept = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    const [over, end] = [length > LONGEST_LINE, (bytes += length)]
    const made = { number: ++lines, text: textOf(kept, over), end, ended, left: over ? length - KEPT_OF_LONGER : 0 }
    const last = Buffer.from(over ? tail : kept.subarray(-TAIL)) // a copy, so that its chunk can be freed
    ;[parts, length, tail] = [[], 0, Buffer.alloc(0)]
    return { ...made, tail: last }
  }
  for await (const piece of chunks) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    let start = 0
    if (open && chunk.length > 0) {
      start = chunk[0] === LINE_FEED ? 1 : 0
      bytes += start
      open = false
    }
    for (let feed = chunk.indexOf(LINE_FEED, start); feed >= 0; feed = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, feed + 1))
      yield line(true)
      start = feed + 1
    }
    if (start < chunk.length) take(chunk.subarray(start))
  }
  if (length > 0) yield line(false)
}

const LINE_FEED = 10

// Without a part of a character at its end.
const beginningOf = (bytes: Buffer) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, KEPT_OF_LONGER), { stream: true })

const textOf = (kept: Buffer, over: boolean) => {
  const text = over ? beginningOf(kept) : kept.toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
