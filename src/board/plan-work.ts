// New items on the board.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { uuid7 } from '../core/ids.ts'
import { teamOf, type Context } from '../operations/context.ts'
import { CALLERS, handleOf, named, RECORD_ACTORS } from '../records/callers.ts'
import { refuseUnless, roleOf } from '../records/who-may.ts'
import { writableSession } from '../rooms/preconditions.ts'
import { nameOrHandle, op, sessionId } from '../rooms/schemas.ts'
import { blockersOf, type Board } from '../stores/records/board.ts'
import { insertItems, type NewItem } from '../stores/records/items.ts'
import { lockedBoard } from './locked-board.ts'
import { dependenciesNamed, refuseCircle } from './dependencies.ts'
import { claimedItems, itemRows } from './item-answer.ts'
import { refusePlannedOverlaps } from './overlaps.ts'
import { ownersOf } from './owners.ts'
import { item, MOST_ITEMS, planned } from './schemas.ts'
import { noteWork, appendPlanned } from './append-events.ts'
import { boardNow, idAndTitle } from '../rooms/work/open-work.ts'

const newItem = z.strictObject({ ...planned, owner: nameOrHandle.optional() })

/** All items or none. 400 for an owner, dependency or path that means nothing; 409 past 500 items, and with `claim` for one that is not ready
 *  or overlaps another team's claim. With `claim` the items come whole, with the results of what they depend on; past 256 Ki characters as rows of
 *  list_work. */
export const planWork = op({
  name: 'plan_work',
  summary: 'Put work on the board, all items or none; teams divide it by claim_work. With claim: true it is yours at once.',
  route: ['POST', '/sessions/:session_id/work'],
  callers: CALLERS,
  keyRow: RECORD_ACTORS,
  effect: 'write',
  searchHint: 'divide work among teams',
  example: { items: [{ title: 'Write the lexer', paths: ['src/lexer'] }] },
  input: z.strictObject({
    session_id: sessionId,
    items: z
      .array(newItem)
      .min(1)
      .max(50)
      .describe(
        'depends_on: item_ids, or #1, #2 and so on of this call. paths: what it edits (src/parser, docs/*.md, **/x.ts). owner: a team.',
      ),
    claim: z.boolean().default(false),
  }),
  output: z.object({ items: z.array(item) }),
  refuses: ['session_closed', 'forbidden', 'conflict'],
  async run(context, { items: given, claim }) {
    const session = writableSession(context)
    const role = roleOf(context.caller, session.convenerTeamId)
    refuseUnless(role, 'plan work')
    if (claim) refuseUnless(role, 'claim work')
    const board = await lockedBoard(context, session)
    if (board.rows.length + given.length > MOST_ITEMS)
      refuse(
        'conflict',
        `A session has at most ${MOST_ITEMS} items, and this one has ${board.rows.length}. Continue in a new one: create_session with resume_from.`,
      )
    const { added, owners } = await newItems(context, session.id, board, given)
    if (claim) refuseUnclaimable(context, board, added)
    const holder = claim ? teamOf(context) : undefined
    await insertItems(context.queries, session.id, added, { by: named(context), teamId: handleOf(context), holder })
    await appendPlanned(
      context,
      session.id,
      added,
      owners.filter((handle) => handle !== handleOf(context)),
    )
    if (claim) for (const one of added) await noteWork(context, session.id, 'work_claimed', one)
    const now = await boardNow(context.services, context.queries, session.id)
    const ids = added.map(({ id }) => id)
    return { items: await (claim ? claimedItems : itemRows)(context, now, ids) }
  },
})

const newItems = async (
  context: Context,
  sessionId: string,
  board: Board,
  given: z.output<typeof newItem>[],
): Promise<{ added: NewItem[]; owners: string[] }> => {
  const ids = given.map(uuid7)
  const ownerOf = given.some((one) => one.owner !== undefined) ? await ownersOf(context, sessionId) : undefined
  const owned = given.map((one, i) => (one.owner === undefined ? undefined : ownerOf!(one.owner, `items.${i}.owner`)))
  const next = (board.rows.at(-1)?.place ?? 0) + 1
  const added = given.map((one, i) => ({
    id: ids[i]!,
    title: one.title,
    description: one.description ?? '',
    priority: one.priority ?? 'medium',
    depends_on: dependenciesNamed(board, one.depends_on ?? [], `items.${i}.depends_on`, ids),
    paths: one.paths ?? [],
    owner: owned[i]?.person ?? null,
    owner_id: owned[i]?.person.person_id ?? null,
    place: next + i,
  }))
  const dependsOn = new Map(added.map(({ id, depends_on }) => [id, depends_on]))
  refuseCircle(dependsOn, ids, (id) => `items.${ids.indexOf(id)}.depends_on`)
  return { added, owners: owned.flatMap((one) => one?.handle ?? []) }
}

const refuseUnclaimable = (context: Context, board: Board, added: readonly NewItem[]): void => {
  const ours = new Set(added.map(({ id }) => id))
  const blocked_by = added.flatMap((one) => [
    ...blockersOf(board, { dependsOn: one.depends_on }).map(idAndTitle),
    ...added.filter(({ id }) => one.depends_on.includes(id)).map(idAndTitle),
  ])
  if (blocked_by.length > 0)
    refuse(
      'conflict',
      'Nothing was planned: an item that waits for others cannot be claimed yet. Plan it without claim, or leave out its depends_on.',
      {
        blocked_by: blocked_by.map(({ item_id, title }) => (ours.has(item_id) ? { item_id: null, title } : { item_id, title })),
      },
    )
  refusePlannedOverlaps(
    board,
    teamOf(context).teamId,
    added.flatMap(({ paths }) => paths),
  )
}
