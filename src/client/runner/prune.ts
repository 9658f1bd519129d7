// `runner prune`: removes the worktrees that the runner has made for sessions which are archived. Their branches stay.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { confirmed } from '../ask.ts'
import { Stop, type Machine } from '../machine.ts'
import { forgetMissing, GitFailed, hasLooseHead, hasSubmodules, stateOf, type Git } from './git.ts'
import { archivedAmong, Refused, type HubCalls } from './hub-calls.ts'
import { isSameHub, keepMade, madeOnes, type Made } from './worktrees.ts'

/** `hub`: with the runner's key. Throws Stop where the hub does not tell. */
export const prune = async (machine: Machine, git: Git, hub: HubCalls, { base, yes }: { base: string; yes: boolean }): Promise<void> => {
  const all = madeOnes(machine.home)
  const own = all.filter((made) => isSameHub(made.hub, base))
  const archived = await archivedOf(hub, own)
  const paths = [...new Set(own.map(({ path }) => path))]
  const say = (line: string) => machine.out.write(`${line}\n`)
  let removed = 0
  const pruning: Pruning = { machine, git, hub, base, yes, say }
  for (const each of paths) {
    const wanted = all.filter(({ path }) => path === each) // by one session after the other
    if (!wanted.every((made) => isDone(made, base, archived)) || !(await isRemoved(pruning, wanted[0]!))) continue
    removed++
    keepMade(
      machine.home,
      madeOnes(machine.home).filter((made) => !wanted.some(({ path, session_id: id }) => made.path === path && made.session_id === id)),
    )
  }
  say(`Removed ${removed} of the ${paths.length} worktree(s) that this runner has made for sessions of ${base}.`)
}

const isDone = ({ hub, session_id: id }: Made, base: string, archived: Set<string>): boolean => isSameHub(hub, base) && archived.has(id)

const archivedOf = (hub: HubCalls, made: Made[]): Promise<Set<string>> =>
  archivedAmong(hub, made).catch((error) => {
    if (error instanceof Refused) throw new Stop(`The hub does not tell which sessions are archived: ${error.message} Nothing was removed.`)
    throw error
  })

interface Pruning {
  machine: Machine
  git: Git
  hub: HubCalls
  base: string
  yes: boolean
  say(line: string): void
}

const isRemoved = async (pruning: Pruning, { path, home }: Made): Promise<boolean> => {
  const { machine, git, yes, say } = pruning
  if (!existsSync(path)) {
    await forgetMissing(git, home, path)
    return true
  }
  try {
    const state = await stateOf(git, path)
    const { branch, changed } = state
    if (changed === undefined) throw new GitFailed('git does not tell what has changed there')
    const submodules = await hasSubmodules(git, path)
    const lost = [
      ...(changed > 0 ? [`${changed} changed file(s) that are in no commit`] : []),
      ...(branch === null && (await hasLooseHead(git, path)) ? ['commits that are on no branch'] : []),
      ...(submodules ? ['repositories of submodules, which go with it'] : []),
    ].join(' and ')
    if (lost !== '' && !yes && !(await mayGo(machine, `${path} has ${lost}. Remove them for good?`))) {
      say(`kept     ${path}: ${lost}`)
      return false
    }
    // A person may take hours to answer, and a session be brought back meanwhile.
    if (!(await isSpare(pruning, path))) throw new GitFailed('a session needs it again')
    if (!isDeepStrictEqual(await stateOf(git, path), state)) throw new GitFailed('it has changed meanwhile')
    await git(home, 'worktree', 'remove', ...(changed > 0 || submodules ? ['--force'] : []), '--', path)
    say(`removed  ${path}`)
    return true
  } catch (error) {
    if (!(error instanceof GitFailed || error instanceof Refused)) throw error
    say(`kept     ${path}: ${error.message}`)
    return false
  }
}

const isSpare = async ({ machine, hub, base }: Pruning, path: string): Promise<boolean> => {
  const wanted = madeOnes(machine.home).filter((made) => made.path === path)
  const archived = await archivedAmong(hub, wanted)
  return wanted.every((made) => isDone(made, base, archived))
}

// Where nobody can be asked, what would be lost stays.
const mayGo = async (machine: Machine, question: string): Promise<boolean> =>
  machine.input.isTTY === true && (await confirmed(machine, question))
