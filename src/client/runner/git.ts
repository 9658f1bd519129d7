// What the runner asks git. No shell: arguments go to git as they are, and what comes from elsewhere stands after `--` or within a ref's name.
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { sha256 } from '../../core/ids.ts'
import { concurrencyLimit } from '../../core/runtime/concurrency-limit.ts'
import { LISTING, namesProgram, NO_HOOKS, OUTSIDE, outsideSettings } from './git-config.ts'
import { marked } from './processes.ts'
import { cliEnvironment, type Environment } from './secrets.ts'

const MOST_OUTPUT = 64 * 1024 * 1024
const WITHIN_MS = 120_000
const CHECKOUT_WITHIN_MS = 10 * 60_000 // a third of what the hub gives an order, which waits for those before it (stores/control/agents.ts)
const MOST_AT_ONCE = 16 // a runner asks several things of each of its worktrees, and may have hundreds
const LONGEST_BRANCH = 200 // as an order's branch may be (control/sessions/agent-plan.ts)

/** git said no; the message is its own last words. */
export class GitFailed extends Error {}

/** Runs git in a folder. Returns what it prints, without the line end that closes it; throws GitFailed. */
export type Git = (folder: string, ...words: string[]) => Promise<string>

/** `env`: the runner's. A hook or an alias of git that started the runner has set variables that would name another repository. */
export const gitIn = (env: Environment, withinMs = WITHIN_MS, checkoutWithinMs = CHECKOUT_WITHIN_MS): Git => {
  const plain = Object.fromEntries(Object.entries(cliEnvironment(env)).filter(([name]) => !name.startsWith('GIT_')))
  // A clone without all of its objects asks its origin for them, by what its config names: for new files alone, and over no other way.
  const own = { ...plain, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_ALLOW_PROTOCOL: 'none' }
  const limited = concurrencyLimit(MOST_AT_ONCE)
  const run = (folder: string, words: string[], [env, timeout]: [env: Record<string, string>, timeout: number] = [own, withinMs]) =>
    new Promise<string>((resolve, reject) => {
      execFile('git', words, { cwd: folder, env, maxBuffer: MOST_OUTPUT, timeout }, (error, out, err) => {
        if (error === null) return resolve(out.replace(/\n$/, ''))
        reject(new GitFailed(whyNot(error, err, timeout)))
      })
    })
  // A worktree that is to be removed may have settings of its own.
  const settings = async (folder: string) => {
    const inside = await run(folder, LISTING)
    if (!namesProgram(inside)) return []
    return outsideSettings(inside, await run(folder, LISTING, [{ ...own, ...OUTSIDE }, withinMs])) ?? refuseSettings(folder)
  }
  const asked = async (folder: string, words: string[]) => {
    const before = [...NO_HOOKS, ...(readsFiles(words) ? await settings(filesOf(words) ?? folder) : [])]
    if (!isCheckout(words)) return run(folder, [...before, ...words])
    const at = words[0] === 'reset' ? folder : pathIn(words)
    const env = marked({ ...own, GIT_ALLOW_PROTOCOL: 'http:https:ssh' }, checkoutMark(at))
    return run(folder, [...before, ...words], [env, checkoutWithinMs])
  }
  return (folder, ...words) => limited('git', () => asked(folder, words))
}

const refuseSettings = (folder: string): never => {
  throw new GitFailed(`The config of git in ${folder} names a program under a name with =, which cannot be switched off.`)
}

// Files go through filters.
const readsFiles = (words: string[]): boolean => words[0] === 'status' || words[0] === 'diff' || isCheckout(words)

// A checkout, or its removal, goes through all files of a repository.
const isCheckout = ([command, what]: string[]): boolean =>
  command === 'reset' || (command === 'worktree' && (what === 'add' || what === 'remove'))

const pathIn = (words: string[]): string => words[words.indexOf('--') + 1]!

const filesOf = (words: string[]): string | undefined =>
  words[1] === 'remove' && isCheckout(words) && existsSync(pathIn(words)) ? pathIn(words) : undefined

/** The mark of a git that makes or removes the worktree at this path: it may outlive the runner that has started it. */
export const checkoutMark = (path: string): string => `worktree-${sha256(path).slice(0, 16)}`

const whyNot = (error: Error & { code?: unknown; killed?: boolean }, err: string, withinMs: number): string => {
  if (error.code === 'ENOENT') return 'git is not installed, or the folder is not there'
  if (error.killed && typeof error.code !== 'string') return `git did not finish within ${withinMs / 1_000} s`
  return (
    err
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^(fatal|error): /, '') || error.message
  )
}

const orNothing = <Answer>(asked: Promise<Answer>): Promise<Answer | undefined> =>
  asked.catch((error) => {
    if (error instanceof GitFailed) return undefined
    throw error
  })

export interface Repository {
  /** The worktree's top folder, links resolved. */
  path: string
  /** The folder of the repository that it belongs to: the same, unless it is a worktree of another one. */
  home: string
  /** `owner/name` of its origin, else its folder's name. */
  name: string
}

/** The worktree that a folder belongs to. Throws GitFailed where it belongs to none. `names`: of repositories, by their folder, whose name is
 *  known already; it is the same for all worktrees of one. */
export const repositoryAt = async (git: Git, folder: string, names: ReadonlyMap<string, string> = new Map()): Promise<Repository> => {
  const [top, commonDir] = await foldersOf(git, folder)
  const path = realpathSync(top)
  // Relative to where the folder's links lead. git has --path-format since 2.31 alone.
  const common = realpathSync(resolve(realpathSync(folder), commonDir))
  const isPlain = basename(common) === '.git' && lstatSync(common).isDirectory()
  // A submodule's lies in its superproject's .git/modules, a bare repository has no folder around it.
  const home = isPlain ? dirname(common) : path
  return { path, home, name: names.get(home) ?? (await nameOf(git, path, home)) }
}

/** The folder itself, or the nearest one around it, that has a `.git`: where its worktree begins. The folder itself where there is none. */
export const topOf = (folder: string): string => {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return folder
  }
}

const nameOf = async (git: Git, path: string, home: string): Promise<string> => {
  const origin = await orNothing(git(path, 'config', '--get', 'remote.origin.url'))
  return (origin && ownerAndName(origin)) || basename(home)
}

// One call for both: a runner asks this of each of its worktrees, of which it may have hundreds. A folder's name may hold a line end.
const foldersOf = async (git: Git, folder: string): Promise<[top: string, commonDir: string]> => {
  const lines = (await git(folder, 'rev-parse', '--show-toplevel', '--git-common-dir')).split('\n')
  if (lines.length === 2) return [lines[0]!, lines[1]!]
  return Promise.all([git(folder, 'rev-parse', '--show-toplevel'), git(folder, 'rev-parse', '--git-common-dir')])
}

/** `owner/name` in the address of a repository on another machine; undefined for a folder on this one. */
export const ownerAndName = (origin: string): string | undefined => {
  const path = URL.canParse(origin) && new URL(origin).host !== '' ? new URL(origin).pathname : /^[^/:\s]+:(?!\/\/)(.+)$/.exec(origin)?.[1]
  const name = path?.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  return name !== undefined && name.includes('/') ? name : undefined
}

export interface WorktreeState {
  /** null: no branch is checked out. */
  branch: string | null
  /** null: there is no commit. */
  head: string | null
  /** undefined: git does not tell, as where its index is broken. Work may stand there that is in no commit. */
  changed: number | undefined
}

// Untracked files count as changes whatever `status.showUntrackedFiles` says: they are in no commit either way. Of a submodule its commit
// counts alone: to look at its files git would go by a config of its own.
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=dirty']

/** Where a worktree stands now. */
export const stateOf = async (git: Git, path: string): Promise<WorktreeState> => {
  const quick = await orNothing(git(path, ...STATUS, '--no-ahead-behind')) // which git knows since 2.17
  const status = quick ?? (await orNothing(git(path, ...STATUS)))
  if (status !== undefined) return stateIn(status)
  const [branch, head] = await Promise.all([orNothing(git(path, 'symbolic-ref', '--quiet', '--short', 'HEAD')), headOf(git, path)])
  return { branch: branch ?? null, head: head ?? null, changed: undefined }
}

export const headOf = (git: Git, path: string): Promise<string | undefined> =>
  orNothing(git(path, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'))

// The second format of `git status`: headers, then an entry for each changed file, of a renamed one with its name before as one more.
const stateIn = (status: string): WorktreeState => {
  const parts = status.split('\0').filter(Boolean)
  const firstEntry = parts.findIndex((part) => !part.startsWith('# '))
  const [headers, entries] = firstEntry < 0 ? [parts, []] : [parts.slice(0, firstEntry), parts.slice(firstEntry)]
  const valueOf = (name: string, none: string): string | null => {
    const value = headers.find((header) => header.startsWith(`# branch.${name} `))?.slice(`# branch.${name} `.length)
    return value === undefined || value === none ? null : value
  }
  let changed = 0
  for (let i = 0; i < entries.length; i += entries[i]!.startsWith('2 ') ? 2 : 1) changed++
  return { branch: valueOf('head', '(detached)'), head: valueOf('oid', '(initial)'), changed }
}

/** Whether nothing but this worktree leads to its commit: it stands on no branch, and on no tag. */
export const hasLooseHead = async (git: Git, path: string): Promise<boolean> =>
  (await git(path, 'for-each-ref', '--count=1', '--contains', 'HEAD', 'refs/heads', 'refs/tags', 'refs/remotes')) === ''

/** Whether repositories of submodules belong to this worktree: git removes them with it, and only by --force. One may be left of a submodule
 *  that the branch has no more. */
export const hasSubmodules = async (git: Git, path: string): Promise<boolean> => {
  if (existsSync(resolve(path, await git(path, 'rev-parse', '--git-path', 'modules')))) return true
  const entries = (await git(path, 'ls-files', '--stage', '-z')).split('\0').filter((entry) => entry.startsWith(`${SUBMODULE} `))
  return entries.some((entry) => existsSync(join(path, entry.slice(entry.indexOf('\t') + 1), '.git')))
}

const SUBMODULE = '160000' // the mode by which git's index has one

/** Throws GitFailed, with a sentence, unless git takes this as the name of a new branch. */
export const checkBranch = async (git: Git, folder: string, branch: string): Promise<void> => {
  const no = (why: string): never => {
    throw new GitFailed(`${JSON.stringify(branch.slice(0, LONGEST_BRANCH))} cannot be the name of a branch: ${why}.`)
  }
  if (typeof branch !== 'string' || branch === '') return no('it is empty')
  if (branch.length > LONGEST_BRANCH) return no(`it has more than ${LONGEST_BRANCH} characters`)
  if (branch.startsWith('-')) return no('it begins with -')
  if (branch === 'HEAD' || branch === '@') return no('git means the current commit by it')
  if (/[\0-\x1f\x7f]/.test(branch)) return no('it holds a control character')
  if ((await orNothing(git(folder, 'check-ref-format', `refs/heads/${branch}`))) === undefined) return no('git does not allow it')
}

/** The worktree of this repository at which the branch is checked out, links resolved; undefined where there is none. Its folder may be gone. */
export const worktreeAtBranch = async (git: Git, folder: string, branch: string): Promise<string | undefined> => {
  const path = (await worktreesIn(git, folder)).find((each) => each.branch === `refs/heads/${branch}`)?.path
  return path !== undefined && existsSync(path) ? realpathSync(path) : path
}

/** Makes a worktree of the repository in `home`, at a branch, which is a new one where its `begin` is given. It stays locked: whoever makes it
 *  unlocks it when it is whole. */
export const addWorktree = async (git: Git, home: string, path: string, branch: string, begin?: string): Promise<void> => {
  const words = begin === undefined ? ['--', path, branch] : ['-b', branch, '--', path, begin]
  await git(home, 'worktree', 'add', '--quiet', '--no-checkout', '--lock', ...words)
  // Files come second: a config may hold for this folder or this branch alone (includeIf), and git lists that once the worktree is there.
  // Without --quiet git prints a line at the end, which fails where its runner is gone.
  await git(path, 'reset', '--hard', '--quiet', '--no-recurse-submodules')
}

/** Has git forget a worktree whose folder is gone, for which it holds a branch that no other worktree gets. One on no branch holds none, and
 *  its commits may be nowhere else: that one stays in git's list, as does one that is locked. */
export const forgetMissing = async (git: Git, folder: string, path: string): Promise<void> => {
  const listed = (await orNothing(worktreesIn(git, folder))) ?? []
  if (listed.some((each) => each.path === path && each.branch !== undefined)) await orNothing(git(folder, 'worktree', 'remove', '--', path))
}

/** Has git forget a worktree whose folder is gone, although it is locked. */
export const forgetLocked = async (git: Git, folder: string, path: string): Promise<void> =>
  void (await orNothing(git(folder, 'worktree', 'remove', '--force', '--force', '--', path)))

const worktreesIn = async (git: Git, folder: string): Promise<{ path: string | undefined; branch: string | undefined }[]> => {
  const entries = (await git(folder, 'worktree', 'list', '--porcelain')).split('\n\n').map((entry) => entry.split('\n'))
  const after = (lines: string[], word: string) => lines.find((line) => line.startsWith(word))?.slice(word.length)
  return entries.map((lines) => ({ path: after(lines, 'worktree '), branch: after(lines, 'branch ') }))
}

export const hasBranch = async (git: Git, folder: string, branch: string): Promise<boolean> =>
  (await orNothing(git(folder, 'show-ref', '--verify', '--quiet', `refs/heads/${branch}`))) !== undefined

/** The branch of this name of the one remote that has it, as a ref; undefined where none or several have. */
export const remoteBranch = async (git: Git, folder: string, branch: string): Promise<string | undefined> => {
  const refs = (await git(folder, 'for-each-ref', '--format=%(refname)', `refs/remotes/*/${branch}`)).split('\n').filter(Boolean)
  return refs.length === 1 ? refs[0] : undefined
}
