// The doc's `## Conclusion` section: a level-2 heading outside code fences; it runs to the next heading of level 1 or 2.
import { headingsOf, type Heading } from '../core/headings.ts'

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
