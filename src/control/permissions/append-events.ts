// The two events of a request: asked, decided.
import type { Context } from '../../operations/context.ts'
import { notifyPeople } from '../../notices/notify-people.ts'
import type { PermissionRequest } from '../../stores/control/permission-requests.ts'
import { taskTopic } from '../topics.ts'

export interface Decision {
  by: string
  allow: boolean
  message?: string | undefined
}

type Asked = Pick<PermissionRequest, 'id' | 'sessionId' | 'taskId' | 'toolName' | 'text' | 'input' | 'raise'>

/** Says in the session's log what is asked, and tells people that they are needed. */
export const appendAsked = async (context: Context, { id, sessionId, taskId, toolName, text, input, raise }: Asked): Promise<void> => {
  const event = { event: 'permission_asked', request_id: id, task_id: taskId, tool_name: toolName, text, input }
  await context.append(sessionId, { ...event, ...(raise && { raise }) }, { evenClosed: true })
  await notifyPeople(context.queries, [{ kind: 'permission', sessionId, about: id }])
}

export const appendDecided = async (
  context: Context,
  { id, sessionId, taskId }: Pick<PermissionRequest, 'id' | 'sessionId' | 'taskId'>,
  { by, allow, message }: Decision,
): Promise<void> => {
  const event = { event: 'permission_decided', by, request_id: id, allow }
  await context.append(sessionId, { ...event, ...(message && { message }) }, { evenClosed: true })
  context.moved(taskTopic(taskId))
}
