// The doc's `## Conclusion` section: a level-2 heading outside code fences; it runs to the next heading of level 1 or 2.
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/

interface Heading {
  line: number
  next: number // the line after it: an underlined heading takes two
  level: number
  text: string
}

/** The doc with `summary` as its conclusion: in place of the one it has, else at the end. The heading may be part of `summary`. */
export const withConclusion = (doc: string, summary: string): string => {
  const section = `## Conclusion\n\n${withoutHeading(summary).trim()}\n`
  const found = conclusionLines(doc)
  if (!found) return doc.trim() === '' ? section : `${doc.trimEnd()}\n\n${section}`
  const lines = doc.split('\n')
  const before = lines.slice(0, found.from).join('\n')
  const after = lines.slice(found.to).join('\n')
  return `${before}${before && '\n'}${section}${after && `\n${after}`}`
}

/** What the conclusion says, without its heading; undefined when the doc has none. */
export const conclusionOf = (doc: string): string | undefined => {
  const found = conclusionLines(doc)
  const lines = found && doc.split('\n').slice(found.text, found.to)
  return lines?.join('\n').trim() || undefined
}

const withoutHeading = (summary: string): string => {
  const text = summary.trimStart()
  const [first] = headingsOf(text)
  return first?.line === 0 && isConclusion(first) ? text.split('\n').slice(first.next).join('\n') : text
}

const isConclusion = ({ level, text }: Heading) => level === 2 && text.toLowerCase() === 'conclusion'

const conclusionLines = (doc: string): { from: number; text: number; to: number } | undefined => {
  const headings = headingsOf(doc)
  const at = headings.findIndex(isConclusion)
  if (at < 0) return undefined
  const { line, next } = headings[at]!
  const end = headings.slice(at + 1).find(({ level }) => level <= 2)
  return { from: line, text: next, to: end?.line ?? doc.split('\n').length }
}

// Line by line and linear in the doc's size: a markdown parser costs tens of milliseconds on 512 KiB, and more on a hostile text.
const headingsOf = (doc: string): Heading[] => {
  const headings: Heading[] = []
  let fence: string | undefined
  let paragraph = '' // a line of text that an underline would make a heading
  doc.split('\n').forEach((raw, line) => {
    const text = raw.replace(/\r$/, '')
    const mark = FENCE.exec(text)?.[1]
    if (fence) {
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && text.trim() === mark) fence = undefined
      return
    }
    const atx = HEADING.exec(text)
    const underline = paragraph && UNDERLINE.exec(text)
    if (mark) fence = mark
    else if (atx) headings.push({ line, next: line + 1, level: atx[1]!.length, text: (atx[2] ?? '').trim() })
    else if (underline) headings.push({ line: line - 1, next: line + 1, level: underline[1]![0] === '=' ? 1 : 2, text: paragraph })
    paragraph = mark || atx || underline || /^( {4}|\t| {0,3}([>]|[-*+] |\d+[.)] ))/.test(text) ? '' : text.trim()
  })
  return headings
}
