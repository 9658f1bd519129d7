// Who edits which file: a claim whose paths overlap those of another team's live claim is refused, unless it is taken knowingly.
import { refuse } from '../core/errors.ts'
import { patternOf, patternsOverlap } from '../core/text/path-overlap.ts'
import type { Board } from '../stores/records/board.ts'
import type { BoardRow } from '../stores/records/items.ts'

export interface Overlap {
  item_id: string
  path: string
  team_name: string
}

/** Returns a function that finds, for given paths, the overlapping ones that other teams hold, `most` of them. */
export const overlapsOf = ({ rows }: Board, teamId: string): ((paths: readonly string[], most?: number) => Overlap[]) => {
  const held = rows
    .filter(({ status, claimedTeamId }) => status === 'claimed' && claimedTeamId !== teamId)
    .flatMap(({ id, paths, claimedTeamName }) =>
      paths.map((path) => ({ pattern: patternOf(path), overlap: { item_id: id, path, team_name: claimedTeamName ?? '' } })),
    )
  return (paths, most = Infinity) => {
    const wanted = paths.map(patternOf)
    const found: Overlap[] = []
    for (const { pattern, overlap } of held) {
      if (found.length >= most) break
      if (wanted.some((one) => patternsOverlap(one, pattern))) found.push(overlap)
    }
    return found
  }
}

/** Refuses with 409 when these paths overlap another team's claim. */
export const refuseOverlaps = (board: Board, teamId: string, paths: readonly string[]): void =>
  refuseAny(
    overlapsOf(board, teamId)(paths),
    ({ team_name }) => `Take other work, ask ${team_name} in the feed, or claim it knowingly with allow_overlap: true.`,
  )

/** Refuses with 409 when the paths of items that are to be planned and claimed at once overlap another team's claim. */
export const refusePlannedOverlaps = (board: Board, teamId: string, paths: readonly string[]): void =>
  refuseAny(
    overlapsOf(board, teamId)(paths),
    ({ team_name }) =>
      `Nothing was planned: ask ${team_name} in the feed, or plan it without claim and take it knowingly with claim_work and allow_overlap: true.`,
  )

/** Refuses with 409 when new paths of an item that is claimed overlap what other teams hold and its paths until now do not. */
export const refuseWiderClaim = (board: Board, { status, claimedTeamId, paths }: BoardRow, wanted: readonly string[] | undefined): void => {
  if (wanted === undefined || status !== 'claimed' || claimedTeamId === null) return
  const find = overlapsOf(board, claimedTeamId)
  const had = find(paths)
  refuseAny(
    find(wanted).filter(({ item_id, path }) => !had.some((one) => one.item_id === item_id && one.path === path)),
    ({ team_name }) =>
      `Leave out what overlaps, ask ${team_name} in the feed, or plan it as an item of its own and claim that knowingly with allow_overlap: true.`,
  )
}

const refuseAny = (overlaps: Overlap[], todo: (first: Overlap) => string): void => {
  const [first] = overlaps
  if (first) refuse('conflict', `${first.team_name} holds ${first.path}, which this work would touch. ${todo(first)}`, { overlaps })
}
