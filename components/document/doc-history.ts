import type { DiffView } from './diff.tsx'
import { hrefWith } from '../parts/href.ts'
import type { Team } from '../parts/team.tsx'

export interface Version {
  version: number
  by: Team
  at: string
  /** `just now`, `5m ago`. */
  age: string
  bytes: number
  /** Lines against the version before; undefined if counting them would have taken too long. */
  changed: { added: number; removed: number; exact: boolean } | undefined
}

export interface Comparison {
  from: number
  to: number
  view: DiffView
  /** The rows, rendered, and how many there are. */
  html: string
  rows: number
  added: number
  removed: number
  exact: boolean
  /** There are more rows than these. */
  cut: boolean
}

export interface History {
  sessionId: string
  title: string
  /** Its session is concluded or archived. */
  locked: boolean
  newest: number
  versions: Version[]
  /** The version before which this page of versions begins, and the one for the next, older page. */
  before: number | undefined
  older: number | undefined
  comparison: Comparison | undefined
}

/** The address of the history with another comparison or page. */
export const historyHref = (history: History, changes: Partial<Comparison> & { before?: number | undefined }): string => {
  const { from, to, view } = { ...history.comparison, ...changes }
  const before = 'before' in changes ? changes.before : history.before
  return hrefWith(`/sessions/${history.sessionId}/history`, { from, to, view: view === 'split' ? view : undefined, before })
}
