// Items as every door shows them: whole, or as rows of a list, whose texts are cut.
import type { Context } from '../operations/context.ts'
import { claimantOf } from '../records/record-answer.ts'
import { isReady, type Board } from '../stores/records/board.ts'
import { itemsById, type BoardRow, type Item } from '../stores/records/items.ts'
import { rememberPersons } from '../stores/records/persons.ts'
import type { ItemAnswer } from './schemas.ts'

const ROW_CHARS = 200

/** These items of the board, with all their texts and the results of what they depend on. */
export const wholeItems = async (context: Context, board: Board, ids: readonly string[]): Promise<ItemAnswer[]> => {
  const rows = ids.map((id) => board.byId.get(id)!)
  const found = await itemsById(context.queries, [...new Set([...ids, ...rows.flatMap(({ dependsOn }) => dependsOn)])])
  const answers = rows.map((row) => answerOf(board, row, found.get(row.id)!, (id) => ({ result: found.get(id)?.result ?? null })))
  return remembered(context, answers)
}

/** The same as rows of a list: texts of at most 200 characters, and no results of others. */
export const itemRows = async (context: Context, board: Board, ids: readonly string[]): Promise<ItemAnswer[]> => {
  const found = await itemsById(context.queries, ids)
  return remembered(
    context,
    ids.map((id) => cut(answerOf(board, board.byId.get(id)!, found.get(id)!, () => ({})))),
  )
}

const WHOLE_CHARS = 256 * 1024

/** Items that were planned and claimed in one call: whole as long as they fit into an answer, and the others as rows of a list. */
export const claimedItems = async (context: Context, board: Board, ids: readonly string[]): Promise<ItemAnswer[]> => {
  let left = WHOLE_CHARS
  return (await wholeItems(context, board, ids)).map((answer) => {
    const fits = left > 0
    left -= JSON.stringify(answer).length
    return fits ? answer : { ...cut(answer), depends_on: answer.depends_on.map(({ result: _, ...one }) => one), truncated: true }
  })
}

const remembered = async (context: Context, answers: ItemAnswer[]): Promise<ItemAnswer[]> => {
  await rememberPersons(
    context.queries,
    answers.flatMap((answer) => [answer.owner, answer.planned_by]),
  )
  return answers
}

const answerOf = (board: Board, row: BoardRow, stored: Item, resultOf: (id: string) => { result?: string | null }): ItemAnswer => ({
  item_id: row.id,
  kind: row.kind,
  title: stored.title,
  description: stored.description,
  status: row.status,
  ready: isReady(board, row),
  priority: stored.priority,
  depends_on: row.dependsOn.map((id) => {
    const { title, status } = board.byId.get(id)!
    return { item_id: id, title, status, ...resultOf(id) }
  }),
  paths: stored.paths,
  owner: stored.owner,
  planned_by: stored.plannedBy,
  claimed_by: claimantOf(row),
  claim_expires_at: row.expiresAt,
  note: stored.note,
  result: stored.result,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
})

const cut = (answer: ItemAnswer): ItemAnswer => {
  const [description, note, result] = [answer.description, answer.note, answer.result].map(firstOf)
  const truncated = description !== answer.description || note !== answer.note || result !== answer.result
  return { ...answer, description: description!, note: note!, result: result!, ...(truncated && { truncated }) }
}

const firstOf = (text: string | null): string | null =>
  text !== null && [...text].length > ROW_CHARS ? [...text].slice(0, ROW_CHARS).join('') : text
