// The document's `## Decisions` section, in which each approved decision stands as one list entry: a line that links its proposal.
import { oneLine } from '../../core/text/escape-invisible.ts'
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
const MARKED = /(?<![`\\])(`+)(?!`)([^`]+)\1(?!`)|(?<=^|[\s("'“])(\*{1,3})([\p{L}\p{N}`"'“([](?:[^*]*[^\s*\\])?)\3(?=$|[\s.,;:!?)"'”])/gu
const unmarked = (text: string): string =>
  text.replace(MARKED, (_, ticks: string | undefined, code: string, _stars, words: string, at: number) => {
    if (ticks === undefined) return unmarked(words)
    return ticks.length >= 3 && beginsLine(text, at) ? code.replace(/^[^\n]*\n/, '') : code // a fence's first line says its language
  })

const beginsLine = (text: string, at: number) => text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === ''

const plain = (text: string) => oneLine(text).replace(/[~|&]/g, '\\$&')

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
