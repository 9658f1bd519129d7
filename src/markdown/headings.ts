// The headings of a markdown text. Lines inside code fences and HTML blocks are none, and those within list items are the page's alone: what
// goes to the end of such a section would tear the list.
import { DELIMITERS, LONGEST_UNIT } from './chunks.ts'
import { htmlBlockAt, type HtmlBlock } from './html-blocks.ts'

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]([^]*))?$/
const FENCE = /^ {0,3}(`{3,}|~{3,})([^]*)$/
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/
const BREAK = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/
const NOT_FIRST = /^ *(?!1[.)])\d/ // such an item ends no paragraph
const QUOTE_OR_ITEM = /^ {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])/
const ITEM = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))( +|$)/
const INDENTED = /^(?: {4}|\t)/

export interface Heading {
  line: number
  next: number // the line after it: an underlined heading takes two
  level: number
  text: string
}

/** The headings of a text, found line by line in linear time. A markdown parser takes tens of milliseconds for 512 KiB, and 48 s for a
 *  hostile text (one endless paragraph). */
export const headingsOf = (doc: string): Heading[] => structureOf(doc).headings

/** What closes the code fence or HTML block that the text leaves open; '' where a blank line does. */
export const closingOf = (doc: string): string | undefined => structureOf(doc).closing

/** The text, with what it leaves open closed: a text that follows after a blank line would belong to it. */
export const withBlockClosed = (doc: string): string => {
  const closing = closingOf(doc)
  return closing ? `${doc.replace(/\n$/, '')}\n${closing}` : doc
}

/** The lines of the underlined heading that a text begins with. The text begins a paragraph. */
export const underlinedHeadingOf = (text: string): { lines: string[]; level: number } | undefined => {
  const lines: string[] = []
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from)
    const line = text.slice(from, end < 0 ? text.length : end)
    const underline = lines.length > 0 && UNDERLINE.exec(line)
    if (underline) return { lines: [...lines, line], level: levelOf(underline) }
    if (endsParagraph(line) || isTable(lines.at(-1), line)) return undefined
    lines.push(line)
    from += line.length + 1
  }
  return undefined
}

const structureOf = (doc: string): { headings: Heading[]; closing: string | undefined } => {
  const reading: Reading = {
    headings: [],
    fence: undefined,
    html: undefined,
    opened: 0,
    paragraph: undefined,
    items: [],
    bare: false,
    within: false,
    previous: '',
  }
  doc.split('\n').forEach((raw, line) => readLine(reading, raw.replace(/\r$/, ''), line))
  const { headings, fence, html, opened } = reading
  return { headings, closing: opened > 0 && (fence || html) ? '' : (fence ?? html?.closing) }
}

// The state of reading a text, up to a line.
interface Reading {
  headings: Heading[]
  fence: string | undefined
  html: HtmlBlock | undefined
  opened: number // the item that the fence or block stands in, and ends with: by the indentation of its content
  paragraph: { line: number; text: string[] } | undefined // becomes a heading if it is underlined
  items: number[] // the list items that may go on, from the outermost, by the indentations of their content
  bare: boolean // the line before is the mark of an item alone, which ends with a blank line
  within: boolean // inside a quote, a list item or a table, which lasts to the next blank line
  previous: string // the line before, from where its item's content begins
}

const readLine = (reading: Reading, text: string, line: number) => {
  endItems(reading, text)
  if (reading.fence) return endFence(reading, reading.fence, text)
  const underline = (!reading.html && reading.paragraph && UNDERLINE.exec(text)) || undefined
  const marker = reading.html || underline ? 0 : beginItem(reading, text)
  const mark = beginBlock(reading, text, marker)
  if (reading.html) return passHtml(reading, reading.html, text)
  const atx = HEADING.exec(text)
  if (mark) reading.fence = mark
  if (atx && reading.items.length === 0)
    reading.headings.push({ line, next: line + 1, level: atx[1]!.length, text: withoutClosingMarks(atx[2] ?? '') })
  if (underline) reading.headings.push(underlined(reading.paragraph!, underline, line))
  readWords(reading, text, line, !mark && !atx && !underline)
}

const innermost = ({ items }: Reading): number => items.at(-1) ?? 0

// Ends the items that do not go on with this line, and what was opened in them.
const endItems = (reading: Reading, text: string) => {
  const { items, bare, previous } = reading
  const isBlank = text.trim() === ''
  if (bare && isBlank) items.pop()
  reading.bare = false
  const indentation = isBlank ? Infinity : text.search(/[^ ]/)
  if (endsItem(text, indentation < innermost(reading), previous)) {
    reading.items = items.filter((one) => one <= indentation)
    reading.within = false
  }
  const begin = innermost(reading)
  if (begin < reading.opened) {
    reading.fence = reading.html = undefined
    reading.opened = 0
  }
  reading.previous = indentation < begin ? text : text.slice(begin)
}

const endFence = (reading: Reading, fence: string, text: string) => {
  const mark = fenceOf(reading.opened > 0 ? text.trimStart() : text)
  if (mark && mark[0] === fence[0] && mark.length >= fence.length && text.trim() === mark) reading.fence = undefined
}

// The indentation of the content of the item that this line begins; 0 where it begins none.
const beginItem = (reading: Reading, text: string): number => {
  const marker = markerOf(text, reading.paragraph !== undefined)
  if (marker > 0) {
    reading.items.push(marker)
    reading.previous = text.slice(marker)
    reading.bare = reading.previous.trim() === ''
  }
  return marker
}

// Begins an HTML block, or returns the mark of the fence that begins here.
const beginBlock = (reading: Reading, text: string, marker: number): string | undefined => {
  const goesOn = reading.html !== undefined
  reading.html ??= htmlBlockAt(text.slice(marker), marker === 0 && (reading.paragraph !== undefined || reading.within))
  const mark = reading.html ? undefined : fenceOf(text.slice(marker))
  if ((reading.html && !goesOn) || mark) reading.opened = innermost(reading)
  return mark
}

const passHtml = (reading: Reading, html: HtmlBlock, text: string) => {
  if (html.ends.test(text)) reading.html = undefined
  reading.paragraph = undefined
  reading.within = false
}

const underlined = (paragraph: { line: number; text: string[] }, underline: RegExpExecArray, line: number): Heading => ({
  line: paragraph.line,
  next: line + 1,
  level: levelOf(underline),
  text: paragraph.text.join('\n'),
})

// A line goes on with a paragraph or begins one, if it is `noMark`: neither a heading nor a fence.
const readWords = (reading: Reading, text: string, line: number, noMark: boolean) => {
  const { paragraph, items } = reading
  const plain = noMark && text.trim() !== '' && !BREAK.test(text)
  reading.within = plain && (reading.within || items.length > 0 || QUOTE_OR_ITEM.test(text) || isTable(paragraph?.text.at(-1), text))
  if (!plain || reading.within || (!paragraph && INDENTED.test(text))) reading.paragraph = undefined
  else if (paragraph) paragraph.text.push(text.trim())
  else reading.paragraph = { line, text: [text.trim()] }
}

// The indentation of an item's content, on the line that the item begins with; 0 on other lines.
const markerOf = (text: string, endsParagraph: boolean): number => {
  const [all = '', mark = '', spaces = ''] = BREAK.test(text) ? [] : (ITEM.exec(text) ?? [])
  if (endsParagraph && (NOT_FIRST.test(text) || all === text)) return 0
  return mark === '' ? 0 : mark.length + (spaces.length > 4 || all === text ? 1 : spaces.length)
}

// Whether the items end whose content this line is `indented` less than, as on the page: at what begins anew, after a blank line, and after
// what no paragraph goes on from.
const endsItem = (text: string, indentedLess: boolean, previous: string): boolean =>
  indentedLess &&
  (previous.trim() === '' || QUOTE_OR_ITEM.test(text) || ITEM.test(text) || isBlock(text) || isBlock(previous) || INDENTED.test(previous))

const isBlock = (line: string): boolean =>
  fenceOf(line) !== undefined || HEADING.test(line) || BREAK.test(line) || htmlBlockAt(line, true) !== undefined

const levelOf = (underline: RegExpExecArray) => (underline[1]![0] === '=' ? 1 : 2)

const endsParagraph = (line: string): boolean => line.trim() === '' || QUOTE_OR_ITEM.test(line) || isBlock(line)

// Whether the two lines begin a table. The page cuts longer lines.
const isTable = (head: string | undefined, line: string): boolean =>
  head !== undefined && line.length <= LONGEST_UNIT && DELIMITERS.test(line) && /[|:]/.test(line) && cellsOf(head) === cellsOf(line)

const cellsOf = (row: string): number => {
  const text = row.trim()
  let bars = 0
  for (let at = text.indexOf('|', 1); at >= 0; at = text.indexOf('|', at + 1)) if (text[at - 1] !== '\\' && at < text.length - 1) bars++
  return bars + 1
}

/** The text with its headings `by` levels deeper, down to the sixth. */
export const withHeadingsDeeper = (text: string, by: number): string => {
  const lines: (string | undefined)[] = text.split('\n')
  for (const { line, next, level, text: words } of headingsOf(text)) {
    lines.fill(undefined, line, next)
    lines[line] = `${'#'.repeat(Math.min(level + by, DEEPEST))} ${words.replaceAll('\n', ' ')}`
  }
  return lines.filter((line) => line !== undefined).join('\n')
}
const DEEPEST = 6

const fenceOf = (line: string): string | undefined => {
  const [, mark, info = ''] = FENCE.exec(line) ?? []
  return mark?.[0] === '`' && info.includes('`') ? undefined : mark
}

// By hand: a pattern that finds the last run of # takes quadratic time in the line's length.
const withoutClosingMarks = (written: string): string => {
  const text = written.trim()
  let end = text.length
  while (text[end - 1] === '#') end--
  return end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t' ? text.slice(0, end).trim() : text
}
