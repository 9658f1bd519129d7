// The document's `## Decisions` section, in which each approved decision stands as one list entry: a line that links its proposal.
import { singleLine } from '../../core/text/escape-invisible.ts'
import { headingsOf, withBlockClosed, type Heading } from '../../markdown/headings.ts'
import type { SessionDecision } from '../../stores/records/decisions.ts'
import { conclusionIn } from './conclusion.ts'

export type WrittenDecision = Pick<SessionDecision, 'proposalId' | 'title' | 'description' | 'rationale' | 'at'> & {
  proposedBy: { name: string }
  approvedBy: { name: string }
}

/** A decision as an entry of the section. It is one line with Markdown's own characters escaped, so that nothing in it can end the section,
 *  open a fence or begin a heading. `base`: this server's address, for a text that is read elsewhere. */
export const decisionEntry = (decision: WrittenDecision, base = ''): string => {
  const { proposalId, rationale, proposedBy, approvedBy, at } = decision
  const why = rationale === null ? '' : ` Why: ${plain(unmarked(rationale))}`
  const who = `proposed by ${plain(proposedBy.name)}, approved by ${plain(approvedBy.name)}, ${at.slice(0, 10)}`
  return `- ${said(decision)}${why} (${who}, [record](${base}/approvals/${proposalId}))`
}

/** The entry of one that was withdrawn since. */
export const withdrawnEntry = (
  decision: Pick<WrittenDecision, 'proposalId' | 'title' | 'description'>,
  by: string,
  reason: string,
): string => `- ~~${said(decision)}~~ Withdrawn: ${plain(reason)} (by ${plain(by)}, [record](/approvals/${decision.proposalId}))`

const said = ({ title, description }: Pick<WrittenDecision, 'title' | 'description'>) =>
  `**${plain(unmarked(title))}**: ${plain(unmarked(description))}`

// Code and emphasis as people read them, for escaped marks would stand there to be seen. What says more stays as it was written: the address
// of a link, the numbers of a list, a star that emphasizes no words (2**10, src/*.ts).
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Script=Hangul}\u2013\u2014\uff00-\uff0f\uff1a-\uff20` // around such words are no blanks
const CODE = String.raw`(?<![\x60\\])(\x60+)(?!\x60)([^\x60]+)\1(?!\x60)`
const EMPHASIS = String.raw`(?<=^|[\s("'“${UNSPACED}])(\*{1,3})([\p{L}\p{N}\x60"'“([](?:[^*]*[^\s*\\])?)\3(?=$|[\s.,;:!?)"'”${UNSPACED}])`
const MARKED = new RegExp(`${CODE}|${EMPHASIS}`, 'gu')
const unmarked = (text: string): string =>
  text.replace(MARKED, (_, ticks: string | undefined, code: string, _stars, words: string, at: number) => {
    if (ticks === undefined) return unmarked(words)
    return ticks.length >= 3 && beginsLine(text, at) ? code.replace(/^[^\n]*\n/, '') : code // a fence's first line says its language
  })

const beginsLine = (text: string, at: number) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === ''

// Markdown's own characters are escaped, but in an address, where an escape would be a part of it: that stands in angle brackets.
const plain = (text: string) =>
  singleLine(text)
    .split(ADDRESS)
    .map((piece, i) => (i % 2 === 0 ? escaped(piece) : autolink(piece)))
    .join('')

const ADDRESS = /(\bhttps?:\/\/[^\s<>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)/i
const escaped = (text: string) => text.replace(/[\\`*_[\]<>#~|&]/g, '\\$&')

// The end of a sentence, or of the brackets around an address, is no part of it.
const autolink = (found: string) => {
  let unopened = found.split(')').length - found.split('(').length
  let end = found.length
  for (; ; end--) {
    const last = found[end - 1]!
    if (last === ')' && unopened > 0) unopened--
    else if (!/[.,;:!?'"*_~`\]]/.test(last)) break
  }
  return `<${found.slice(0, end)}>${escaped(found.slice(end))}`
}

/** The document with this entry at the end of the section's own text, before its subsections. A section that is missing is made before the
 *  conclusion, else at the end. */
export const withDecision = (doc: string, entry: string): string => {
  const headings = headingsOf(doc)
  const found = headings.findIndex(isDecisions)
  const lines = doc.split('\n')
  if (found < 0) return inserted(lines, conclusionIn(doc)?.from ?? lines.length, ['## Decisions', '', entry])
  return inserted(lines, headings[found + 1]?.line ?? lines.length, [entry])
}

const isDecisions = ({ level, text }: Heading) => level === 2 && text.trim().toLowerCase() === 'decisions'

// Inserts the lines with a blank line before and after them; an entry that follows another one has none before it.
const inserted = (lines: string[], at: number, given: string[]): string => {
  const end = lines.slice(0, at).findLastIndex((line) => line.trim() !== '') + 1
  const before = withBlockClosed(lines.slice(0, end).join('\n'))
  const after = lines.slice(at).join('\n')
  const gap = end === 0 ? '' : given.length === 1 && ENTRY.test(lines[end - 1]!) ? '\n' : '\n\n'
  return `${before}${gap}${given.join('\n')}\n${after.trim() === '' ? '' : `\n${after}`}`
}
const ENTRY = /^- (?:~~)?\*\*.*\[record\]\(\/approvals\/([0-9a-f-]{36})\)\)\r?$/

/** The document with this entry in place of the one of the same proposal; undefined when no line is that entry any more. */
export const withEntryReplaced = (doc: string, proposalId: string, entry: string): string | undefined => {
  const lines = doc.split('\n')
  const at = lines.findIndex((line) => idIn(line) === proposalId)
  return at < 0 ? undefined : lines.with(at, entry).join('\n')
}

const idIn = (line: string) => ENTRY.exec(line)?.[1]

/** A section's text without the entries of these proposals, for whoever has their records. */
export const withoutEntriesOf = (text: string, proposalIds: ReadonlySet<string>): string =>
  text
    .split('\n')
    .filter((line) => !proposalIds.has(idIn(line) ?? ''))
    .join('\n')
