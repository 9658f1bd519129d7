// The form by which a person prompts an agent: what it offers.
import type { AgentChoice } from '../../../components/agents/agent-fields.tsx'
import type { Mode, PromptBoxProps } from '../../../components/agents/prompt-box.tsx'
import { agentName } from '../../control/runner/events.ts'
import type { Runner } from '../../stores/control/runners.ts'
import type { WatchedAgent } from '../../stores/control/watched.ts'

/** Why a prompt cannot go on so. A mode that send_prompt takes has no entry. */
const UNABLE: Partial<Record<Mode, string>> = {
  fork: 'This server cannot fork a session yet.',
  subsession: 'This server cannot start a subsession yet.',
}

export const isAble = (mode: string): boolean => !(mode in UNABLE)

export const promptBoxOf = (
  agent: Pick<WatchedAgent, 'session_id' | 'agentic_tool' | 'runner_agents' | 'allow_bypass'>,
  idempotencyKey: string,
): PromptBoxProps => ({
  sessionId: agent.session_id,
  agent: agentName(agent.agentic_tool),
  agents: agentChoices(agent.runner_agents ?? [], agent.agentic_tool),
  bypass: agent.allow_bypass ?? undefined,
  unable: UNABLE,
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
