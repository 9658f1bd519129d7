// What an agent of a new session is to be, checked against what runners have.
import type { Context } from '../../operations/context.ts'
import { refuse } from '../../core/errors.ts'
import { redacted } from '../../core/text/text.ts'
import { worktreeById, worktreesOf, type WorktreeRow } from '../../stores/control/worktrees.ts'
import { refuseLowered } from '../permissions/raise.ts'
import { ownSession } from '../reach.ts'
import { sessionById } from '../../stores/sessions.ts'
import { isWithin, worktreeReach, type WorktreeReach } from '../worktrees/worktree-reach.ts'
import type { PermissionMode } from '../../core/permission-modes.ts'

export interface Wanted {
  agentic_tool?: string | undefined
  worktree_id?: string | undefined
  repo_full_name?: string | undefined
  branch?: string | undefined
  /** On whose machine a worktree for the branch is to be; on any that has the repository unless given. */
  runner_id?: string | undefined
  /** Whether a new branch begins at the HEAD of the worktree that is named, as it does unless given; at that of its repository otherwise. */
  begins_there?: boolean | undefined
  permission_mode?: PermissionMode | undefined
  context_files?: string[] | undefined
  mcp_server_ids?: string[] | undefined
  /** Servers of the session that it comes from. Of those that the runner no longer has each task says that they were left out. */
  inherited_servers?: string[] | undefined
}

export interface AgentPlan {
  agenticTool: string
  permissionMode: PermissionMode
  contextFiles: string[]
  mcpServers: string[]
  /** The worktree it works in, or one of the clone that a new one is to be made of, by its runner. */
  worktree: WorktreeRow
  /** The branch of a worktree that is still to be made. */
  branch: string | undefined
  /** Whether that branch begins at the HEAD of `worktree`; at that of its repository otherwise. */
  beginsThere: boolean
  /** The branch that was asked for, of a worktree which had it checked out when its runner last told. */
  branchThere: string | undefined
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
  const agenticTool = wanted.agentic_tool ?? 'claude-code'
  const servers = wanted.mcp_server_ids ?? []
  const found = await placeOf(context, wanted, { agenticTool, servers })
  refuseUnknownAgent(agenticTool, found.worktree)
  refuseUnknownServers(servers, found.worktree)
  if (wanted.permission_mode) await refuseLowered(context, wanted.permission_mode)
  return {
    ...found,
    agenticTool,
    mcpServers: wanted.mcp_server_ids ?? wanted.inherited_servers ?? [],
    contextFiles: (wanted.context_files ?? []).map(checkedFile),
    permissionMode: wanted.permission_mode ?? (await ownMode(context)) ?? (agenticTool === 'codex' ? 'auto' : 'acceptEdits'),
  }
}

// What an agent may do itself is what it hands on where it says nothing: more is a person's to give.
const ownMode = async ({ caller, queries }: Context): Promise<PermissionMode | undefined> => {
  const own = ownSession(caller)
  const session = own === undefined ? undefined : await sessionById(queries, own)
  return session?.permissionMode ?? undefined
}

type WorktreePlan = Pick<AgentPlan, 'worktree' | 'branch' | 'beginsThere' | 'branchThere'>

// A branch with a worktree is one of that worktree's repository, on its machine.
const placeOf = async (context: Context, wanted: Wanted, needs: Needs): Promise<WorktreePlan> => {
  const { worktree_id, repo_full_name, branch, runner_id, begins_there = true } = wanted
  const reach = await worktreeReach(context)
  if (worktree_id === undefined) return byBranch(context, reach, { repo: repo_full_name, branch, runner: runner_id, needs })
  const worktree = await worktreeById(context.queries, worktree_id)
  if (!worktree || !isWithin(reach, worktree)) return noSuchWorktree(worktree_id)
  if (repo_full_name !== undefined && repo_full_name !== worktree.repo_full_name) refuseOtherRepository(worktree, repo_full_name)
  if (branch === undefined || branch === worktree.branch) return { worktree, branch: undefined, beginsThere: false, branchThere: branch }
  const beside = { worktree, begins_there }
  return byBranch(context, reach, { repo: worktree.repo_full_name, branch, runner: worktree.runner_id, beside, needs })
}

const noSuchWorktree = (id: string): never =>
  refuse('not_found', 'There is no such worktree. list_worktrees has those that runners have registered.', { worktree_id: redacted(id) })

const refuseOtherRepository = ({ repo_full_name: own }: WorktreeRow, named: string): never =>
  refuse(
    'invalid_request',
    `This worktree_id is one of ${own}, not of ${redacted(named)}. Leave out repo_full_name, or name instead a worktree of that repository, which list_worktrees has, or repo_full_name and branch alone.`,
    { field: 'repo_full_name' },
  )

interface Needs {
  agenticTool: string
  servers: string[]
}

interface OfBranch {
  repo: string | undefined
  branch: string | undefined
  runner: string | undefined
  /** A worktree of the clone that a new one is to be made of, and whether its branch begins there. */
  beside?: { worktree: WorktreeRow; begins_there: boolean }
  needs: Needs
}

// A worktree that has the branch checked out is used; otherwise one is made, by the first runner that has the repository: of those that
// have the agent and servers, if any. A runner that was named is waited for.
const byBranch = async (
  { queries }: Context,
  reach: WorktreeReach | undefined,
  { repo, branch, runner, beside, needs }: OfBranch,
): Promise<WorktreePlan> => {
  if (repo === undefined || branch === undefined)
    return refuse('invalid_request', 'repo_full_name and branch belong together: the repository, and the branch to work on.', {
      field: repo === undefined ? 'repo_full_name' : 'branch',
    })
  refuseBranch(branch)
  const within = (await worktreesOf(queries, repo)).filter(
    (one) => isWithin(reach, one) && (runner === undefined || one.runner_id === runner),
  )
  const able = ableOf(within, needs)
  const first = beside?.worktree ?? able[0]
  if (!first)
    return refuse('not_found', `No runner has the repository ${redacted(repo)}. Start one in a checkout of it: parley runner.`, {
      repo_full_name: redacted(repo),
    })
  const there = able.find((one) => one.branch === branch && (one.online || runner !== undefined))
  if (there) return { worktree: there, branch: undefined, beginsThere: false, branchThere: branch }
  return { worktree: first, branch, beginsThere: beside?.begins_there ?? false, branchThere: undefined }
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

// The worktrees whose runner has what is asked for; all where none has, of which the refusal then speaks. An agent that is always taken waits
// for no runner that is offline.
const ableOf = (all: WorktreeRow[], { agenticTool, servers }: Needs): WorktreeRow[] => {
  const known = all.filter((one) => servers.every((name) => one.mcp_servers.includes(name)))
  const having = known.filter((one) => hasAgent(one, agenticTool))
  return [having.filter(({ online }) => online), ALWAYS_TAKEN.has(agenticTool) ? known : having].find((some) => some.length > 0) ?? all
}

const hasAgent = ({ agents }: WorktreeRow, name: string) => agents.some(({ agentic_tool }) => agentic_tool === name)

const refuseUnknownAgent = (name: string, worktree: WorktreeRow) => {
  if (ALWAYS_TAKEN.has(name) || hasAgent(worktree, name)) return
  const { agents, runner_name } = worktree
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
