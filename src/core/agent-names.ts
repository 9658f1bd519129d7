import { valueIn } from './lookup.ts'

/** What people call the programs whose transcripts are imported and which runners drive, by `agentic_tool` and `source`. A team may have such
 *  a name, as the one of a driven session has. */
export const AGENT_NAMES = { 'claude-code': 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI' } as const

/** The name of an agent on the roster and in its trace. */
export const agentName = (agenticTool: string | null): string => valueIn(AGENT_NAMES, agenticTool ?? '') ?? agenticTool ?? 'Agent'
