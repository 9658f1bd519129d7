// A session's board as its page shows it.
import type { BoardView, ListName, Plan, WorkItem, WorkLine } from '../../../components/board/board-view.ts'
import { ago, clockOrDay, clockOrMoment } from '../../../components/parts/time.ts'
import { eventLine, subjectOf, type EventKinds } from '../../core/events/event-kinds.ts'
import { sha256 } from '../../core/ids.ts'
import { overlappingOnes, stepsForAll } from '../../core/text/overlapping-paths.ts'
import { roster } from '../../stores/members.ts'
import { blockersOf, isReady, readyOf, type Board } from '../../stores/records/board.ts'
import type { BoardRow, Item } from '../../stores/records/items.ts'
import { wholeBoard, workEvents, type WholeBoard, type WorkEvent } from '../../stores/records/whole-board.ts'
import type { Site } from '../respond.tsx'
import { teamLookup, type TeamLookup } from '../session/team-lookup.ts'
import { asText } from '../../core/text/as-text.ts'

const DONE_SHOWN = 50
const DROPPED_SHOWN = 50
const LATELY_SHOWN = 12
const UNTAKEN_MS = 10 * 60_000

/** `all`: also what was done or dropped long ago. */
export const boardView = async ({ services, eventKinds }: Site, sessionId: string, all = false): Promise<BoardView> => {
  const { database, config, clock } = services
  const [whole, teams, events] = await Promise.all([
    wholeBoard(database, sessionId, config.CLAIM_LEASE),
    roster(database, sessionId),
    workEvents(database, sessionId, LATELY_SHOWN),
  ])
  const { board } = whole
  const lookup = teamLookup(teams)
  const shown = { whole, lookup, now: clock.now(), overlapping: overlapsOf(board) }
  const lists = listsOf(whole)
  const done = all ? lists.done : lists.done.slice(0, DONE_SHOWN)
  const dropped = all ? lists.dropped : lists.dropped.slice(0, DROPPED_SHOWN)
  const rows = { ...lists, done, dropped }
  return {
    session: sessionId,
    plan: planOf(whole, lists, shown.now),
    lists: Object.fromEntries(
      Object.entries(rows).map(([name, some]) => [name, some.map((row) => workItem(row, name as ListName, shown))]),
    ) as BoardView['lists'],
    olderDone: lists.done.length - done.length,
    olderDropped: lists.dropped.length - dropped.length,
    lately: events.map((event) => workLine(event, lookup, eventKinds, shown.now)),
    mark: boardMark(board),
  }
}

/** A hash of what a page shows of the board, without when claims end: a claim that was renewed shows its new time with the next change. */
export const boardMark = ({ rows }: Board): string =>
  sha256(JSON.stringify(rows.map(({ expiresAt: _, lapsed: __, ...row }) => row))).slice(0, 12)

const listsOf = ({ board, items }: WholeBoard): Record<ListName, BoardRow[]> => {
  const of = (status: BoardRow['status']) => board.rows.filter((row) => row.status === status)
  const newestFirst = (rows: BoardRow[]) => rows.toSorted((a, b) => changed(items, b).localeCompare(changed(items, a)))
  return {
    ready: readyOf(board),
    blocked: of('open').filter((row) => !isReady(board, row)),
    claimed: of('claimed').toSorted((a, b) => (a.claimedAt ?? '').localeCompare(b.claimedAt ?? '')),
    done: newestFirst(of('done')),
    dropped: newestFirst(of('dropped')),
  }
}

const changed = (items: Map<string, Item>, { id }: BoardRow): string => items.get(id)!.updatedAt

const planOf = ({ board, items }: WholeBoard, lists: Record<ListName, BoardRow[]>, now: number): Plan => {
  // An item can be claimed since it was opened, or since the last of what it waited for was done.
  const readySince = (row: BoardRow) =>
    Math.max(...[row, ...row.dependsOn.flatMap((id) => board.byId.get(id) ?? [])].map((one) => Date.parse(changed(items, one))))
  return {
    done: lists.done.length,
    total: board.rows.length - lists.dropped.length,
    untaken: lists.ready.filter((row) => now - readySince(row) >= UNTAKEN_MS).map(({ id, title }) => ({ id, title })),
  }
}

interface BoardContext {
  whole: WholeBoard
  lookup: TeamLookup
  now: number
  overlapping: (row: BoardRow, path: string) => string[]
}

const workItem = (row: BoardRow, list: ListName, { whole: { board, items }, lookup, now, overlapping }: BoardContext): WorkItem => {
  const item = items.get(row.id)!
  return {
    id: row.id,
    approved: item.kind === 'action',
    title: item.title,
    description: item.description,
    priority: item.priority,
    list,
    paths: item.paths.map((path) => ({ path, overlaps: list === 'done' || list === 'dropped' ? [] : overlapping(row, path) })),
    waitsFor: blockersOf(board, row).map((blocker) => ({
      id: blocker.id,
      title: blocker.title,
      by: blocker.status === 'claimed' ? (blocker.claimedTeamName ?? undefined) : undefined,
    })),
    owner: item.owner
      ? item.owner.kind === 'team'
        ? lookup.named(item.owner.name)
        : { name: item.owner.name, hue: undefined }
      : undefined,
    due: item.dueDate ?? undefined,
    plannedBy: item.plannedBy.name,
    team: row.claimedTeamId === null ? undefined : (lookup.team(row.claimedTeamId) ?? { name: row.claimedTeamName ?? '', hue: undefined }),
    since: list === 'claimed' && row.claimedAt ? { at: row.claimedAt, words: ago(row.claimedAt, now) } : undefined,
    until: row.expiresAt ?? undefined,
    note: item.note ?? '',
    result: item.result ?? '',
    changedAt: item.updatedAt,
    changed: clockOrMoment(item.updatedAt, now),
    idempotencyKey: `${row.id}.${Date.parse(item.updatedAt)}`,
  }
}

/** Whose live claims a path of an item overlaps, as far as that is told. */
const overlapsOf = ({ rows }: Board): BoardContext['overlapping'] => {
  const held = rows.filter(({ status }) => status === 'claimed').flatMap((row) => row.paths.map((path) => ({ row, path })))
  const overlapping = overlappingOnes(held, stepsForAll())
  return ({ claimedTeamId }, path) => {
    const names = overlapping(path)
      .filter(({ row }) => row.claimedTeamId !== claimedTeamId)
      .map(({ row }) => row.claimedTeamName ?? '')
    return [...new Set(names)]
  }
}

const workLine = ({ sequence, type, at, content }: WorkEvent, lookup: TeamLookup, kinds: EventKinds, now: number): WorkLine => {
  const name = type === 'system' ? (subjectOf(kinds, content) ?? '') : asText(content.by)
  const text = type === 'system' ? eventLine(kinds, content) : asText(content.text)
  const team = name === '' ? undefined : lookup.named(name)
  return { sequence, at, when: clockOrDay(at, now), team, words: team && text.startsWith(`${name} `) ? text.slice(name.length + 1) : text }
}
