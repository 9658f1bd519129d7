// Ends the tasks of runners that no longer call: what they ran is lost. Every instance looks for such tasks; the first one to lock a task
// ends it.
import { wasAway, type Job } from '../../core/runtime/job.ts'
import type { Services } from '../../process/services.ts'
import { perform } from '../../operations/perform.ts'
import { overdueOrders } from '../../stores/control/agents.ts'
import { LEASE_S } from '../../stores/control/runners.ts'
import { overdueTasks, openInClosed } from '../../stores/control/tasks.ts'
import { overdueRequests, waitAnew } from '../../stores/control/permission-requests.ts'
import { denyUnanswered, TASK_ENDED, TOO_LATE } from '../permissions/decide.ts'
import { giveUpTask } from '../tasks/give-up-task.ts'
import { failWaitingSession } from '../sessions/fail-waiting-session.ts'
import { RUNNER_LOST } from './lost.ts'

const EVERY_MS = 2_000

/** Runners cannot renew their leases while this server or the database is away, and once the database's clock was set, their last calls are
 *  of another time. So after a start, such a pause or such a jump, no lease counts as over for the next `leaseMs`, and a task has its whole
 *  time once more: its runner, which ends it first, may have slept as well. So has a question for permission whose time was over by that. */
export const leaseJob = (services: Services, leaseMs = LEASE_S * 1_000): Job => {
  const { database, config } = services
  const call = { signal: () => services.stopping }
  let answersSince: number | undefined
  let checkedAt = 0
  return {
    name: 'runner-leases',
    everyMs: EVERY_MS,
    async run() {
      const { atMs, overdue } = await overdueTasks(database, config.TASK_TIMEOUT, answersSince ?? 0)
      if (answersSince === undefined || wasAway(atMs - checkedAt)) {
        await waitAnew(database, config.PERMISSION_WAIT)
        answersSince = atMs
      }
      checkedAt = atMs
      for (const { late, ...request } of await overdueRequests(database, config.PERMISSION_WAIT))
        await perform(denyUnanswered, services, call, { ...request, ...(late ? TOO_LATE : TASK_ENDED) })
      for (const task_id of await openInClosed(database))
        await perform(giveUpTask, services, call, { task_id, status: 'interrupted', ...CLOSED })
      if (atMs - answersSince < leaseMs) return
      for (const { id, lost } of overdue) {
        const error = lost ? RUNNER_LOST : timedOut(config.TASK_TIMEOUT)
        await perform(giveUpTask, services, call, { task_id: id, ...error })
      }
      for (const order of await overdueOrders(database)) await perform(failWaitingSession, services, call, { ...order })
    },
  }
}

const CLOSED = { code: 'session_closed', message: 'The session was concluded before this prompt was reached or answered.' }

const timedOut = (seconds: number) => ({ code: 'timed_out', message: `The task ran for longer than ${seconds} seconds and was ended.` })
