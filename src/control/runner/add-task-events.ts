// What an agent's CLI prints, as events of its task.
import { z } from 'zod'
import { agentName } from '../../core/agent-names.ts'
import { TRACE_TYPES } from '../../../db/schema.ts'
import { acknowledgeTasks } from '../../stores/control/handed-tasks.ts'
import { op, runnerRoute, taskId } from '../schemas.ts'
import { appendToTask, eventIdIn, type TaskEvent } from '../tasks/task-log.ts'
import { taskSubject } from '../tasks/task-subject.ts'
import { ownTask } from './own-task.ts'
import { RUNNER, runnerId } from './schemas.ts'

const MOST_EVENTS = 200
const BODY_BYTES = 4 * 1024 * 1024

const event = z.strictObject({
  key: z.string().min(1).max(200),
  type: z.enum(TRACE_TYPES),
  content: z.record(z.string(), z.unknown()),
  at: z.string().max(40).optional(),
  tool_name: z.string().max(1_000).optional(),
  model: z.string().max(1_000).optional(),
})

/** 1 to 200 events of a task that this runner works on, in the order in which its CLI printed them; also in a session that was closed
 *  meanwhile. A `key` that is there already adds nothing. Texts are cleaned as those of an imported transcript are. 409 for a task that is no
 *  longer this runner's: its CLI is to be ended. */
export const addTaskEvents = op({
  ...RUNNER,
  name: 'add_task_events',
  summary: "A runner tells what its agent's program printed.",
  route: runnerRoute('events'),
  effect: 'write',
  cleansTexts: true,
  bodyLimit: BODY_BYTES,
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({ runner_id: runnerId, task_id: taskId, events: z.array(event).min(1).max(MOST_EVENTS) }),
  output: z.object({ last_sequence: z.int() }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id, events }) {
    const { session, task } = await ownTask(context, runner_id)
    if (!task.acknowledged) await acknowledgeTasks(context.queries, runner_id, [task.id])
    return { last_sequence: await appendToTask(context, session, task, events.map(eventFrom(task.id, session.agenticTool))) }
  },
})

const SYSTEM = new Set(['runtime', 'compaction'])

const eventFrom =
  (task: string, agenticTool: string | null) =>
  ({ key, type, content, tool_name, model }: z.infer<typeof event>): TaskEvent => ({
    id: eventIdIn(task, key),
    type,
    author: SYSTEM.has(type) ? 'system' : 'agent',
    authorName: SYSTEM.has(type) ? undefined : agentName(agenticTool),
    content,
    toolName: tool_name,
    model,
  })
