import type { PermissionView } from '../agents/agent-view.ts'
import type { Team } from '../parts/team.tsx'
import type { ProposalView } from './proposal-view.ts'

export const INBOX_TABS = ['waiting', 'decided', 'expired'] as const
export type InboxTab = (typeof INBOX_TABS)[number]

/** What waits for a person. */
export interface WaitingView {
  requests: AskedFor[]
  groups: InboxGroup[]
  /** More wait than are shown. */
  more: boolean
}

/** A question to a person. */
export interface AskedView {
  session: { id: string; title: string }
  /** The sequence of the message that asks. */
  sequence: number
  at: string
  by: Team
  /** The beginning of the question, as plain text. */
  text: string
}

/** What a running agent asks permission for, and in which session. */
export interface AskedFor {
  session: { id: string; title: string }
  card: PermissionView
}

/** The proposals of one session, the oldest first. */
export interface InboxGroup {
  session: { id: string; title: string }
  cards: ProposalView[]
  together: Together[]
}

/** Proposals of one team that can be approved at once. */
export interface Together {
  /** The id of its element. */
  anchor: string
  team: Team
  proposals: { id: string; title: string; idempotencyKey: string }[]
}

/** A session that needs a person, and why. */
export interface NeedyView {
  id: string
  title: string
  why: string
}

/** What became of proposals that were approved together: nothing wrong, or why not. */
export interface TogetherOutcome {
  title: string
  done: boolean
  said: string
}
