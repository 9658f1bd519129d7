// A prompt: it stands in the log at once, and a task is queued for the session's agent.
import { authorOf } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { inControl } from '../../rooms/in-control.ts'
import { teamByWord } from '../../rooms/team-by-word.ts'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import { agentOf } from '../../stores/control/agents.ts'
import { insertTask, othersOpen, type NewTask } from '../../stores/control/new-tasks.ts'
import type { Task } from '../../stores/control/tasks.ts'
import { goneWorktree } from '../../stores/control/worktrees.ts'
import { roster, type Participant } from '../../stores/members.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { ownSession } from '../reach.ts'
import { runnerTopic, taskTopic } from '../topics.ts'
import { refuseGone } from '../worktrees/gone-worktree.ts'
import { appendToTask, newEventId, type TaskEvent } from './task-log.ts'

export const MOST_OPEN_TASKS = 50 // below one root, or in a session without an agent, queued or running
const UNGUARDED = 16 // open tasks of a tree: prompts to several of its sessions at the same moment do not see each other, and from here on are counted one by one

export interface Prompt {
  prompt: string
  mode: Task['mode']
  /** A team's handle or name, in a session without an agent. */
  to?: string | undefined
  /** Goes before the prompt where its agent gets it. The log says that there is one, and has the prompt alone. */
  digest?: string | undefined
}

/** Writes the prompt and queues its task. The caller has locked the session. 403 when the session is closed or archived, 400 for a wrong
 *  `to`, and without one where there is no agent, 409 where its worktree was not made or is gone, 429 past 50 open tasks below one root. */
export const queuePrompt = async (context: Context, session: Session, { prompt, mode, to, digest }: Prompt): Promise<NewTask> => {
  const { caller, queries } = context
  refuseOver(session)
  const hasAgent = session.agentStatus !== null
  if (hasAgent && session.worktreeId === null) await refuseWithoutPlace(context, session)
  const addressed = await addressedBy(context, session, hasAgent, to)
  const id = crypto.randomUUID()
  const own = ownSession(caller)
  const kind = caller.kind === 'person' ? 'person' : own === undefined ? 'key' : 'agent'
  const promptedBy = { kind, name: authorOf(caller).name, session_id: own ?? null } as const
  const author = caller.kind === 'person' ? 'person' : 'key'
  const { event, turn } = await context.post({
    sessionId: session.id,
    type: 'user_input',
    author,
    authorName: promptedBy.name,
    holder: `${author}:${promptedBy.name}`,
    content: { text: prompt, prompted_by: promptedBy },
    taskId: id,
    ...(addressed && { to: [addressed], expectsReply: true }),
  })
  const task: NewTask = {
    id,
    sessionId: session.id,
    status: hasAgent ? 'queued' : 'running',
    mode,
    prompt: digest === undefined ? prompt : `${digest}\n\n${prompt}`,
    promptedBy,
    messageId: event.id,
    startSequence: event.sequence,
    turn,
    turnEvents: null,
  }
  const { others, runner_id } = await insertTask(queries, task)
  if (runner_id === null && session.worktreeId !== null) await refuseWithoutWorktree(context, session.worktreeId) // undoes all of it
  if (others >= UNGUARDED && (hasAgent ? await othersOpen(queries, task) : others) >= MOST_OPEN_TASKS) refuseOneMore() // undoes all of it
  if (digest !== undefined) await appendToTask(context, (await sessionById(queries, session.id))!, task, [digestUsed()])
  if (runner_id) context.moved(runnerTopic(runner_id))
  context.moved(taskTopic(id))
  return task
}

const DIGEST_USED = 'The agent cannot take up the conversation that led here: a digest of its log stands before the prompt.'

const digestUsed = (): TaskEvent => ({
  id: newEventId(),
  type: 'runtime',
  author: 'system',
  content: { event: 'digest_used', text: DIGEST_USED },
})

/** 403 for a session that takes no prompts any more. */
export const refuseOver = ({ status, archivedAt }: Session) => {
  if (archivedAt !== null)
    refuse('session_closed', 'This session is archived and takes no prompts. manage_session with action: start brings it back.', {
      archived: true,
    })
  if (status === 'closed')
    refuse('session_closed', 'This session is concluded and takes no prompts. A person or its convener reopens it; or create another one.')
}

// Refuses a prompt whose session's worktree was not made, and which no runner is to make any more: it would wait for ever.
const refuseWithoutPlace = async ({ queries }: Context, { id }: Session) => {
  const agent = await agentOf(queries, id)
  if (agent?.orderedFrom) return
  const why = agent?.error ? ` What went wrong: ${agent.error.message}` : ''
  refuse('conflict', `The worktree of this session was not made, so its agent can work nowhere. Create another session.${why}`)
}

const refuseWithoutWorktree = async ({ queries }: Context, id: string) => {
  const gone = await goneWorktree(queries, id)
  if (gone) refuseGone(gone)
}

const refuseOneMore = () =>
  refuse(
    'rate_limited',
    `${MOST_OPEN_TASKS} tasks of this session, or of its tree, are queued or running, which is the limit. Wait for some of them to end.`,
    { retry_after: 30 },
  )

// Without an agent, the one who is asked is a team: an agent that somebody has open.
const addressedBy = async ({ queries }: Context, session: Session, hasAgent: boolean, to: string | undefined) => {
  if (hasAgent) {
    if (to === undefined) return undefined
    refuse('invalid_request', 'This session has an agent, which gets the prompt. Leave out `to`, or post_message to the team.', {
      field: 'to',
    })
  }
  const teams = (await roster(queries, session.id)).filter(({ leftAt }) => leftAt === null)
  if (to === undefined) return refuseUnanswerable(teams)
  const found = teamByWord(teams)(to)
  return (
    found?.teamId ??
    refuse('invalid_request', `No team that is present here is called ${redacted(to)}. Teams here: ${namesOf(teams) || 'none'}.`, {
      field: 'to',
    })
  )
}

const refuseUnanswerable = (teams: Participant[]): never => {
  const ask =
    teams.length > 0 ? `Name in \`to\` whom you ask (here: ${namesOf(teams)}), or prompt` : 'No team is here to answer either: prompt'
  return refuse(
    'invalid_request',
    `This session has no agent. ${ask} a session that has one: list_sessions shows which have an agentic_tool, and ${inControl('create_session')} with a worktree_id makes one.`,
    { field: 'to' },
  )
}

const namesOf = (teams: Participant[]) => teams.map(({ teamName }) => teamName).join(', ')
