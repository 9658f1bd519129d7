// The form by which a person prompts an agent: what it offers.
import { agentName } from '../../core/agent-names.ts'
import type { AgentChoice } from '../../../components/agents/agent-fields.tsx'
import type { Mode, PromptBoxProps } from '../../../components/agents/prompt-box.tsx'
import type { Runner } from '../../stores/control/runners.ts'
import type { WatchedAgent } from '../../stores/control/watched.ts'

const NO_PLACE = 'Its worktree is still being made.'
const GONE = 'Its worktree is gone: a fork or a subsession works, with a branch.'

/** Why a prompt cannot go on so now. */
const unableOf = ({ agent_status, gone_from }: Pick<WatchedAgent, 'agent_status' | 'gone_from'>): Partial<Record<Mode, string>> =>
  gone_from !== null ? { continue: GONE } : agent_status === 'creating' ? { fork: NO_PLACE, subsession: NO_PLACE } : {}

export const promptBoxOf = (
  agent: Pick<WatchedAgent, 'session_id' | 'agentic_tool' | 'agent_status' | 'gone_from' | 'runner_agents' | 'allow_bypass'>,
  idempotencyKey: string,
): PromptBoxProps => ({
  sessionId: agent.session_id,
  agent: agentName(agent.agentic_tool),
  agents: agentChoices(agent.runner_agents ?? [], agent.agentic_tool),
  bypass: agent.allow_bypass ?? undefined,
  unable: unableOf(agent),
  idempotencyKey,
})

/** The agents of a runner by the names that people know; `own` is among them whatever the runner says. */
export const agentChoices = (agents: Runner['agents'], own?: string): AgentChoice[] => {
  const known = agents.map(({ agentic_tool, version }) => ({
    tool: agentic_tool,
    name: agentName(agentic_tool),
    version: version ?? undefined,
  }))
  return own === undefined || known.some(({ tool }) => tool === own)
    ? known
    : [{ tool: own, name: agentName(own), version: undefined }, ...known]
}
