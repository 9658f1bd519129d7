// The doc's `## Decisions` section, in which each approved decision stands as one list entry: a line that links its proposal.
import { oneLine } from '../../core/escape-invisible.ts'
import { headingsOf, withFenceClosed, type Heading } from '../../markdown/headings.ts'
import { conclusionIn } from './conclusion.ts'

export interface ApprovedDecision {
  proposalId: string
  title: string
  description: string
  rationale: string | null
  proposedBy: string
  approvedBy: string
  at: string
}

/** A decision as an entry of the section. It is one line with Markdown's own characters escaped, so that nothing in it can end the section,
 *  open a fence or begin a heading. */
export const decisionEntry = ({ proposalId, title, description, rationale, proposedBy, approvedBy, at }: ApprovedDecision): string => {
  const why = rationale === null ? '' : ` Why: ${plain(rationale)}`
  const who = `proposed by ${plain(proposedBy)}, approved by ${plain(approvedBy)}, ${at.slice(0, 10)}`
  return `- **${plain(title)}**: ${plain(description)}${why} (${who}, [record](${linkTo(proposalId)}))`
}

const plain = (text: string) => oneLine(text).replace(/[~|&]/g, '\\$&')
const linkTo = (proposalId: string) => `/approvals/${proposalId}`

/** The doc with this entry at the end of the section's own text, before its subsections. A section that is missing is made before the
 *  conclusion, else at the end. */
export const withDecision = (doc: string, entry: string): string => {
  const headings = headingsOf(doc)
  const found = headings.findIndex(isDecisions)
  const lines = doc.split('\n')
  if (found < 0) return inserted(lines, conclusionIn(doc)?.from ?? lines.length, ['## Decisions', '', entry])
  return inserted(lines, headings[found + 1]?.line ?? lines.length, [entry])
}

const isDecisions = ({ level, text }: Heading) => level === 2 && text.trim().toLowerCase() === 'decisions'

// Blank lines apart from what stands around it, save that an entry follows another at once.
const inserted = (lines: string[], at: number, given: string[]): string => {
  const before = withFenceClosed(lines.slice(0, at).join('\n').trimEnd())
  const after = lines.slice(at).join('\n')
  const follows = given.length === 1 && ENTRY.test(before.slice(before.lastIndexOf('\n') + 1))
  return `${before}${before === '' ? '' : follows ? '\n' : '\n\n'}${given.join('\n')}\n${after.trim() === '' ? '' : `\n${after}`}`
}
const ENTRY = /^- \*\*.*\[record\]\(\/approvals\/([0-9a-f-]{36})\)\)\r?$/

/** A section's text without the entries of these proposals, for whoever has their records. */
export const withoutEntriesOf = (text: string, proposalIds: ReadonlySet<string>): string =>
  text
    .split('\n')
    .filter((line) => !proposalIds.has(ENTRY.exec(line)?.[1] ?? ''))
    .join('\n')
