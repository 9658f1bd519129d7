import type { Team } from '../parts/team.tsx'

/** A proposal as its card shows it, the same for every viewer. */
export interface ProposalView {
  id: string
  type: 'action' | 'decision'
  status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled'
  title: string
  description: string
  /** Of a decision: why, and who took it. */
  rationale: string
  decidedBy: NamedPerson | undefined
  /** Of an action item. */
  owner: string | undefined
  due: string | undefined
  priority: 'high' | 'medium' | 'low' | undefined
  by: Team
  session: { id: string; title: string; archived: boolean }
  at: string
  /** When it was proposed: `just now`, `5m ago`. */
  age: string
  /** How long it can still be decided; undefined when it cannot any more. */
  left: TimeLeft | undefined
  source: { quote: string | undefined; sequence: number | undefined; found: boolean } | undefined
  replaced: ReplacedProposal | undefined
  outcome: Outcome | undefined
  /** Submitted twice with the same key, a form is applied once. A proposal that was brought back has another. */
  idempotencyKey: string
  /** Whom the forms offer. */
  people: NamedPerson[]
}

export interface NamedPerson {
  id: string
  name: string
}

export interface TimeLeft {
  /** `expires in 3 h` */
  words: string
  /** The time at which the proposal expires, with the day unless that is today. */
  until: string
  /** Little time is left. */
  soon: boolean
}

/** What became of a proposal. */
export interface Outcome {
  by: string | undefined
  at: string
  /** `14:05`, with the day unless it is today. */
  when: string
  feedback: string
  /** The fields that the approver changed. */
  edited: string[]
  record: string | undefined
  /** Why the record is in force no more. */
  withdrawn: string | undefined
  /** Submitted twice with the same key, a withdrawal is applied once. A record that was brought back has another. */
  withdrawalKey: string
}

/** The proposal that another one replaces. */
export interface ReplacedProposal {
  id: string
  status: ProposalView['status']
  feedback: string
  changes: FieldChange[]
}

export interface FieldChange {
  field: string
  before: string
  after: string
}

/** The anchor of a proposal's card. */
export const anchorOf = (id: string): string => `p${id}`

/** Where a record stands among those of its session. */
export const recordHref = (session: string, record: string): string => `/sessions/${session}/records#r${record}`

/** The value of a field for a moment, in UTC: `2026-03-01T09:00`. */
export const fieldMoment = (at: string | undefined): string => (at === undefined ? '' : new Date(at).toISOString().slice(0, 16))
