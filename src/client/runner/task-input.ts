// What a task that the hub hands out may ask of this machine. All of it is data that others wrote: what does not pass here starts nothing.
import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { escapeInvisible } from '../../core/text/escape-invisible.ts'
import { isBypass } from '../../core/permission-modes.ts'
import type { WireTask } from './hub-calls.ts'
import type { Repository } from './git.ts'
import { folderWithin, isWithin } from './worktrees.ts'

/** Ends a task before anything was started. */
export class NotStarted extends Error {
  constructor(
    readonly code: 'agent_failed' | 'not_allowed' | 'worktree_gone',
    message: string,
  ) {
    super(message)
  }
}

const CONVERSATION = /^[A-Za-z0-9][\w.:-]{0,199}$/ // it may become a word of a command line
const SHOWN = 200

export interface Checked {
  /** Links resolved. */
  folder: string
  contextFiles: string[]
  mcpServers: Record<string, unknown>
  hub: { url: string; key: string }
  /** What of the order is left out, in sentences. */
  leftOut: string[]
}

interface Allowed {
  worktrees: Iterable<Repository>
  allowBypass: boolean
  mcpServers: Readonly<Record<string, unknown>>
  base: string
}

/** Throws NotStarted. */
export const checkedTask = (task: WireTask, { worktrees, allowBypass, mcpServers, base }: Allowed): Checked => {
  if (typeof task.prompt !== 'string') throw new NotStarted('agent_failed', 'The task has no prompt.')
  if (isBypass(task.permission_mode) && !allowBypass)
    throw new NotStarted(
      'not_allowed',
      `This runner was started without --allow-bypass: the permission mode ${task.permission_mode} does not run here.`,
    )
  const folder = typeof task.path === 'string' ? folderWithin(worktrees, task.path) : undefined
  if (folder === undefined) throw noFolder(task.path, worktrees)
  for (const id of [task.conversation, task.fork?.conversation, task.fork?.conversation_at])
    if (typeof id === 'string' && !CONVERSATION.test(id)) throw new NotStarted('agent_failed', `${quoted(id)} is no id of a conversation.`)
  const files = (task.context_files ?? []).map((file) => ({ file, wrong: wrongFile(folder, file) }))
  const servers = (task.mcp_servers ?? []).map((each) => (typeof each === 'string' ? each : String(each?.name)))
  const known = servers.filter((name) => Object.hasOwn(mcpServers, name))
  return {
    folder,
    contextFiles: files.filter(({ wrong }) => wrong === undefined).map(({ file }) => normalize(file)),
    mcpServers: Object.fromEntries(known.map((name) => [name, mcpServers[name]])),
    hub: { url: linkOf(task.mcp_url, base), key: task.agent_key },
    leftOut: [
      ...files
        .filter(({ wrong }) => wrong !== undefined)
        .map(({ file, wrong }) => `The context file ${quoted(file)} ${wrong}; it was left out.`),
      ...servers.filter((name) => !known.includes(name)).map((name) => `This runner has no MCP server ${quoted(name)}; it was left out.`),
    ],
  }
}

// Where the repository is there and a worktree of it is not, that was removed; where both are not, their disk may be away.
const noFolder = (path: unknown, worktrees: Iterable<Repository>): NotStarted => {
  const isRemoved = [...worktrees].some((each) => each.path === path && !existsSync(each.path) && existsSync(each.home))
  return isRemoved
    ? new NotStarted('worktree_gone', `The worktree ${quoted(path)} was removed from this runner's machine.`)
    : new NotStarted('agent_failed', `${quoted(path)} is no worktree of this runner, or is not there any more.`)
}

/** Why an agent must not begin there: not the branch that its session was created for is checked out, but this one. */
export const wrongBranch = ({ path, branch: wanted }: WireTask, branch: string | null): NotStarted | undefined =>
  typeof wanted !== 'string' || wanted === branch
    ? undefined
    : new NotStarted(
        'agent_failed',
        `${quoted(path)} has ${branch === null ? 'no branch' : `the branch ${quoted(branch)}`} checked out by now, and this session was created for ${quoted(wanted)}. Check that out there, or create the session anew: it gets a worktree of its own.`,
      )

const wrongFile = (folder: string, file: unknown): string | undefined => {
  if (typeof file !== 'string' || file === '' || file.includes('\0') || isAbsolute(file)) return 'is no path within the worktree'
  const path = join(folder, file)
  if (!isWithin(folder, path)) return 'leads out of the worktree'
  if (!existsSync(path)) return 'is not there'
  return isWithin(folder, realpathSync(path)) ? undefined : 'leads out of the worktree'
}

const linkOf = (given: string, base: string): string => {
  const link = URL.canParse(given, base) ? new URL(given, `${base}/`).href : undefined
  if (link && /^https?:/.test(link)) return link
  throw new NotStarted('agent_failed', `${quoted(given)} is no address at which an agent could reach the hub.`)
}

const quoted = (text: unknown): string => escapeInvisible(JSON.stringify(String(text).slice(0, SHOWN)))
