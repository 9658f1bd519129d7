// What the page of a board shows, in plain data.
import type { Team } from '../parts/team.tsx'

export interface BoardView {
  session: string
  plan: Plan
  /** The items of each list, by its name. */
  lists: Record<ListName, WorkItem[]>
  /** The number of done items that are not shown. */
  olderDone: number
  olderDropped: number
  lately: WorkLine[]
  /** A hash that changes when the board does. */
  mark: string
}

export const LISTS = ['ready', 'blocked', 'claimed', 'done', 'dropped'] as const
export type ListName = (typeof LISTS)[number]

/** How far the plan has come. Dropped items are no part of it. */
export interface Plan {
  done: number
  total: number
  /** Items that have been ready for a while, and that nobody has claimed. */
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
  /** The items that it waits for. */
  waitsFor: { id: string; title: string; by: string | undefined }[]
  owner: Team | undefined
  due: string | undefined
  plannedBy: string
  /** The team that holds the item, or has done it. */
  team: Team | undefined
  /** Since when the item is held, and for how long already. */
  since: { at: string; words: string } | undefined
  /** When the lease of its claim ends. */
  until: string | undefined
  note: string
  result: string
  changedAt: string
  /** The same in words. */
  changed: string
  /** Of the form that brings it back. */
  idempotencyKey: string
}

/** Something that happened to the board. */
export interface WorkLine {
  sequence: number
  at: string
  /** The same in words. */
  when: string
  team: Team | undefined
  words: string
}

/** The anchor of an item, wherever the board stands. */
export const itemAnchor = (id: string): string => `w${id}`
