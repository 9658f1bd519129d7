// A worktree as answers show it.
import { z } from 'zod'
import type { WorktreeRow } from '../../stores/control/worktrees.ts'

export const mcpServer = z.object({ mcp_server_id: z.string(), name: z.string() })

export const worktree = z.object({
  worktree_id: z.uuid(),
  name: z.string(),
  path: z.string(),
  repo_full_name: z.string(),
  branch: z.string().nullable(),
  head: z.string().nullable(),
  dirty: z.boolean(),
  runner: z.object({ runner_id: z.uuid(), name: z.string(), online: z.boolean() }),
  agents: z.array(z.object({ agentic_tool: z.string(), version: z.string().nullable() })),
  mcp_servers: z.array(mcpServer),
  allow_bypass: z.boolean(),
})

/** Runners know MCP servers by their names alone. */
export const mcpServersNamed = (names: string[]) => names.map((name) => ({ mcp_server_id: name, name }))

export const worktreeAnswer = (row: WorktreeRow): z.infer<typeof worktree> => ({
  worktree_id: row.worktree_id,
  name: row.path.split(/[/\\]/).findLast((part) => part !== '') ?? row.path,
  path: row.path,
  repo_full_name: row.repo_full_name,
  branch: row.branch,
  head: row.head,
  dirty: row.dirty,
  runner: { runner_id: row.runner_id, name: row.runner_name, online: row.online },
  agents: row.agents,
  mcp_servers: mcpServersNamed(row.mcp_servers),
  allow_bypass: row.allow_bypass,
})
