// A CLI asks permission for a tool: a person is asked, and the runner waits.
import { z } from 'zod'
import { holdFor } from '../../operations/hold.ts'
import { refuse } from '../../core/errors.ts'
import { isObject } from '../../core/text/json.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import { storable, storableText } from '../../transcripts/storable.ts'
import { insertRequest, requestById, type PermissionRequest } from '../../stores/control/permission-requests.ts'
import { taskById } from '../../stores/control/tasks.ts'
import { appendAsked } from '../permissions/append-events.ts'
import { TOO_LATE } from '../permissions/decide.ts'
import { noSuchTask } from '../reach.ts'
import { op, runnerRoute, taskId } from '../schemas.ts'
import { taskSubject } from '../tasks/task-subject.ts'
import { taskTopic } from '../topics.ts'
import { ownTask } from './own-task.ts'
import { RUNNER, runnerId } from './schemas.ts'

const LONGEST_S = 30
const INPUT_CHARACTERS = 4 * 1024 // of a call, in its event
const SHOWN_CHARACTERS = 16 * 1024 // on its card: people allow what they read
const VALUE_CHARACTERS = 8 * 1024 // of each of its arguments there
const TEXT_CHARACTERS = 2_000

/** Holds up to 30 s for a person's answer; `waiting: true` when there is none by then: ask again with the same `request_id`. Denied when
 *  nobody answers within PERMISSION_WAIT (lease.ts): `unanswered: true`. */
export const askPermission = op({
  ...RUNNER,
  name: 'ask_permission',
  summary: 'A runner asks a person whether its agent may use a tool.',
  route: runnerRoute('ask'),
  effect: 'write',
  held: true,
  retryMayChange: ['timeout'],
  cleansTexts: true,
  subject: ({ task_id }) => taskSubject(task_id),
  input: z.strictObject({
    runner_id: runnerId,
    task_id: taskId,
    request_id: z.string().min(1).max(200),
    tool_name: z.string().min(1).max(1_000),
    text: z.string().max(100_000),
    input: z.unknown().optional(),
    timeout: z.number().min(0).max(LONGEST_S).default(LONGEST_S),
  }),
  output: z.object({
    allow: z.boolean().optional(),
    message: z.string().nullable().optional(),
    unanswered: z.literal(true).optional(),
    waiting: z.literal(true).optional(),
  }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id, request_id, tool_name, text, input }) {
    const { session, task } = await ownTask(context, runner_id)
    const id = storableText(request_id)
    const known = await requestById(context.queries, session.id, id)
    if (known)
      return known.taskId === task.id
        ? answerOf(known)
        : refuse('conflict', 'Another task of this session has asked under this request_id.')
    const row = {
      id,
      sessionId: session.id,
      taskId: task.id,
      ...storable({ toolName: cutAt(tool_name, 200), text: cutAt(text, TEXT_CHARACTERS), input: input ?? null }),
      raise: null,
    }
    await insertRequest(context.queries, { ...row, input: cutInput(withShortValues(row.input), SHOWN_CHARACTERS) })
    await appendAsked(context, { ...row, input: cutInput(row.input, INPUT_CHARACTERS) })
    return { waiting: true as const }
  },
  async afterwards(context, answer, { task_id, request_id, timeout }) {
    if (answer.waiting === undefined) return answer
    const { services, call } = context
    const { sessionId: session } = (await taskById(services.database, task_id)) ?? noSuchTask(task_id)
    const find = async () => {
      const request = await requestById(services.database, session, storableText(request_id))
      return request?.decidedAt ? request : undefined
    }
    const decided = await holdFor(services, call, { topic: taskTopic(task_id), timeoutMs: timeout * 1_000 }, find)
    return decided ? answerOf(decided) : answer
  },
})

const answerOf = ({ decidedAt, decidedBy, allow, message }: PermissionRequest) =>
  decidedAt === null
    ? { waiting: true as const }
    : { allow: allow === true, message, ...(decidedBy === TOO_LATE.by && { unanswered: true as const }) }

const cutInput = (input: unknown, characters: number): unknown => {
  const text = JSON.stringify(input)
  return text.length <= characters ? input : { cut: cutAt(text, characters) }
}

// A long argument leaves the others to be seen.
const withShortValues = (input: unknown): unknown =>
  isObject(input)
    ? Object.fromEntries(Object.entries(input).map(([name, value]) => [name, typeof value === 'string' ? cutValue(value) : value]))
    : input

// A runner cuts what is longer than it sends, and says by how much.
const CUT_BY_RUNNER = /\n\[… cut by the runner: ([\d,]+) more\]$/

const cutValue = (text: string): string => {
  if (text.length <= VALUE_CHARACTERS) return text
  const [mark = '', before = '0'] = CUT_BY_RUNNER.exec(text) ?? []
  const left = text.length - mark.length - VALUE_CHARACTERS + Number(before.replaceAll(',', ''))
  return `${cutAt(text, VALUE_CHARACTERS)}\n[… ${left} more characters, which are not shown]`
}
