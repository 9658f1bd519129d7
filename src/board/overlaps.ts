// Who edits which file: a claim whose paths overlap those of another team's live claim is refused, unless it is taken knowingly.
import { refuse } from '../core/errors.ts'
import { overlapping, stepsForAll } from '../core/text/overlapping-paths.ts'
import type { Board } from '../stores/records/board.ts'
import type { BoardRow } from '../stores/records/items.ts'

interface Overlap {
  item_id: string
  path: string
  team_name: string
}

type Verdict = ReturnType<ReturnType<typeof overlapping>>

/** Returns a function that says whether none of these paths overlaps what other teams hold; 'untold' where the steps have run out. */
export const freeOf = (board: Board, teamId: string): ((paths: readonly string[]) => boolean | 'untold') => {
  const overlaps = overlapping(
    heldByOthers(board, teamId).map(({ path }) => path),
    stepsForAll(),
  )
  return (paths) => {
    const verdicts = paths.map(overlaps)
    return verdicts.includes(true) ? false : verdicts.includes('untold') ? 'untold' : true
  }
}

/** Refuses with 409 when these paths overlap another team's claim. */
export const refuseOverlaps = (board: Board, teamId: string, paths: readonly string[]): void =>
  refuseAny(
    overlapsOf(board, teamId, paths),
    ({ team_name }) => `Take other work, ask ${team_name} in the feed, or claim it knowingly with allow_overlap: true.`,
  )

/** Refuses with 409 when the paths of items that are to be planned and claimed at once overlap another team's claim. */
export const refusePlannedOverlaps = (board: Board, teamId: string, paths: readonly string[]): void =>
  refuseAny(
    overlapsOf(board, teamId, paths),
    ({ team_name }) =>
      `Nothing was planned: ask ${team_name} in the feed, or plan it without claim and take it knowingly with claim_work and allow_overlap: true.`,
  )

/** Refuses with 409 when new paths of an item that is claimed overlap what other teams hold and its paths until now do not. */
export const refuseWiderClaim = (board: Board, { status, claimedTeamId, paths }: BoardRow, wanted: readonly string[] | undefined): void => {
  if (wanted === undefined || status !== 'claimed' || claimedTeamId === null) return
  const had = overlapping(paths, stepsForAll())
  refuseAny(
    overlapsOf(board, claimedTeamId, wanted).filter(({ overlap }) => had(overlap.path) !== true),
    ({ team_name }) =>
      `Leave out what overlaps, ask ${team_name} in the feed, or plan it as an item of its own and claim that knowingly with allow_overlap: true.`,
  )
}

const heldByOthers = ({ rows }: Board, teamId: string): Overlap[] =>
  rows
    .filter(({ status, claimedTeamId }) => status === 'claimed' && claimedTeamId !== teamId)
    .flatMap(({ id, paths, claimedTeamName }) => paths.map((path) => ({ item_id: id, path, team_name: claimedTeamName ?? '' })))

const overlapsOf = (board: Board, teamId: string, paths: readonly string[]): { overlap: Overlap; verdict: Verdict }[] => {
  const overlaps = overlapping(paths, stepsForAll())
  return heldByOthers(board, teamId)
    .map((overlap) => ({ overlap, verdict: overlaps(overlap.path) }))
    .filter(({ verdict }) => verdict !== false)
}

const refuseAny = (found: { overlap: Overlap; verdict: Verdict }[], todo: (first: Overlap) => string): void => {
  const told = found.find(({ verdict }) => verdict === true)
  const first = (told ?? found[0])?.overlap
  if (!first) return
  const why = told
    ? `${first.team_name} holds ${first.path}, which this work would touch.`
    : `${first.team_name} holds ${first.path}, which this work may touch: there are too many paths with * to compare them all.`
  refuse('conflict', `${why} ${todo(first)}`, { overlaps: found.map(({ overlap }) => overlap) })
}
