// The agent of a session, as the line below its title shows it.
import type { AgentState, AgentView } from '../../../components/agents/agent-view.ts'
import { agentName } from '../../core/agent-names.ts'
import { isBypass } from '../../core/permission-modes.ts'
import { counted } from '../../core/text/numbers.ts'
import type { WatchedAgent } from '../../stores/control/watched.ts'
import { dollars, usageWords } from './usage.ts'

/** `asking`: the card's id of what waits for somebody's permission. */
export const agentView = (agent: WatchedAgent, asking: string | undefined): AgentView => {
  const { agentic_tool, permission_mode: mode, runner_name, runner_online, runner_agents } = agent
  return {
    name: agentName(agentic_tool),
    version: runner_agents?.find((one) => one.agentic_tool === agentic_tool)?.version ?? undefined,
    mode,
    unlimited: isBypass(mode),
    state: agentStateOf(agent.agent_status, asking !== undefined),
    place: placeOf(agent),
    runner: runner_name === null ? undefined : { name: runner_name, online: runner_online === true },
    placeless: agent.no_place,
    used: usedOf(agent),
    asking,
    held: agent.held || agent.archived,
    stopped: stoppedOf(agent),
  }
}

export const agentStateOf = (status: string | null, asks: boolean): AgentState =>
  asks ? 'asks' : status === 'running' || status === 'creating' ? 'running' : status === 'failed' ? 'failed' : 'ready'

const placeOf = ({ repo_full_name, branch, changed_files, agent_status }: WatchedAgent): string[] => [
  ...(repo_full_name === null ? [] : [repo_full_name]),
  ...(branch === null ? [] : [branch]),
  ...(agent_status === 'creating' ? ['the worktree is being made'] : []),
  ...(changed_files ? [`${counted(changed_files, 'file')} changed`] : []),
]

const usedOf = (agent: WatchedAgent): string | undefined => {
  const { tokens, cost_usd, max_usd, in_tree } = agent
  const costsMissing = hidesCosts(agent) ? ', but not all costs are told' : ''
  if (tokens === 0 && cost_usd === null) return max_usd === null ? undefined : `may use ${dollars(max_usd)}${costsMissing}`
  const of = max_usd === null ? '' : ` of ${dollars(max_usd)}${costsMissing}`
  return `${in_tree ? 'all of its tree used' : 'used'} ${usageWords(tokens, cost_usd)}${of}`
}

// Codex tells its tokens alone.
const hidesCosts = ({ agentic_tool, costs_missing }: WatchedAgent): boolean => costs_missing || agentic_tool === 'codex'

const stoppedOf = ({ session_id, archived, gone_from, held, agent_status, error, spent_by }: WatchedAgent): string | undefined => {
  if (archived) return 'This session is archived: its agent takes no prompts.'
  if (gone_from !== null)
    return `Its worktree is gone: the runner ${gone_from} no longer offers it. What is queued waits until it does; to go on elsewhere, fork the session with a branch of its own.`
  if (held) return 'Its agent is stopped: prompts wait until somebody starts it again.'
  if (spent_by === session_id) return 'The money is used up: prompts wait until somebody raises the limit.'
  if (spent_by !== null) return 'The money of a session above this one is used up: prompts wait until somebody raises its limit.'
  return agent_status === 'failed' ? error?.message : undefined
}
