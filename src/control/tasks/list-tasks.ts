// The tasks of a session.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { TASK_STATUSES } from '../../../db/control-schema.ts'
import { key, person } from '../../operations/callers.ts'
import { listTasksOf } from '../../stores/control/session-tasks.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { readHoldups } from '../holdups.ts'
import { reachedSession } from '../reach.ts'
import { listCursor, listLimit, namedSessionId, op, task, toolRoute } from '../schemas.ts'
import { taskInList } from './task-answer.ts'

/** The newest first; of prompts and answers the first 200 characters. 404 beyond the key's reach, 400 for a cursor that is none. */
export const listTasks = op({
  name: 'list_tasks',
  summary: "List a session's tasks, newest first; get_task has one whole.",
  route: toolRoute('list_tasks'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  searchHint: 'tasks of a session',
  example: { session_id: '$SID' },
  input: z.strictObject({
    session_id: namedSessionId,
    status: z.enum(TASK_STATUSES).optional(),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ tasks: z.array(task), ...pageFields }),
  refuses: ['forbidden', 'not_found'],
  async run(context, { session_id, status, limit, cursor }) {
    const { id } = await reachedSession(context, session_id)
    const rows = await listTasksOf(context.queries, id, { status, after: readCursor(cursor, { id, status }), limit: limit + 1 })
    const { shown, ...page } = pageOf(rows, limit, (row) => ({ at: row.createdAt, id: row.id }), { id, status })
    const holdups = (await readHoldups(context, [id])).get(id)
    return { tasks: shown.map((row) => taskInList(row, holdups)), ...page }
  },
})
