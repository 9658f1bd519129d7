// Writes the events of an item that changed into its session's log.
import { authorOf } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { appendReleased } from '../rooms/work/released-work.ts'
import type { Board } from '../stores/records/board.ts'
import type { BoardRow, Item } from '../stores/records/items.ts'
import type { Session } from '../stores/sessions.ts'
import type { Edits } from './edits.ts'
import type { Move } from './moves.ts'
import { newlyReady } from '../rooms/work/open-work.ts'
import { noteWork, appendOver } from './append-events.ts'

export interface Updated {
  row: BoardRow
  /** The item before it changed, with its texts. */
  stored: Item
  move: Move | undefined
  changes: Partial<Item>
  edits: Edits
  before: Board
  after: Board
}

const WIRE: Partial<Record<keyof Item, string>> = { dependsOn: 'depends_on' }
const NOT_IN_EVENT = ['note', 'result', 'ownerId'] // not in work_edited: note and result have an event of their own, or stand in the move's

/** Writes a move as a system event, edits and notes as runtime events, which wake nobody. */
export const appendUpdated = async (
  context: Context,
  session: Session,
  { row, stored, move, changes, edits, before, after }: Updated,
): Promise<void> => {
  const item = { id: row.id, title: changes.title ?? row.title }
  const fields = Object.keys(changes).filter((field) => !NOT_IN_EVENT.includes(field))
  if (fields.length > 0)
    await noteWork(context, session.id, 'work_edited', item, { fields: fields.map((field) => WIRE[field as keyof Item] ?? field) })
  const noted = notedOf(changes, move)
  if (Object.keys(noted).length > 0) await noteWork(context, session.id, 'work_noted', item, noted)
  if (move === 'done' || move === 'dropped')
    return appendOver(
      context,
      session.id,
      `work_${move}`,
      { ...item, note: edits.note || null, result: (edits.result ?? stored.result) || null },
      { ready: newlyReady(before, after), holder: row.claimedTeamId },
    )
  if (move) await appendBack(context, session, { ...item, row }, move, edits.note)
}

// Which of the two texts the event of a move carries itself.
const TOLD_BY: Record<Move, 'note' | 'result'> = { done: 'result', dropped: 'note', handed_back: 'note', taken_back: 'note' }

// null: it was removed.
const notedOf = (changes: Partial<Item>, move: Move | undefined): { note?: string | null; result?: string | null } => {
  const fields = (['note', 'result'] as const).filter((field) => field in changes && !(move && TOLD_BY[move] === field))
  return Object.fromEntries(fields.map((field) => [field, changes[field] ?? null]))
}

// An item that is opened again after it was done or dropped is reported as released too, although nobody held it.
const appendBack = (
  context: Context,
  session: Session,
  { id, title, row }: { id: string; title: string; row: BoardRow },
  reason: 'handed_back' | 'taken_back',
  note: string | undefined,
): Promise<void> => {
  const released = [{ id, title, teamId: row.claimedTeamId, teamName: row.claimedTeamName }]
  return appendReleased(context, session, released, { reason, by: authorOf(context.caller).name, note: note || undefined })
}
