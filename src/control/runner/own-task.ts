// The task that a runner's call is about.
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import type { LockedTask } from '../tasks/task-subject.ts'
import { stillRunner } from './schemas.ts'

/** The task that the call has locked, which is running and is this runner's; 409 otherwise. */
export const ownTask = async (context: Context, runnerId: string): Promise<LockedTask> => {
  await stillRunner(context, runnerId)
  const locked = context.locked as LockedTask
  if (locked.task.runnerId !== runnerId || locked.task.status !== 'running') refuseNotOwn(locked)
  return locked
}

export const refuseNotOwn = ({ task }: LockedTask): never =>
  refuse('conflict', `This task is not this runner's any more: it is ${task.status}. End what works on it.`, {
    task_id: task.id,
    status: task.status,
  })
