// What an agent of a new session is to be, checked against what runners have.
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import { worktreeById, worktreesOf, type WorktreeRow } from '../../stores/control/worktrees.ts'
import { ownSession } from '../reach.ts'
import { sessionById } from '../../stores/sessions.ts'
import type { PermissionMode } from '../../core/permission-modes.ts'

export interface Wanted {
  agentic_tool?: string | undefined
  worktree_id?: string | undefined
  repo_full_name?: string | undefined
  branch?: string | undefined
  permission_mode?: PermissionMode | undefined
  context_files?: string[] | undefined
  mcp_server_ids?: string[] | undefined
}

export interface AgentPlan {
  agenticTool: string
  permissionMode: PermissionMode
  contextFiles: string[]
  mcpServers: string[]
  /** The worktree it works in, or the runner that is to make one. */
  worktree: WorktreeRow
  /** The branch of a worktree that is still to be made. */
  branch: string | undefined
}

/** Agents that are accepted whether or not the runner says that it has them: where one is missing, the task fails. */
const ALWAYS_TAKEN = new Set(['claude-code', 'codex', 'gemini'])

/** The plan, or undefined for a session without an agent. 400 for an agent without a worktree and what no runner there has, 404 for an unknown
 *  worktree and a repository that no runner has. */
export const planOf = async (context: Context, wanted: Wanted): Promise<AgentPlan | undefined> => {
  const { worktree_id, repo_full_name, branch } = wanted
  if (worktree_id === undefined && repo_full_name === undefined && branch === undefined) {
    if (wanted.agentic_tool !== undefined)
      refuse(
        'invalid_request',
        'An agent needs a worktree to work in: worktree_id, or repo_full_name and branch. list_worktrees has them.',
        {
          field: 'worktree_id',
        },
      )
    return undefined
  }
  const found = worktree_id === undefined ? await byBranch(context, repo_full_name, branch) : await byId(context, worktree_id)
  await refuseBeyondRepository(context, found.worktree)
  const agenticTool = wanted.agentic_tool ?? 'claude-code'
  const mcpServers = wanted.mcp_server_ids ?? []
  refuseUnknownAgent(agenticTool, found.worktree)
  refuseUnknownServers(mcpServers, found.worktree)
  return {
    ...found,
    agenticTool,
    mcpServers,
    contextFiles: (wanted.context_files ?? []).map(checkedFile),
    permissionMode: wanted.permission_mode ?? (await ownMode(context)) ?? (agenticTool === 'codex' ? 'auto' : 'acceptEdits'),
  }
}

// What an agent may do itself is what it hands on where it says nothing: more is a person's to give.
const ownMode = async ({ caller, queries }: Context): Promise<PermissionMode | undefined> => {
  const own = ownSession(caller)
  const session = own === undefined ? undefined : await sessionById(queries, own)
  return (session?.permissionMode as PermissionMode | null | undefined) ?? undefined
}

type WorktreePlan = Pick<AgentPlan, 'worktree' | 'branch'>

const byId = async ({ queries }: Context, id: string): Promise<WorktreePlan> => {
  const worktree = await worktreeById(queries, id)
  return worktree ? { worktree, branch: undefined } : noSuchWorktree(id)
}

const noSuchWorktree = (id: string): never =>
  refuse('not_found', 'There is no such worktree. list_worktrees has those that runners have registered.', { worktree_id: redacted(id) })

// A worktree that has the branch checked out is used; otherwise one is made, by the first runner that has the repository.
const byBranch = async ({ queries }: Context, repo: string | undefined, branch: string | undefined): Promise<WorktreePlan> => {
  if (repo === undefined || branch === undefined)
    return refuse('invalid_request', 'repo_full_name and branch belong together: the repository, and the branch to work on.', {
      field: repo === undefined ? 'repo_full_name' : 'branch',
    })
  refuseBranch(branch)
  const all = await worktreesOf(queries, repo)
  const first = all[0]
  if (!first)
    return refuse('not_found', `No runner has the repository ${redacted(repo)}. Start one in a checkout of it: parley runner.`, {
      repo_full_name: redacted(repo),
    })
  const there = all.find((one) => one.branch === branch && one.online)
  return there ? { worktree: there, branch: undefined } : { worktree: first, branch }
}

// The rules of git check-ref-format, and none that begins like an option. The runner asks git itself once more.
const BAD_BRANCH = /^-|^\/|\/$|\/\/|\.\.|@\{|[\u0000-\u0020\u007f~^:?*[\\]|\.lock(\/|$)|(^|\/)\.|\.$|^@$/

const refuseBranch = (branch: string) => {
  if ([...branch].length > 200 || BAD_BRANCH.test(branch) || branch === 'HEAD')
    refuse(
      'invalid_request',
      `git allows no branch of the name ${JSON.stringify(redacted(branch.slice(0, 60)))}. Choose one such as feature/empty-file.`,
      {
        field: 'branch',
      },
    )
}

// An agent starts others in the repository that it works in itself, unless its runner says otherwise.
const refuseBeyondRepository = async (context: Context, { repo_full_name, runner_id, worktree_id }: WorktreeRow) => {
  const own = ownSession(context.caller)
  if (own === undefined) return
  const session = await sessionById(context.queries, own)
  const mine = session?.worktreeId ? await worktreeById(context.queries, session.worktreeId) : undefined
  if (mine && mine.runner_id === runner_id && (mine.repo_full_name === repo_full_name || mine.across)) return
  noSuchWorktree(worktree_id)
}

const refuseUnknownAgent = (name: string, { agents, runner_name }: WorktreeRow) => {
  if (ALWAYS_TAKEN.has(name) || agents.some(({ agentic_tool }) => agentic_tool === name)) return
  const known = agents.map(({ agentic_tool }) => agentic_tool).join(', ') || 'none'
  refuse('invalid_request', `The runner ${runner_name} has no agent ${name}. It has: ${known}.`, { field: 'agentic_tool' })
}

const refuseUnknownServers = (names: string[], { mcp_servers, runner_name }: WorktreeRow) => {
  const unknown = names.find((name) => !mcp_servers.includes(name))
  if (unknown === undefined) return
  const known = mcp_servers.join(', ') || 'none'
  refuse('invalid_request', `The runner ${runner_name} knows no MCP server ${redacted(unknown)}. It knows: ${known}.`, {
    field: 'mcp_server_ids',
  })
}

// Refuses a path that does not lie below the worktree by its text; the runner resolves links too.
const checkedFile = (path: string): string => {
  if (path === '' || path.startsWith('/') || path.startsWith('-') || path.includes('\\') || path.split('/').includes('..'))
    refuse(
      'invalid_request',
      `${JSON.stringify(redacted(path.slice(0, 100)))} is no path below the worktree. Name context files relative to it: docs/plan.md.`,
      {
        field: 'context_files',
      },
    )
  return path
}
