// A session that an agent works in, or that teams meet in, opened by a program, a person or another agent.
import { z } from 'zod'
import { authorOf, key, person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { agentName } from '../../core/agent-names.ts'
import { refuse } from '../../core/errors.ts'
import { ACTORS } from '../../core/key-scopes.ts'
import { LONGEST_NAME } from '../../core/text/text.ts'
import { addSession, seatFirst } from '../../rooms/create-session.ts'
import { description, title } from '../../rooms/schemas.ts'
import { insertAgent, orderOf } from '../../stores/control/agents.ts'
import { MOST_GENERATIONS, rootOf } from '../../stores/control/genealogy.ts'
import { runningTask } from '../../stores/control/tasks.ts'
import { addSeat, seatHolderOf } from '../../stores/control/seats.ts'
import { holdRunner } from '../../stores/control/runners.ts'
import type { Participant } from '../../stores/members.ts'
import { sessionById, setConvener } from '../../stores/sessions.ts'
import { ownSession } from '../reach.ts'
import { agenticTool, agentStatus, maxUsd, op, permissionMode, plainName, prompt, toolRoute } from '../schemas.ts'
import { queuePrompt } from '../tasks/queue-prompt.ts'
import { runnerTopic } from '../topics.ts'
import { refuseRaise } from '../permissions/raise.ts'
import { planOf, type AgentPlan } from './agent-plan.ts'
import { sessionAnswer, sessionRow } from './session-answer.ts'

const agentFields = {
  agentic_tool: agenticTool
    .optional()
    .describe('claude-code, codex, gemini, opencode, or another that the runner has; claude-code if there is a worktree.'),
  worktree_id: z.string().max(64).optional().describe('Where the agent works: one of list_worktrees, or with branch one beside it.'),
  repo_full_name: z.string().min(1).max(200).optional().describe('Instead of worktree_id: the repository, owner/name; give branch too.'),
  branch: z
    .string()
    .min(1)
    .max(400)
    .optional()
    .describe('With repo_full_name or worktree_id: the branch; a worktree is made for it where there is none.'),
  permission_mode: permissionMode.optional().describe('What the agent may do without asking.'),
  context_files: z.array(z.string().max(1_000)).max(20).optional().describe('Files to look at first, relative to the worktree.'),
  mcp_server_ids: z.array(z.string().min(1).max(100)).max(20).optional().describe("Further MCP servers of the runner's, by name."),
}

/** The caller convenes the session, with the token in the answer; a person's session is convened by its agent, else by the first team that
 *  joins. Made with an agent's key it is a child of that agent's session. With `initial_prompt` the work begins at once. 400 for an agent,
 *  or what only an agent takes, without a worktree, 404 for an unknown worktree or repository, 429 past 50 open tasks and 8 generations. */
export const createSession = op({
  name: 'create_session',
  summary:
    'Open a session with an agent that works in a worktree of a runner (without a worktree: one that has no agent). Give it an initial_prompt to start it at once, or send_prompt later.',
  route: toolRoute('create_session'),
  callers: [key, person],
  keyRow: ACTORS,
  effect: 'write',
  searchHint: 'start another agent in a session',
  openWorld: true,
  issues: 'team_id',
  derivedAs: 'control.create_session',
  changesResources: true,
  example: { title: 'Empty files', worktree_id: '$WORKTREE', initial_prompt: 'Add a test for the empty file.' },
  input: z.strictObject({
    title,
    description: description.default(''),
    team_name: plainName(LONGEST_NAME).optional().describe('Your own name in it.'),
    ...agentFields,
    initial_prompt: prompt.optional(),
    max_usd: maxUsd
      .optional()
      .describe('What the session and all below it may cost, as far as agents tell (Codex does not); past it prompts wait for a person.'),
  }),
  output: z.object({
    session_id: z.uuid(),
    status: agentStatus.nullable(),
    task_id: z.uuid().optional(),
    team_id: z.string().nullable(),
    handle: z.uuid().nullable(),
    team_name: z.string().nullable(),
    cursor: z.literal(0),
    session: sessionRow,
  }),
  refuses: ['not_found', 'forbidden', 'conflict', 'rate_limited'],
  beforehand: (context, { permission_mode }) => refuseRaise(context, undefined, permission_mode),
  async run(context, input) {
    const { queries, caller } = context
    const plan = await planOf(context, input)
    if (!plan) refuseForAgents(input)
    const opened = await openWithAgent(context, { ...input, parent: ownSession(caller) ?? null }, plan)
    const session = (await sessionById(queries, opened.id))!
    const task =
      input.initial_prompt === undefined
        ? undefined
        : await queuePrompt(context, session, { prompt: input.initial_prompt, mode: 'continue' })
    const shown = await sessionAnswer(context, opened.id)
    const { convener } = opened
    return {
      session_id: opened.id,
      status: shown.status,
      ...(task && { task_id: task.id }),
      team_id: convener ? `${convener.teamId}.${context.secretFor(convener.teamId)}` : null,
      handle: convener?.teamId ?? null,
      team_name: convener?.teamName ?? null,
      cursor: 0 as const,
      session: shown,
    }
  },
})

const FOR_AGENTS = ['initial_prompt', 'max_usd', 'permission_mode', 'context_files', 'mcp_server_ids'] as const

const refuseForAgents = (input: { [field in (typeof FOR_AGENTS)[number]]?: unknown }) => {
  const field = FOR_AGENTS.find((name) => !isNothing(input[name]))
  if (field)
    refuse(
      'invalid_request',
      `${field} is for an agent, and an agent needs a worktree: name a worktree_id, or repo_full_name and branch. list_worktrees has them.`,
      { field },
    )
}

const isNothing = (given: unknown) => given === undefined || (Array.isArray(given) && given.length === 0)

export interface NewAgentSession {
  title: string
  description: string
  team_name?: string | undefined
  max_usd?: number | undefined
  parent: string | null
  /** The session that it goes on from, and up to where. */
  forkedFrom?: { id: string; at: number } | undefined
}

const NOT_TODAY_S = 86_400 // every 429 names a time, and no waiting makes a tree less deep

/** Opens a session with its agent, its convener and their seats. */
export const openWithAgent = async (context: Context, wanted: NewAgentSession, plan: AgentPlan | undefined) => {
  const { queries, caller } = context
  const { title, description, parent, forkedFrom, team_name } = wanted
  const origin = parent ?? forkedFrom?.id
  const above = origin === undefined ? undefined : await rootOf(queries, origin)
  if (above && above.depth + 1 >= MOST_GENERATIONS)
    refuse(
      'rate_limited',
      `A tree of sessions has at most ${MOST_GENERATIONS} generations, however long you wait. Give the work to a session further up.`,
      { retry_after: NOT_TODAY_S },
    )
  const byKey = caller.kind === 'key' ? caller.key : undefined
  const convenerId = byKey ? crypto.randomUUID() : undefined
  const by = { teamId: convenerId, name: team_name ?? authorOf(caller).name }
  const id = await addSession(context, { title, description, expected_teams: plan && !byKey ? 1 : 2 }, by, {
    parentSessionId: parent,
    forkedFromSessionId: forkedFrom?.id ?? null,
    forkedAtSequence: forkedFrom?.at ?? null,
    ...(plan && {
      agenticTool: plan.agenticTool,
      permissionMode: plan.permissionMode,
      agentStatus: plan.branch === undefined ? 'idle' : 'creating',
      worktreeId: plan.branch === undefined ? plan.worktree.worktree_id : null,
    }),
  })
  const convener: Participant | undefined = byKey && (await seatFirst(context, id, { ...by, verified: true }))
  if (byKey && convener) await addSeat(queries, { holder: seatHolderOf(byKey), sessionId: id, teamId: convener.teamId })
  if (plan) await seatAgent(context, id, plan, { convener, parent, root: above?.root ?? id, maxUsd: wanted.max_usd })
  return { id, convener }
}

interface Beside {
  parent: string | null
  convener: Participant | undefined
  root: string
  maxUsd: number | undefined
}

const seatAgent = async (context: Context, sessionId: string, plan: AgentPlan, { convener, parent, root, maxUsd }: Beside) => {
  const { queries } = context
  if (plan.branch !== undefined && !(await holdRunner(queries, plan.worktree.runner_id))) refuseRestarted(plan)
  const teamId = crypto.randomUUID()
  const by = { teamId, name: agentName(plan.agenticTool), verified: true }
  await seatFirst(context, sessionId, by, convener ? [convener] : [])
  if (!convener) await setConvener(queries, sessionId, teamId)
  await addSeat(queries, { holder: sessionId, sessionId, teamId })
  await insertAgent(queries, {
    sessionId,
    teamId,
    rootSessionId: root,
    fromTaskId: parent === null ? null : ((await runningTask(queries, parent))?.id ?? null),
    contextFiles: plan.contextFiles,
    mcpServers: plan.mcpServers,
    maxUsd: maxUsd ?? null,
    ...(plan.branch === undefined ? { orderedBranch: plan.branchThere } : orderOf(plan.worktree, plan.branch, plan.beginsThere)),
  })
  if (plan.branch !== undefined) context.moved(runnerTopic(plan.worktree.runner_id))
}

// Its orders have gone to its successor: one that is made now would wait for nobody.
const refuseRestarted = ({ worktree }: AgentPlan): never =>
  refuse('conflict', `The runner ${worktree.runner_name} was started again just now. Nothing was done; try again.`)
