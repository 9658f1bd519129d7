// What a list of records shows, in plain data.
export interface RecordView {
  id: string
  type: 'decision' | 'action'
  session: { id: string; title: string; archived: boolean }
  title: string
  description: string
  rationale: string
  status: 'in force' | 'withdrawn' | 'open' | 'claimed' | 'done' | 'dropped'
  at: string
  priority: 'high' | 'medium' | 'low' | undefined
  due: string | undefined
  /** Who owns the action item, or took the decision. */
  whose: Who | undefined
  /** The team that holds it, or has done it. */
  team: string | undefined
  result: string
  /** Why it holds no more, and who said so. */
  withdrawn: { by: string | undefined; reason: string } | undefined
  /** A person has withdrawn it. */
  over: boolean
  /** A person approved what an agent proposed. */
  aiAssisted: boolean
  proposal: string
  proposedBy: Who
  approvedBy: Who
  approvedAt: string
  /** The fields that the approver changed, in words. */
  edited: string[]
  source: { quote: string | undefined; sequence: number | undefined; found: boolean } | undefined
}

export interface Who {
  /** Undefined for a name that is nobody's. */
  id: string | undefined
  name: string
}

/** What a list was asked for; empty where that is all. */
export interface Filters {
  q: string
  type: string
  status: string
  owner: string
  meeting: string
  series: string
}

export interface RecordsView {
  filters: Filters
  records: RecordView[]
  /** The address of what follows. */
  next: string | undefined
  /** What can be chosen: persons and sessions by id. */
  owners: { id: string; name: string }[]
  meetings: { id: string; title: string }[]
  problem: string | undefined
}

export interface PersonView {
  id: string
  name: string
  kind: 'team' | 'person' | 'key'
  verified: boolean
  /** How many open action items of theirs come first: `3`, or `50+`. Undefined where a filter leaves them out. */
  open: string | undefined
  meetings: SeriesMeeting[]
}

/** A chain of sessions, each resumed from the one before. */
export interface SeriesView {
  id: string
  meetings: SeriesMeeting[]
  /** How many there are: `3`, or `50+` where `meetings` has only the newest. */
  count: string
}

export interface SeriesMeeting {
  id: string
  title: string
  at: string
  concluded: boolean
  decisions: number
  openItems: number
}

/** The anchor of a record. */
export const recordAnchor = (id: string): string => `r${id}`
