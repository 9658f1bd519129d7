// The agents that speak the Agent Client Protocol: what sets them apart is data.
import type { Job } from './driver.ts'
import { permissionOf } from './modes.ts'

export interface AcpAgent {
  agenticTool: string
  /** As people call it. */
  name: string
  command: readonly string[]
  howToGet: string
  /** What it finds in its environment, beside the runner's. */
  env(job: Job): Record<string, string>
  /** The agent's name for the mode without a plan, where none of its modes has one of our names. */
  plainMode?: string
  /** It must not load a conversation in the minute in which that was opened. */
  loadsInLaterMinutes?: true
  /** It takes a first word behind / for a command, and reads nothing of a prompt where it has no command of that name: it has those that it
   *  announces, and these. */
  dropsCommandsBut?: readonly string[]
  /** The tokens in its answer to a prompt are those of the last call of its model. */
  countsLastCall?: true
}

// opencode asks for nothing unless it is told to; what it then asks is answered as the mode has it.
const ASKS = { edit: 'ask', bash: 'ask', webfetch: 'ask' }

// As opencode names the tools of an MCP server.
const toolsOf = (server: string): string => `${server.replace(/[^\w-]/g, '_')}_*`

const permissionsFor = ({ mcpServers }: Job): string =>
  JSON.stringify({ ...ASKS, ...Object.fromEntries(Object.keys(mcpServers).map((server) => [toolsOf(server), 'ask'])) })

export const builtInAgents: readonly AcpAgent[] = [
  {
    agenticTool: 'gemini',
    name: 'Gemini CLI',
    command: ['gemini', '--acp'],
    howToGet: 'npm install -g @google/gemini-cli, then run gemini once and sign in',
    // Its file of a conversation is named by the minute: 0.61.0 empties the one that it is to load if that is of the same minute.
    loadsInLaterMinutes: true,
    // In a folder that its user has not marked as trusted it connects no MCP server and knows two modes. Who registers a worktree trusts it.
    env: () => ({ GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  },
  {
    agenticTool: 'opencode',
    name: 'opencode',
    command: ['opencode', 'acp'],
    howToGet: 'npm install -g opencode-ai, then run opencode auth login',
    plainMode: 'build',
    dropsCommandsBut: ['compact'],
    countsLastCall: true,
    env: (job) => (permissionOf(job.permissionMode) === 'all' ? {} : { OPENCODE_PERMISSION: permissionsFor(job) }),
  },
]

/** An agent that somebody added by a name and a command. */
export const addedAgent = (name: string, command: readonly string[]): AcpAgent => ({
  agenticTool: name,
  name,
  command,
  howToGet: `install ${command[0]}`,
  env: () => ({}),
})
