// Who edits which file: a claim whose paths overlap those of another team's live claim is refused, unless it is taken knowingly.
import { refuse } from '../core/errors.ts'
import { pathsOverlap } from '../core/path-overlap.ts'
import type { Board } from '../stores/records/board.ts'

export interface Overlap {
  item_id: string
  path: string
  team_name: string
}

/** The paths that other teams hold and that overlap these. */
export const overlapsWith = ({ rows }: Board, teamId: string, paths: readonly string[]): Overlap[] =>
  rows
    .filter(({ status, claimedTeamId }) => status === 'claimed' && claimedTeamId !== teamId)
    .flatMap(({ id, paths: held, claimedTeamName }) =>
      held
        .filter((path) => paths.some((wanted) => pathsOverlap(wanted, path)))
        .map((path) => ({ item_id: id, path, team_name: claimedTeamName ?? '' })),
    )

/** Refuses with 409 where they do. */
export const refuseOverlaps = (board: Board, teamId: string, paths: readonly string[]): void => {
  const overlaps = overlapsWith(board, teamId, paths)
  const [first] = overlaps
  if (first)
    refuse(
      'conflict',
      `${first.team_name} holds ${first.path}, which this work would touch. Take other work, ask ${first.team_name} in the feed, or claim it knowingly with allow_overlap: true.`,
      { overlaps },
    )
}
