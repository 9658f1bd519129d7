// The drivers by the names that sessions have for their agents.
import { acpDriver } from './acp.ts'
import { addedAgent, builtInAgents } from './acp-agents.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import type { Driver } from './driver.ts'

export const builtInDrivers: readonly Driver[] = [claude, codex, ...builtInAgents.map(acpDriver)]

/** The driver of an agent that speaks ACP, added by a name and a command. */
export const addedDriver = (name: string, command: readonly string[]): Driver => acpDriver(addedAgent(name, command))
