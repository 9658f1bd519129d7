// A session's worktree that its runner no longer offers: it registered again without it.
import { refuse } from '../../core/errors.ts'
import type { WorktreeRow } from '../../stores/control/worktrees.ts'

/** 409 for a prompt to an agent whose worktree is gone, which would wait for ever. */
export const refuseGone = ({ worktree_id, path, runner_name }: WorktreeRow): never =>
  refuse(
    'conflict',
    `The worktree of this session is gone: the runner ${runner_name} no longer offers ${path}, so its agent can work nowhere. Have it started with that folder again (--worktree), or go on elsewhere: mode fork with a branch, or with a worktree_id of list_worktrees.`,
    { worktree_id },
  )
