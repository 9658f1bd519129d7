// The worktrees that a runner offers: those it was given, and those it has made for sessions.
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { isLoopback } from '../../core/address.ts'
import { quoted } from '../../core/text/shell-word.ts'
import { parleyFolder, readOwn, RUNNER, writeOwn } from '../folder.ts'
import { Stop } from '../machine.ts'
import {
  addWorktree,
  checkBranch,
  checkoutMark,
  forgetLocked,
  forgetMissing,
  GitFailed,
  hasBranch,
  headOf,
  remoteBranch,
  repositoryAt,
  stateOf,
  topOf,
  worktreeAtBranch,
  type Git,
  type Repository,
} from './git.ts'
import { archivedAmong, Refused, type HubCalls, type WireWorktree } from './hub-calls.ts'
import { endMarked } from './processes.ts'

/** A worktree of our own making, as it is remembered: once for each session that wanted it. */
export interface Made {
  hub: string
  session_id: string
  path: string
  /** The repository's folder. */
  home: string
  branch: string
}

const MADE_IN = '.parley-worktrees'
const LONGEST_PART = 100 // a folder's name has at most 255 bytes on most disks, and there is more in it than the branch

const fileOf = (home: string): string => join(parleyFolder(home), RUNNER, 'worktrees.json')

export const madeOnes = (home: string): Made[] => readOwn<Made[]>(fileOf(home)) ?? []
export const keepMade = (home: string, made: Made[]): void => writeOwn(fileOf(home), made)

/** Whether two addresses are one hub's: this machine's names for itself lead to the same. */
export const isSameHub = (one: string, other: string): boolean => spelt(one) === spelt(other)

const spelt = (base: string): string => {
  const url = new URL(base)
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  return url.href
}

/** The worktrees of these folders, each once. Throws Stop for a folder that is none. */
export const worktreesAt = async (git: Git, folders: string[]): Promise<Repository[]> => {
  const found = await Promise.all(folders.map((folder) => worktreeAt(git, folder)))
  return [...new Map(found.map((each) => [each.path, each])).values()]
}

const worktreeAt = async (git: Git, folder: string): Promise<Repository> => {
  const found = await repositoryAt(git, folder).catch((error) => {
    if (!(error instanceof GitFailed) && (error as { code?: string }).code !== 'ENOENT') throw error
    throw new Stop(`${folder} is no worktree of git: ${error.message}. Name one with --worktree PATH, or run git init there.`)
  })
  const top = topOf(realpathSync(folder))
  if (isSameFolder(top, found.path)) return found
  throw new Stop(
    `The config of git in ${top} calls another folder its worktree, ${found.path}. Take that out: git -C ${quoted(top)} config --unset core.worktree`,
  )
}

// By its number, since some disks know no case.
const isSameFolder = (one: string, other: string): boolean => {
  const [a, b] = [statSync(one), statSync(other)]
  return a.dev === b.dev && a.ino === b.ino
}

/** The worktrees that the runner has made for sessions of this hub, in one of these repositories, and that are still there; newest last. */
export const madeIn = async (git: Git, home: string, hub: string, repositories: Repository[]): Promise<Repository[]> => {
  const names = new Map(repositories.map((each) => [each.home, each.name]))
  const made = madeOnes(home).filter((each) => isSameHub(each.hub, hub) && names.has(each.home) && existsSync(each.path))
  const paths = [...new Set(made.map(({ path }) => path).toReversed())].toReversed()
  const found = await Promise.all(paths.map((path) => repositoryAt(git, path, names).catch(() => undefined)))
  return found.filter((each) => each !== undefined && paths.includes(each.path)) as Repository[]
}

const MOST_NAMED = 200 // the hub takes no more (control/runner/register-runner.ts)

/** The worktrees of a runner that the hub is told of: those that it was `given`, and as many as the hub takes of its own making, which stand in
 *  `all` with the newest last. Those that no session needs are left out first, then the oldest. `needed` is asked where some are left out, and
 *  `say` hears of it. */
export const namedWorktrees = async (
  given: Repository[],
  all: Repository[],
  needed: () => Promise<ReadonlySet<string>>,
  say: (line: string) => void,
): Promise<Repository[]> => {
  const own = all.filter(({ path }) => !given.some((each) => each.path === path))
  const surplus = Math.min(own.length, given.length + own.length - MOST_NAMED)
  if (surplus <= 0) return [...given, ...own]
  const paths = await needed()
  const [kept, spare] = [own.filter(({ path }) => paths.has(path)), own.filter(({ path }) => !paths.has(path))]
  const left = [...spare, ...kept].slice(0, surplus)
  const spared = Math.min(spare.length, surplus)
  say(
    `${surplus} of the ${own.length} worktrees that this runner has made are not offered, ${spared} of archived sessions and the ${surplus - spared} oldest of others: a hub takes ${MOST_NAMED}. \`runner prune\` removes those of archived sessions.`,
  )
  return [...given, ...own.filter((each) => !left.includes(each))]
}

/** The worktrees of the runner's own making that a session of this hub needs, which is not archived; all of them where the hub does not tell. */
export const neededPaths = async (
  hub: HubCalls,
  { home, base }: { home: string; base: string },
  signal: AbortSignal,
): Promise<Set<string>> => {
  const made = madeOnes(home).filter((each) => isSameHub(each.hub, base))
  const archived = await archivedAmong(hub, made, { signal }).catch((error) => {
    if (error instanceof Refused) return new Set<string>()
    throw error
  })
  return new Set(made.filter(({ session_id: id }) => !archived.has(id)).map(({ path }) => path))
}

/** Worktrees as a hub is told of them. */
export const wireWorktrees = (git: Git, worktrees: Repository[]): Promise<WireWorktree[]> =>
  Promise.all(worktrees.map((each) => wireWorktree(git, each)))

const wireWorktree = async (git: Git, { path, name }: Repository): Promise<WireWorktree> => {
  const { branch, head, changed } = await stateOf(git, path)
  return { path, repo_full_name: name, branch, head, dirty: changed !== 0, changed_files: changed ?? null }
}

/** The folder, links resolved, if it is one of these worktrees or lies below one; undefined otherwise, or if it is not there. */
export const folderWithin = (worktrees: Iterable<Repository>, given: string): string | undefined => {
  if (!isAbsolute(given)) return undefined
  try {
    const folder = realpathSync(given)
    for (const { path } of worktrees) if (isWithin(path, folder)) return folder
  } catch {}
  return undefined
}

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

export interface WorktreeOrder {
  session_id: string
  repo_full_name: string
  /** Of one of the runner's worktrees: the new one belongs to the same clone. */
  repo_path?: string | null
  /** Whether a new branch begins at the HEAD of that worktree; at that of its repository otherwise. Hubs of earlier versions do not tell. */
  begins_there?: boolean
  branch: string
}

/** Makes the worktree that a session wants, or finds the one that it has already, or one of the runner's at which its branch is checked out:
 *  git has a branch in one worktree at a time. A person may have removed the folder of one that is among `made`, which then holds no branch; of
 *  any other the disk may only be away. A branch that one remote alone has begins there, as with `git switch`. Throws GitFailed, with a
 *  sentence. */
export const makeWorktree = async (git: Git, repositories: Repository[], made: Made[], order: WorktreeOrder): Promise<Repository> => {
  const ofThatName = repositories.filter(({ name }) => name === order.repo_full_name)
  const repository = ofThatName.find(({ path }) => path === order.repo_path) ?? ofThatName[0]
  if (!repository)
    throw new GitFailed(`This runner has no repository ${JSON.stringify(String(order.repo_full_name).slice(0, LONGEST_PART))}.`)
  const { home } = repository
  await checkBranch(git, home, order.branch)
  const path = pathFor(home, order)
  if (existsSync(path)) {
    if (made.some((each) => each.path === path) || !isHalfMade(path)) return existing(git, path, home, order.branch)
    await dropHalfMade(git, home, path)
  }
  const taken = await worktreeAtBranch(git, home, order.branch)
  if (taken !== undefined && existsSync(taken)) return repositories.find((each) => each.path === taken) ?? notOffered(order.branch, taken)
  if (taken !== undefined && made.some((each) => each.path === taken)) await forgetMissing(git, home, taken)
  const begin = order.begins_there && repository.path === order.repo_path ? repository.path : home
  const head = (await headOf(git, begin)) ?? (await headOf(git, home))
  if (head === undefined) throw new GitFailed(`${home} has no commit yet, so that no branch can begin there.`)
  const isThere = await hasBranch(git, home, order.branch)
  await addWorktree(git, home, path, order.branch, isThere ? undefined : ((await remoteBranch(git, home, order.branch)) ?? head)).catch(
    async (error) => {
      if (await isWhole(git, path, home, order.branch)) return
      if (isHalfMade(path)) await dropHalfMade(git, home, path)
      throw error
    },
  )
  await git(home, 'worktree', 'unlock', '--', path)
  return { path, home, name: repository.name }
}

const notOffered = (branch: string, path: string): never => {
  throw new GitFailed(
    `The branch ${branch} is checked out in ${path}, which this runner does not offer. Name another branch, or start the runner with --worktree ${path} too.`,
  )
}

const pathFor = (home: string, { session_id, branch }: WorktreeOrder): string => {
  const folder = join(dirname(home), MADE_IN)
  mkdirSync(folder, { recursive: true })
  if (!lstatSync(folder).isDirectory()) throw new GitFailed(`${folder} is a link; worktrees are made in a folder of that name alone.`)
  const plain = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '-').slice(0, LONGEST_PART)
  return join(realpathSync(folder), `${basename(home)}-${plain(branch)}-${plain(session_id).replaceAll('-', '').slice(0, 8)}`)
}

// Until all files of a worktree are there, it is locked: by --lock, or by git alone where a runner of an earlier version makes it. No agent has
// worked there yet.
const LOCKED = ['added with --lock', 'initializing'] // as git writes it

const isHalfMade = (path: string): boolean => {
  try {
    const [, folder] = /^gitdir: (.*)$/m.exec(readFileSync(join(path, '.git'), 'utf8')) ?? []
    return folder !== undefined && LOCKED.includes(readFileSync(resolve(path, folder, 'locked'), 'utf8').trim())
  } catch {
    return false
  }
}

const ENDING = { graceMs: 2_000, withinMs: 10_000 } // a git that is told to end removes what it has made

// A runner that was killed may have left the git that makes it: that one is ended first.
const dropHalfMade = async (git: Git, home: string, path: string): Promise<void> => {
  if ((await endMarked(checkoutMark(path), ENDING)) > 0) throw new GitFailed(`A git that makes ${path} does not end.`)
  rmSync(path, { recursive: true, force: true })
  await forgetLocked(git, home, path)
}

// git says no also where it is ended once all files are there.
const isWhole = async (git: Git, path: string, home: string, branch: string): Promise<boolean> => {
  try {
    await existing(git, path, home, branch)
    return (await git(path, 'diff', '--name-only', '--diff-filter=D', 'HEAD')) === ''
  } catch {
    return false
  }
}

const existing = async (git: Git, path: string, home: string, branch: string): Promise<Repository> => {
  const found = await repositoryAt(git, path).catch(() => undefined)
  const state = found && (await stateOf(git, path))
  if (found?.path === path && found.home === home && state?.branch === branch) return found
  throw new GitFailed(`${path} is there already, and is no worktree of ${home} at the branch ${branch}.`)
}
