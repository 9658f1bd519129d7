import type { SharedDocument } from '../document/document-pane.tsx'
import type { Lane } from './lanes.tsx'
import type { RosterTeam } from './roster.tsx'
import type { Team } from '../parts/team.tsx'

/** What the session is right now, for every viewer: shown by the page, and kept up to date while it is open. */
export interface SessionState {
  id: string
  title: string
  description: string
  concluded: boolean
  teams: RosterTeam[]
  waitingFor: number
  /** The teams that keep repeating themselves, and since when (the loop guard). */
  loop: { teams: string[]; since: string } | undefined
  /** For how long nothing was said and nobody listened, in a session that has no conclusion. */
  quietFor: string | undefined
  written: Written
}

/** Which version of the document is the newest, and whose it is. */
export interface Written {
  version: number
  by: Team | undefined
  at: string | undefined
  /** How long ago. */
  age: string
}

/** All that the session page shows. */
export interface SessionView extends SessionState {
  startedAt: string
  messages: number
  lanes: Lane[]
  document: SharedDocument
  /** The newest event there was: an open page follows from here. */
  cursor: number
  feed: FeedWindow
}

/** A stretch of the feed. */
export interface FeedWindow {
  /** The rows, rendered (pages/session/feed.tsx renders them bit by bit). */
  html: string
  /** There are older rows than the first of these, whose sequence this is. */
  olderThan: number | undefined
  /** They are put in while the page is sent. */
  streamed?: boolean
  /** The row that was asked for. */
  sought: number | undefined
}
