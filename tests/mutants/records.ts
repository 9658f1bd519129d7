// Faults in the wing `records`.
import type { Mutant } from './list.ts'

const records = (...names: string[]) => names.map((name) => `tests/conformance/records/${name}.test.ts`)

const PROPOSALS = 'src/stores/records/proposals.ts'
const OVERDUE = 'src/stores/records/overdue.ts'
const PROPOSE = 'src/records/proposals/propose.ts'
const RESOLVE = 'src/records/proposals/resolve.ts'
const EDITS = 'src/records/proposals/edits.ts'
const RECORD = 'src/records/proposals/record.ts'
const EVENTS = 'src/records/proposals/append-events.ts'
const LOCKED = 'src/records/proposals/locked.ts'
const SOURCE = 'src/records/proposals/source.ts'
const SECTION = 'src/rooms/document/decisions.ts'

export const RECORDS: Mutant[] = [
  {
    name: 'records: what is decided may be decided again',
    breaks: 'a proposal is decided once',
    file: PROPOSALS,
    from: `.where(and(eq(proposals.id, before.id), eq(proposals.status, 'pending'), sql`,
    to: `.where(and(eq(proposals.id, before.id), sql`,
    tests: records('deciding'),
  },
  {
    name: 'records: expired only once it is written down',
    breaks: 'overdue is expired for every reader, while the sweep is late too',
    file: OVERDUE,
    from: `case when \${isOverdue} then 'expired' else \${proposals.status} end`,
    to: `\${proposals.status}`,
    tests: records('expiry'),
  },
  {
    name: 'records: an expiry is written down again and again',
    breaks: 'its event comes once, whichever instance',
    file: PROPOSALS,
    from: `.set({ status: 'expired', resolvedAt: proposals.expiresAt })`,
    to: `.set({ resolvedAt: proposals.expiresAt })`,
    tests: records('expiry'),
  },
  {
    name: 'records: an outcome is addressed to nobody',
    breaks: 'it reaches a wait for what is addressed',
    file: EVENTS,
    from: `{ evenClosed: true, ...(to.length > 0 && { to }), ...options }`,
    to: `{ evenClosed: true, ...options }`,
    tests: records('deciding'),
  },
  {
    name: 'records: outcomes need an open session',
    breaks: 'they are written in a closed one too',
    file: EVENTS,
    from: `{ evenClosed: true, ...(`,
    to: `{ ...(`,
    tests: records('deciding'),
  },
  {
    name: 'records: a closed session’s doc gets decisions',
    breaks: 'what a session ended with stays',
    file: RECORD,
    from: `if (takesWrites(session)) {`,
    to: `if (session) {`,
    tests: records('deciding'),
  },
  {
    name: 'records: an approved edit is not kept',
    breaks: 'edits win over what was proposed',
    file: RESOLVE,
    from: `const changed = fields.length > 0 ? { data, edited: fields } : {}`,
    to: `const changed = fields.length > 0 ? { edited: fields } : {}`,
    tests: records('deciding'),
  },
  {
    name: 'records: null empties what is required',
    breaks: 'an edit is validated with the rest',
    file: EDITS,
    from: `if (success) return data`,
    to: `if (success || error) return (data ?? given) as z.output<Schema>`,
    tests: records('deciding'),
  },
  {
    name: 'records: a stranger’s proposal can be told from none',
    breaks: 'unknown and unreadable proposals are answered alike',
    file: LOCKED,
    from: `if (!mayRead(context, locked.session.id))`,
    to: `if (false)`,
    tests: records('deciding'),
  },
  {
    name: 'records: anybody’s proposal can be replaced',
    breaks: 'only its own',
    file: PROPOSE,
    from: `|| !owns(context, before))`,
    to: `)`,
    tests: records('proposing'),
  },
  {
    name: 'records: what is replaced keeps waiting',
    breaks: 'one card for one thing',
    file: PROPOSE,
    from: `before.status === 'pending' && (await resolveProposal`,
    to: `before.status === 'rejected' && (await resolveProposal`,
    tests: records('proposing'),
  },
  {
    name: 'records: a quote counts as found wherever it is from',
    breaks: 'found says that the quote stands in the event',
    file: SOURCE,
    from: `found: quote !== null && stands(quote, event) }`,
    to: `found: quote !== null }`,
    tests: records('proposing'),
  },
  {
    name: 'records: titles are compared as they came',
    breaks: 'one card for each title, whatever its case and blanks',
    file: PROPOSALS,
    from: `const key = nameKey(title)`,
    to: `const key = String(nameKey && title)`,
    tests: records('proposing'),
  },
  {
    name: 'records: a decision goes into the doc as it was written',
    breaks: 'nothing in it ends the section, opens a fence or is a heading',
    file: SECTION,
    from: `(i % 2 === 0 ? escaped(piece) : autolink(piece))`,
    to: `(i >= 0 && (escaped && autolink) ? piece : '')`,
    tests: ['tests/quick/decisions-section.test.ts'],
  },
  {
    name: 'records: an open fence swallows the decisions after it',
    breaks: 'a decision in the doc is seen',
    file: SECTION,
    from: `const before = withBlockClosed(lines.slice(0, end).join('\\n'))`,
    to: `const before = (withBlockClosed, lines.slice(0, end).join('\\n'))`,
    tests: ['tests/quick/decisions-section.test.ts'],
  },
]
