// In which worktrees a caller may have agents work.
import type { Context } from '../../operations/context.ts'
import { worktreeOf, type WorktreeFilter, type WorktreeRow } from '../../stores/control/worktrees.ts'
import { sessionById } from '../../stores/sessions.ts'
import { ownSession } from '../reach.ts'

export type WorktreeReach = Pick<WorktreeFilter, 'runner' | 'beside'>

/** The filter that keeps those that the caller may; undefined where it may none any more. An agent starts others on the machine and in the
 *  repository that it works in itself, or in all of the machine's if its runner says so. */
export const worktreeReach = async ({ caller, queries }: Context): Promise<WorktreeReach | undefined> => {
  const own = ownSession(caller)
  if (own === undefined) return {}
  const session = await sessionById(queries, own)
  const mine = session && (await worktreeOf(queries, session))
  return mine && { runner: mine.runner_id, ...(!mine.across && { beside: mine.repo_full_name }) }
}

export const isWithin = (reach: WorktreeReach | undefined, { runner_id, repo_full_name }: WorktreeRow): boolean =>
  reach !== undefined && (reach.runner ?? runner_id) === runner_id && (reach.beside ?? repo_full_name) === repo_full_name
