// The fields of an item that an update changes, and who may change them.
import { refuse } from '../core/errors.ts'
import { withLf } from '../core/text/line-breaks.ts'
import type { Context } from '../operations/context.ts'
import type { Board } from '../stores/records/board.ts'
import type { Item } from '../stores/records/items.ts'
import { dependenciesNamed, refuseCircle } from './dependencies.ts'
import { refuseWithdrawn, type Standing } from './moves.ts'
import { ownersOf } from './owners.ts'

export interface Edits {
  note?: string | undefined
  result?: string | undefined
  title?: string | undefined
  description?: string | undefined
  priority?: Item['priority'] | undefined
  depends_on?: string[] | undefined
  paths?: string[] | undefined
  /** An empty owner removes the one that is set. */
  owner?: string | undefined
}

/** The fields of the row that change, with their new values. */
export const changesOf = async (context: Context, board: Board, stored: Item, edits: Edits, standing: Standing): Promise<Partial<Item>> => {
  const { depends_on, owner, ...plain } = edits
  const given = Object.values(edits).some((value) => value !== undefined)
  if (given) refuseWithdrawn(board.byId.get(stored.id)!, standing)
  const approved = stored.kind === 'action' && [edits.title, edits.description, edits.priority, owner].some((value) => value !== undefined)
  if (approved && standing.role !== 'person')
    refuse(
      'forbidden',
      'Insufficient permissions. A person approved this item, and only a person changes what it says. Propose another one.',
    )
  const wanted: { [Field in keyof Item]?: Item[Field] | undefined } = { ...plain, ...emptied(plain) }
  if (depends_on !== undefined) wanted.dependsOn = dependenciesOf(board, stored.id, depends_on)
  if (owner !== undefined) {
    const person = owner === '' ? null : (await ownersOf(context, stored.sessionId))(owner, 'owner').person
    if (!isSame(person, stored.owner)) Object.assign(wanted, { owner: person, ownerId: person?.person_id ?? null })
  }
  const changed = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => value !== undefined && compared(value) !== compared(stored[field as 'title'])),
  )
  const { holds, did, planned, mayTakeBack } = standing
  // A retry after a lost answer changes nothing more, and succeeds: whoever handed an item back has no say in it any longer.
  if (Object.keys(changed).length > 0 && !holds && !did && !planned && !mayTakeBack)
    refuse(
      'forbidden',
      'Insufficient permissions. Only its holder, its planner, the convener, a key of the scope full or a person changes an item: claim it first, or ask in the feed.',
    )
  return changed
}

// Another kind of line break alone is no change.
const compared = (value: unknown) => JSON.stringify(typeof value === 'string' ? withLf(value) : value)

// Compares two fields: jsonb keeps an object's in another order than ours, so that their texts differ.
const isSame = (one: Item['owner'], other: Item['owner']) => one?.person_id === other?.person_id && one?.name === other?.name

// An empty note or result removes the one that is there.
const emptied = ({ note, result }: Edits) => ({ ...(note === '' && { note: null }), ...(result === '' && { result: null }) })

const dependenciesOf = (board: Board, id: string, given: string[]): string[] => {
  const dependsOn = dependenciesNamed(board, given, 'depends_on')
  const all = new Map(board.rows.map((row) => [row.id, row.dependsOn]))
  refuseCircle(all.set(id, dependsOn), [id], () => 'depends_on')
  return dependsOn
}
