// What the page of a board shows, in plain data.
import type { Team } from '../parts/team.tsx'

export interface BoardView {
  session: string
  plan: Plan
  /** By the names of the lists. */
  lists: Record<ListName, WorkItem[]>
  /** How many items that are done are not shown. */
  olderDone: number
  lately: WorkLine[]
  /** Differs when the board does. */
  mark: string
}

export const LISTS = ['ready', 'blocked', 'claimed', 'done', 'dropped'] as const
export type ListName = (typeof LISTS)[number]

/** How far the plan has come. What is dropped is no part of it. */
export interface Plan {
  done: number
  total: number
  /** What could be claimed for a while, and nobody has. */
  untaken: { id: string; title: string }[]
}

export interface WorkItem {
  id: string
  /** A person approved it as an action item. */
  approved: boolean
  title: string
  description: string
  priority: 'high' | 'medium' | 'low'
  list: ListName
  paths: { path: string; overlaps: string[] }[]
  /** What it waits for. */
  waitsFor: { id: string; title: string; by: string | undefined }[]
  owner: Team | undefined
  due: string | undefined
  plannedBy: string
  /** Who holds it, or has done it. */
  team: Team | undefined
  /** Since when it is held, and for how long already. */
  since: { at: string; words: string } | undefined
  /** Until when the lease holds it. */
  until: string | undefined
  note: string
  result: string
  changedAt: string
  /** The key of the form that brings it back. */
  key: string
}

/** Something that happened to the board. */
export interface WorkLine {
  sequence: number
  at: string
  team: Team | undefined
  words: string
}

/** The anchor of an item, wherever the board stands. */
export const itemAnchor = (id: string): string => `w${id}`
