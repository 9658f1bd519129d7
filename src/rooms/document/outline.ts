// The sections of the document. Each has a unique name, by which `section` names it when the document is read or written.
import type { z } from 'zod'
import { fitting } from '../../core/budget.ts'
import { headingsOf, withHeadingsDeeper } from '../../markdown/headings.ts'
import { nameKey } from '../../core/text/text.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import type { outlineRow } from '../schemas.ts'

export interface Section {
  section: string // the heading's text; the second of the same name is "Notes (2)"
  level: number
  from: number // the line of its heading
  next: number // the line after its heading
  body: number // the line after its own text: the next heading of any level
  to: number // the line after its subsections
}

const TOP = '(top)' // the name of the text before the first heading
const NAME_CHARACTERS = 200
const MOST_SECTIONS = 5_000 // what stands behind them has no name: of half a megabyte of headings alone the names would take a second

/** All sections, 5,000 at the most, in the document's order. Each reaches to the next heading of its level or above. */
export const sectionsOf = (doc: string): Section[] => {
  const lines = doc.split('\n')
  const headings = headingsOf(doc)
  const top = headings[0]?.line ?? lines.length
  const sections: Section[] = headings.slice(0, MOST_SECTIONS).map(({ line, next, level, text }, i) => {
    const body = headings[i + 1]?.line ?? lines.length
    return { section: cutAt(text, NAME_CHARACTERS) || '(untitled)', level, from: line, next, body, to: body }
  })
  const end = headings[MOST_SECTIONS]?.line ?? lines.length
  const ends = Array.from({ length: 7 }, () => end) // by level: the line of the next heading of that level or above
  for (const section of sections.toReversed()) {
    section.to = ends[section.level]!
    ends.fill(section.from, section.level)
  }
  const before = lines.slice(0, top).some((line) => line.trim() !== '')
  if (before) sections.unshift({ section: TOP, level: 0, from: 0, next: 0, body: top, to: top })
  return withUniqueNames(sections)
}

const withUniqueNames = (sections: Section[]): Section[] => {
  const taken = new Map<string, number>() // name → how many sections have it
  for (const one of sections) {
    const plain = one.section
    const key = nameKey(plain)
    let n = taken.get(key) ?? 0
    if (n > 0) {
      while (taken.has(nameKey((one.section = `${plain} (${++n})`))));
      taken.set(nameKey(one.section), 1)
    }
    taken.set(key, Math.max(n, 1))
  }
  return sections
}

/** The section of this name, compared by `nameKey`. */
export const sectionNamed = (doc: string, name: string): Section | undefined => {
  const key = nameKey(name)
  return sectionsOf(doc).find(({ section }) => nameKey(section) === key)
}

/** The text of a section, with its heading and subsections. */
export const textOf = (doc: string, { from, to }: Section): string => doc.split('\n').slice(from, to).join('\n').trimEnd()

/** The document with `content` in place of a section. If `content` begins with a heading of the section's level or above, that replaces the
 *  old heading (one from above is moved down to the section's level, and the headings below it by as much); otherwise the old heading stays.
 *  Undefined when `content` leaves a code fence or an HTML block open, which would hide the headings that follow. */
export const withSection = (doc: string, { from, next, to, level }: Section, content: string): string | undefined => {
  const lines = doc.split('\n')
  const given = content.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd()
  const [top] = headingsOf(given)
  const text = top?.line === 0 && top.level < level ? withHeadingsDeeper(given, level - top.level) : given
  const [first] = headingsOf(text)
  const heading = first?.line === 0 && first.level === level ? [] : lines.slice(from, next)
  const section = [...heading, ...(heading.length > 0 && text !== '' ? [''] : []), ...(text === '' ? [] : [text]), '']
  const after = lines.slice(to).join('\n')
  const before = lines.slice(0, from)
  const replaced = [...before, ...section, ...(after.trim() === '' ? [] : [after])].join('\n')
  const expected = [before.join('\n'), section.join('\n'), after].flatMap(headingsOf).length
  return headingsOf(replaced).length === expected ? replaced : undefined
}

export type OutlineRow = z.output<typeof outlineRow>

/** Each section with its size and, compared with an earlier version, whether its own text was added or changed; and the removed
 *  sections. */
export const outlineOf = (doc: string, before = doc): { outline: OutlineRow[]; removed: string[] } => {
  const lines = doc.split('\n')
  const sections = sectionsOf(doc)
  const starts = startsOf(lines)
  const old = before === doc ? undefined : ownTexts(before.split('\n'), sectionsOf(before))
  const outline = sections.map((one) => {
    const { section, level, from, to } = one
    const was = old?.get(section)
    const change = !old || was === ownText(lines, one) ? undefined : was === undefined ? ('added' as const) : ('changed' as const)
    return { section, level, chars: starts[to]! - starts[from]! - 1, ...(change && { change }) }
  })
  const now = new Set(sections.map(({ section }) => section))
  return { outline, removed: [...(old?.keys() ?? [])].filter((name) => !now.has(name)) }
}

const ownText = (lines: string[], { from, body }: Section) => lines.slice(from, body).join('\n').trim()

const ownTexts = (lines: string[], sections: Section[]): Map<string, string> =>
  new Map(sections.map((one) => [one.section, ownText(lines, one)]))

// The offset at which each line begins, and the one after the last line.
const startsOf = (lines: string[]): number[] => {
  const starts = [0]
  for (const line of lines) starts.push(starts.at(-1)! + line.length + 1)
  return starts
}

/** As many rows as take at most `limit` characters, in the document's order. Changed sections are kept first, then those of the
 *  highest levels. */
export const fittingOutline = (outline: OutlineRow[], limit: number): OutlineRow[] => {
  const rank = ({ change, level }: OutlineRow) => (change ? 0 : 7) + level
  const kept = new Set(
    fitting(
      outline.toSorted((a, b) => rank(a) - rank(b)),
      limit,
    ),
  )
  return outline.filter((row) => kept.has(row))
}
