import type { SharedDocument } from './document-pane.tsx'
import type { Lane } from './lanes.tsx'
import type { RosterTeam } from './roster.tsx'

/** All that the session page shows. */
export interface SessionView {
  id: string
  title: string
  description: string
  concluded: boolean
  startedAt: string
  teams: RosterTeam[]
  waitingFor: number
  lanes: Lane[]
  document: SharedDocument
  feed: {
    /** The rows, rendered (doors/pages/feed.tsx renders them bit by bit). */
    html: string
    shown: number
    /** Rows are missing above the first. */
    cut: boolean
  }
}
