// The board as its rules read it: what is ready, who holds what, which paths overlap.
import type { Item, Room } from '../state.ts'
import { PRIORITIES } from './roles.ts'

const isOver = ({ status }: Item) => status === 'done' || status === 'dropped'
export const itemOf = ({ items }: Room, id: string): Item | undefined => items.find((item) => item.id === id)

export const blockersOf = (room: Room, { dependsOn }: Pick<Item, 'dependsOn'>): Item[] =>
  dependsOn.map((id) => itemOf(room, id)!).filter((item) => !isOver(item))

export const isReady = (room: Room, item: Item): boolean => item.status === 'open' && blockersOf(room, item).length === 0

/** The most urgent first, then the oldest. */
export const readyItems = (room: Room): Item[] =>
  room.items.filter((item) => isReady(room, item)).toSorted((a, b) => PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority))

// Of the paths that are drawn those overlap that begin with the same folder.
const meet = (a: string, b: string) => a.split('/')[0] === b.split('/')[0]

const heldByOthers = ({ items }: Room, handle: string) =>
  items.filter(({ status, holder }) => status === 'claimed' && holder !== handle).flatMap(({ paths }) => paths)

/** Does a live claim of another team overlap these paths? */
export const overlap = (room: Room, handle: string, paths: readonly string[]): boolean => overlapsNew(room, handle, [], paths)

/** Does a live claim of another team overlap these paths, and not those before? */
export const overlapsNew = (room: Room, handle: string, before: readonly string[], paths: readonly string[]): boolean =>
  heldByOthers(room, handle).some((one) => paths.some((path) => meet(path, one)) && !before.some((path) => meet(path, one)))

/** Does following what waits for what lead back to one of these? */
export const isCircle = (dependsOn: ReadonlyMap<string, readonly string[]>, from: readonly string[]): boolean => {
  const reaches = (at: string, goal: string, seen: Set<string>): boolean =>
    (dependsOn.get(at) ?? []).some((next) => next === goal || (!seen.has(next) && (seen.add(next), reaches(next, goal, seen))))
  return from.some((id) => reaches(id, id, new Set()))
}

export const counts = (room: Room) => {
  const count = (status: Item['status']) => room.items.filter((item) => item.status === status).length
  return { open: count('open'), ready: readyItems(room).length, claimed: count('claimed'), done: count('done'), dropped: count('dropped') }
}

/** An item as every door shows it. */
export const itemAnswer = (room: Room, item: Item) => {
  const { id, kind, title, description, status, priority, paths, note, result, owner, planner, holder, holderName } = item
  return {
    item_id: id,
    kind,
    title,
    description,
    status,
    priority,
    paths,
    note,
    result,
    ready: isReady(room, item),
    depends_on: item.dependsOn.map((other) => {
      const { title, status } = itemOf(room, other)!
      return { item_id: other, title, status }
    }),
    owner: owner === null ? null : { name: owner },
    planned_by: { name: planner },
    claimed_by: holder === null ? null : { team_id: holder, team_name: holderName },
  }
}
