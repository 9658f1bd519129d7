import type { DiffView } from './diff.tsx'
import type { Team } from '../parts/team.tsx'

export interface Version {
  version: number
  by: Team
  at: string
  age: string
  bytes: number
  /** Lines against the version before; undefined where counting them would have taken too long. */
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
  /** More rows than are shown. */
  cut: boolean
}

export interface History {
  sessionId: string
  title: string
  concluded: boolean
  newest: number
  versions: Version[]
  /** Where the page of versions begins, and where the next, older one does. */
  before: number | undefined
  older: number | undefined
  comparison: Comparison | undefined
}

/** The history with something else in view. */
export const historyHref = (history: History, shown: Partial<Comparison> & { before?: number | undefined }): string => {
  const { from, to, view } = { ...history.comparison, ...shown }
  const before = 'before' in shown ? shown.before : history.before
  const query = Object.entries({ from, to, view: view === 'split' ? view : undefined, before })
  const set = query.filter(([, value]) => value !== undefined).map(([name, value]) => [name, String(value)])
  return `/sessions/${history.sessionId}/history?${new URLSearchParams(set)}`
}
