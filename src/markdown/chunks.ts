// Markdown cut into chunks that are rendered one after the other: in the worst case a parser's time grows with the square of its input, so
// it is given little at a time.
import { htmlBlockAt, type HtmlBlock } from './html-blocks.ts'

const LENGTH = 8 * 1024
const LINES = 512 // a paragraph of 1,000 one-letter lines takes marked 0.1 ms, one of 4,000 takes 40 ms
/** Longer lines are cut. */
export const LONGEST_UNIT = LENGTH / 2
const LONGEST_CODE = 32 * 1024
const LONGEST_HEAD = LENGTH / 8 // of a table, or a code fence's first line: repeated in each chunk of it

const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^#{1,6}\s/
const ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/
/** The mark of a list item that may begin with a fence or an HTML block. */
const BLOCK_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4}(?=[`~<])/
/** The line under a table's head. */
export const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/

/** The text in chunks of at most 8 KiB, cut where it shows least: before a heading or paragraph, else an item, else a line, else a word.
 *  Fenced code, or an HTML block, of more than 4 KiB is a chunk of its own, up to 32 KiB, because it is cheap to render; longer ones become
 *  several blocks. */
export const chunksOf = (text: string): string[] => {
  const chunks: string[] = []
  let lines: string[] = []
  let length = 0
  let seams: { block?: number; item?: number } = {}
  let head: string[] = [] // the head of the table that the current line is in

  const cutAt = (index: number, repeated: string[] = []) => {
    if (index > 0) chunks.push(lines.slice(0, index).join('\n'))
    lines = [...repeated, ...lines.slice(index)]
    length = lines.reduce((sum, line) => sum + line.length + 1, 0)
    seams = {}
  }

  for (const unit of unitsOf(text)) {
    const previous = lines.at(-1) ?? ''
    if (unit.length > LONGEST_UNIT) {
      cutAt(lines.length)
      chunks.push(unit)
      continue
    }
    head = unit.includes('|') ? (head.length > 0 ? head : headOf(previous, unit)) : []
    if (length + unit.length > LENGTH || lines.length >= LINES) {
      const seam = seams.block ?? seams.item
      if (seam === undefined) cutAt(lines.length, head)
      else cutAt(seam)
    }
    if (length > LENGTH / 2 || lines.length > LINES / 2) {
      if (HEADING.test(unit) || (previous.trim() === '' && /^\S/.test(unit) && !ITEM.test(unit))) seams.block = lines.length
      else if (ITEM.test(unit)) seams.item = lines.length
    }
    lines.push(unit)
    length += unit.length + 1
  }
  cutAt(lines.length)
  return chunks
}

const headOf = (above: string, line: string): string[] =>
  above.length + line.length < LONGEST_HEAD && above.includes('|') && DELIMITERS.test(line) ? [above, line] : []

// The units that are not cut: lines, unless they are long, and blocks of fenced code and of HTML.
function* unitsOf(text: string): Generator<string> {
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const html = htmlBlockAt(line, i > 0 && lines[i - 1]!.trim() !== '')
    const item = BLOCK_ITEM.exec(line)?.[0].length ?? 0
    const fence = FENCE.exec(line.slice(item))?.[1]
    const first = i
    if (html) {
      while (i < lines.length - 1 && !html.ends.test(lines[i]!)) i++
      yield* htmlInParts(lines.slice(first, i + 1), html)
    } else if (fence !== undefined && line.length <= LONGEST_HEAD) {
      const closing = new RegExp(`^ {0,${item + 3}}${fence[0]}{${fence.length},} *$`)
      const isWithin = (line: string) => item === 0 || line.trim() === '' || line.search(/[^ ]/) >= item
      while (i < lines.length - 1 && isWithin(lines[i + 1]!) && !closing.test(lines[++i]!));
      yield* codeInParts(lines.slice(first, i + 1), fence)
    } else yield* stretchesOf(line)
  }
}

// Each part begins and ends as the whole block does, so that nothing in it is markdown.
function* htmlInParts(lines: string[], { opening, closing }: HtmlBlock): Generator<string> {
  let part: string | undefined
  for (const stretch of lines.flatMap((line) => [...stretchesOf(line)])) {
    if (part !== undefined && part.length + stretch.length > LONGEST_CODE) {
      yield `${part}\n${closing}`
      part = opening
    }
    part = part === undefined ? stretch : `${part}\n${stretch}`
  }
  yield part ?? ''
}

function* codeInParts([opening = '', ...code]: string[], fence: string): Generator<string> {
  let part = opening
  for (const line of code) {
    for (const [i, stretch] of [...stretchesOf(line)].entries()) {
      if (part.length + stretch.length > LONGEST_CODE) {
        yield `${part}\n${fence}`
        part = opening
      }
      part += `\n${i > 0 ? '    ' : ''}${stretch}` // indented, so that it cannot close the fence
    }
  }
  yield part
}

function* stretchesOf(line: string): Generator<string> {
  let rest = line
  while (rest.length > LONGEST_UNIT) {
    const space = rest.lastIndexOf(' ', LONGEST_UNIT - 1)
    const end = space > LONGEST_UNIT / 2 ? space + 1 : LONGEST_UNIT
    yield rest.slice(0, end)
    rest = rest.slice(end)
  }
  yield rest
}
