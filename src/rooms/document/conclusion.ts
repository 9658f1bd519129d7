// The document's `## Conclusion` section: from that level-2 heading, outside code fences and HTML blocks, to the next heading of level 1 or 2.
import { headingsOf, withBlockClosed, withHeadingsDeeper, type Heading } from '../../markdown/headings.ts'
import type { Section } from './outline.ts'

/** The document with `summary` as its conclusion: in place of the one it has, else at the end. `summary` may begin with the heading, of
 *  whatever level; its other headings are moved below it, because they would end the section. */
export const withConclusion = (doc: string, summary: string): string => {
  const section = `## Conclusion\n\n${withBlockClosed(below(withoutHeading(summary).trim()))}\n`
  const found = conclusionIn(doc)
  if (!found) return doc.trim() === '' ? section : `${withBlockClosed(doc.trimEnd())}\n\n${section}`
  const lines = doc.split('\n')
  const before = lines.slice(0, found.from).join('\n')
  const after = lines.slice(found.to).join('\n')
  return `${before}${before && '\n'}${section}${after && `\n${after}`}`
}

/** The text of the conclusion without its heading; undefined when the document has none. */
export const conclusionOf = (doc: string): string | undefined => {
  const found = conclusionIn(doc)
  const lines = found && doc.split('\n').slice(found.next, found.to)
  return lines?.join('\n').trim() || undefined
}

const withoutHeading = (summary: string): string => {
  const text = summary.trimStart()
  const [first] = headingsOf(text)
  return first?.line === 0 && saysConclusion(first) ? text.split('\n').slice(first.next).join('\n') : text
}

// All headings move by the same number of levels, so that they keep their order.
const below = (text: string): string => {
  const headings = headingsOf(text)
  const by = SECTION + 1 - Math.min(...headings.map(({ level }) => level))
  return headings.length === 0 || by <= 0 ? text : withHeadingsDeeper(text, by)
}
const SECTION = 2

const saysConclusion = ({ text }: Heading) => text.toLowerCase() === 'conclusion'
const isConclusion = (heading: Heading) => heading.level === SECTION && saysConclusion(heading)

/** The lines of the conclusion's section. Found by its heading, because after a deeper one of that name it is called "Conclusion (2)". */
export const conclusionIn = (doc: string): Pick<Section, 'from' | 'next' | 'to'> | undefined => {
  const headings = headingsOf(doc)
  const found = headings.findIndex(isConclusion)
  if (found < 0) return undefined
  const { line: from, next } = headings[found]!
  const end = headings.slice(found + 1).find(({ level }) => level <= SECTION)
  return { from, next, to: end?.line ?? doc.split('\n').length }
}
