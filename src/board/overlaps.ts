// Who edits which file: a claim whose paths overlap those of another team's live claim is refused, unless it is taken knowingly.
import { refuse } from '../core/errors.ts'
import { patternOf, patternsOverlap } from '../core/text/path-overlap.ts'
import type { Board } from '../stores/records/board.ts'

export interface Overlap {
  item_id: string
  path: string
  team_name: string
}

/** Returns a function that finds, for given paths, the overlapping ones that other teams hold. */
export const overlapsOf = ({ rows }: Board, teamId: string): ((paths: readonly string[]) => Overlap[]) => {
  const held = rows
    .filter(({ status, claimedTeamId }) => status === 'claimed' && claimedTeamId !== teamId)
    .flatMap(({ id, paths, claimedTeamName }) =>
      paths.map((path) => ({ pattern: patternOf(path), overlap: { item_id: id, path, team_name: claimedTeamName ?? '' } })),
    )
  return (paths) => {
    const wanted = paths.map(patternOf)
    return held.filter(({ pattern }) => wanted.some((one) => patternsOverlap(one, pattern))).map(({ overlap }) => overlap)
  }
}

/** Refuses with 409 when these paths overlap another team's claim. */
export const refuseOverlaps = (board: Board, teamId: string, paths: readonly string[]): void => {
  const overlaps = overlapsOf(board, teamId)(paths)
  const [first] = overlaps
  if (first)
    refuse(
      'conflict',
      `${first.team_name} holds ${first.path}, which this work would touch. Take other work, ask ${first.team_name} in the feed, or claim it knowingly with allow_overlap: true.`,
      { overlaps },
    )
}
