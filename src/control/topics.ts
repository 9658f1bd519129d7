import { topicOf, type Topic } from '../log/topics.ts'

/** Moves with each change of a task's status. */
export const taskTopic = (id: string): Topic => topicOf('task', id)
/** Moves when there is something for a runner to take. */
export const runnerTopic = (id: string): Topic => topicOf('runner', id)
