// What keeps an agent from going on until somebody does something, as the answers of control say it.
import type { z } from 'zod'
import type { Context } from '../operations/context.ts'
import { holdupsOf, type AskedPermission, type Holdups } from '../stores/control/holdups.ts'
import { isFinal, type Task } from '../stores/control/tasks.ts'
import type { asksPermission, held, noWorktree } from './schemas.ts'

interface HoldupFields {
  held?: z.infer<typeof held>
  no_worktree?: z.infer<typeof noWorktree>
  asks_permission?: z.infer<typeof asksPermission>
}

/** The holdups of these sessions, by id. */
export const readHoldups = ({ services, queries }: Pick<Context, 'services' | 'queries'>, ids: string[]): Promise<Map<string, Holdups>> =>
  holdupsOf(queries, ids, services.config.PERMISSION_WAIT)

/** The fields of a session's answer: `held` while its agent is stopped, `no_worktree` while its worktree is gone, and the oldest permission request that is open in it. */
export const ofSession = (found: Holdups | undefined): HoldupFields => shown(found, found?.asked[0])

/** The same fields for a task of that session; none once the task has ended. */
export const ofTask = (found: Holdups | undefined, { id, status }: Pick<Task, 'id' | 'status'>): HoldupFields =>
  isFinal(status)
    ? {}
    : shown(
        found,
        found?.asked.find(({ task_id }) => task_id === id),
      )

const shown = (found: Holdups | undefined, asked: AskedPermission | undefined): HoldupFields => ({
  ...(found?.held && { held: found.held }),
  ...(found?.noWorktree && { no_worktree: found.noWorktree }),
  ...(asked && { asks_permission: asked }),
})
