// What an item waits for: items of its session, never itself, not even by a detour.
import { refuse } from '../core/errors.ts'
import { idWithin } from '../core/ids.ts'
import type { Board } from '../stores/records/board.ts'

/** The ids that `depends_on` names: items of the board, or `#1`, `#2` … for those of the same call (`added`, by their place in it). 400 for
 *  what is neither. */
export const dependenciesNamed = (board: Board, given: readonly string[], field: string, added: readonly string[] = []): string[] => {
  const ids = given.map((word) => {
    const id = /^#\d{1,3}$/.test(word) ? added[Number(word.slice(1)) - 1] : board.byId.get(idWithin(word))?.id
    return (
      id ?? refuse('invalid_request', `${field}: ${JSON.stringify(word)} is no item of this session${hintFor(word, added)}.`, { field })
    )
  })
  return [...new Set(ids)]
}

const hintFor = (word: string, added: readonly string[]): string => {
  if (!word.startsWith('#')) return '. list_work has their ids'
  return added.length > 0
    ? `: this call has #1 to #${added.length}`
    : '. # names items of one plan_work call; list_work has the ids of those that are there'
}

/** Refuses dependencies that lead back to where they began. `dependsOn`: of every item, with those that are about to be written. */
export const refuseCircle = (
  dependsOn: ReadonlyMap<string, readonly string[]>,
  from: readonly string[],
  fieldOf: (id: string) => string,
): void => {
  const [onTheWay, done] = [new Set<string>(), new Set<string>()]
  const leadsBack = (id: string): boolean => {
    if (onTheWay.has(id)) return true
    if (done.has(id)) return false
    onTheWay.add(id)
    const back = (dependsOn.get(id) ?? []).some(leadsBack)
    onTheWay.delete(id)
    done.add(id)
    return back
  }
  for (const id of from)
    if (leadsBack(id)) {
      const field = fieldOf(id)
      refuse('invalid_request', `${field}: the item would wait for itself, directly or by way of others. Leave one of them out.`, { field })
    }
}
