// What keeps an agent from going on until somebody does something, as the answers of control say it.
import type { z } from 'zod'
import type { Context } from '../operations/context.ts'
import { holdupsOf, type AskedPermission, type Holdups, type OverBudget } from '../stores/control/holdups.ts'
import { isFinal, type Task } from '../stores/control/tasks.ts'
import type { asksPermission, held, noWorktree, overBudget } from './schemas.ts'

interface HoldupFields {
  held?: z.infer<typeof held>
  no_worktree?: z.infer<typeof noWorktree>
  over_budget?: z.infer<typeof overBudget>
  asks_permission?: z.infer<typeof asksPermission>
}

/** The holdups of these sessions, by id. */
export const readHoldups = ({ services, queries }: Pick<Context, 'services' | 'queries'>, ids: string[]): Promise<Map<string, Holdups>> =>
  holdupsOf(queries, ids, services.config.PERMISSION_WAIT)

/** The fields of a session's answer: `held` while its agent is stopped, `no_worktree` while its worktree is gone, `over_budget` while the
 *  money is used up, and the oldest permission request that is open in it. */
export const ofSession = (found: Holdups | undefined): HoldupFields => shown(found, found?.overBudget, found?.asked[0])

/** The same fields for a task of that session; none once the task has ended. The money keeps only a task that is queued from going on. */
export const ofTask = (found: Holdups | undefined, { id, status }: Pick<Task, 'id' | 'status'>): HoldupFields =>
  isFinal(status)
    ? {}
    : shown(
        found,
        status === 'queued' ? found?.overBudget : undefined,
        found?.asked.find(({ task_id }) => task_id === id),
      )

const shown = (found: Holdups | undefined, overBudget: OverBudget | undefined, asked: AskedPermission | undefined): HoldupFields => ({
  ...(found?.held && { held: found.held }),
  ...(found?.noWorktree && { no_worktree: found.noWorktree }),
  ...(overBudget && { over_budget: overBudget }),
  ...(asked && { asks_permission: asked }),
})
