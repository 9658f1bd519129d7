import type { AgentView, FamilyMember } from '../agents/agent-view.ts'
import type { PromptBoxProps } from '../agents/prompt-box.tsx'
import type { Lane } from './lanes.tsx'
import type { Status } from '../parts/status-dot.tsx'
import type { Team } from '../parts/team.tsx'

/** The state of a session, the same for every viewer: shown by its page, and kept up to date while the page is open. */
export interface SessionState {
  id: string
  title: string
  description: string
  concluded: boolean
  /** It takes no writes until somebody starts it again. */
  archived: boolean
  teams: RosterTeam[]
  waitingFor: number
  /** The teams that keep repeating themselves, and since when, in words (the loop guard). */
  loop: { teams: string[]; since: string } | undefined
  /** Messages wake the teams that sleep no more: since the hour began whose wakes are used up, or because there are none. */
  wakes: { perHour: number; since: string | undefined } | undefined
  /** For how long an open session has been silent, with nobody listening. */
  quietFor: string | undefined
  written: Written
  /** What stands beside the feed, in short. */
  counts: SideCounts
  /** Differ when the board and the records do. */
  marks: { board: string; records: string }
}

/** What can stand beside the feed. */
export type SideName = 'document' | 'board' | 'records'

/** `7/12`: how much of the plan is done; `3`: what is in force and open. Empty where there is nothing. */
export interface SideCounts {
  document?: undefined
  board: string
  records: string
}

export interface RosterTeam extends Team {
  id: string
  status: Status
  /** The team waits for the next message at this moment. */
  polling: boolean
  /** About how long ago the team was there: `12m ago`. */
  seen: string
  /** `seen` is when the team spoke last, and it has not listened since. */
  spoke: boolean
  convener: boolean
  left: boolean
  /** The session's agent, which a prompt sets to work; it polls nothing. */
  agent: boolean
  /** How many messages the team was not handed, or that many and `more`; undefined while it listens, and when it need not. */
  unread: { count: number; more: boolean } | undefined
  /** The sequence of the last message that the team has acknowledged; 0 before the first. */
  acknowledged: number
  /** The work that the team holds. */
  holds: HeldWork[]
}

/** An item of the board in a team's hands, and for how long. */
export interface HeldWork {
  id: string
  title: string
  since: string
}

/** The document's newest version, and its author. */
export interface Written {
  version: number
  by: Team | undefined
  at: string | undefined
  /** `just now`, `5m ago`; empty before the first. */
  age: string
}

export interface SharedDocument {
  content: string
  version: number
  /** The text of the document's Conclusion section. */
  conclusion: string | undefined
}

/** All that the session page shows. */
export interface SessionView extends SessionState {
  startedAt: string
  messages: number
  lanes: Lane[]
  document: SharedDocument
  /** The sequence of the newest event: an open page follows from there. */
  cursor: number
  feed: FeedWindow
  /** The session's agent, if it has one. */
  agent: SessionAgent | undefined
}

export interface SessionAgent {
  view: AgentView
  family: FamilyMember | undefined
  familyMark: string
  prompt: PromptBoxProps
  /** What starts a runner for it. */
  runnerCommand: string
}

/** The part of the feed that a page begins with. */
export interface FeedWindow {
  /** The rows, rendered (pages/session/feed.tsx). */
  html: string
  /** The sequence of the first row, if there are older ones. */
  olderThan: number | undefined
  /** The rows are put in while the page is sent. */
  streamed?: boolean
  /** The sequence of the event that the address names. */
  sought: number | undefined
}
