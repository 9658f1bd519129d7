import type { Subject } from '../../operations/subject.ts'
import { isUuid } from '../../core/ids.ts'
import { lockTask, taskById, type Task } from '../../stores/control/tasks.ts'
import { lockSession, type Session } from '../../stores/sessions.ts'
import { noSuchTask } from '../reach.ts'

export interface LockedTask {
  session: Session
  task: Task
}

/** A task and its session: both are locked, the session first. */
export const taskSubject = (id: string): Subject<LockedTask> => ({
  key: `task/${id}`,
  async lock(tx) {
    const found = isUuid(id) ? await taskById(tx, id) : undefined
    const session = found && (await lockSession(tx, found.sessionId))
    const task = session && (await lockTask(tx, id))
    return session && task && { session, task }
  },
  missing: () => noSuchTask(id),
})
