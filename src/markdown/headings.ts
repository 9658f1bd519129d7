// The headings of a markdown text. Those inside code fences do not count.
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]([^]*))?$/
const FENCE = /^ {0,3}(`{3,}|~{3,})([^]*)$/
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/
const BREAK = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/
const QUOTE_OR_ITEM = /^ {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])/
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

/** The text, with the code fence closed that it leaves open: a text appended to it would be code otherwise. */
export const withFenceClosed = (doc: string): string => {
  const { fence } = structureOf(doc)
  return fence ? `${doc.replace(/\n$/, '')}\n${fence}` : doc
}

const structureOf = (doc: string): { headings: Heading[]; fence: string | undefined } => {
  const headings: Heading[] = []
  let fence: string | undefined
  let paragraph: { line: number; text: string[] } | undefined // becomes a heading if it is underlined
  let within = false // inside a quote or a list item, which lasts to the next blank line
  doc.split('\n').forEach((raw, line) => {
    const text = raw.replace(/\r$/, '')
    const mark = fenceOf(text)
    if (fence) {
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && text.trim() === mark) fence = undefined
      return
    }
    const atx = HEADING.exec(text)
    const underline = paragraph && UNDERLINE.exec(text)
    if (mark) fence = mark
    if (atx) headings.push({ line, next: line + 1, level: atx[1]!.length, text: withoutClosingMarks(atx[2] ?? '') })
    if (underline)
      headings.push({ line: paragraph!.line, next: line + 1, level: underline[1]![0] === '=' ? 1 : 2, text: paragraph!.text.join('\n') })
    const plain = !mark && !atx && !underline && text.trim() !== '' && !BREAK.test(text)
    within = plain && (within || QUOTE_OR_ITEM.test(text))
    if (!plain || within || (!paragraph && INDENTED.test(text))) paragraph = undefined
    else if (paragraph) paragraph.text.push(text.trim())
    else paragraph = { line, text: [text.trim()] }
  })
  return { headings, fence }
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
