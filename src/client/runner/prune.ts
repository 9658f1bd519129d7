// `runner prune`: removes the worktrees that the runner has made for sessions which are archived. Their branches stay.
import { existsSync } from 'node:fs'
import { confirmed } from '../ask.ts'
import { Stop, type Machine } from '../machine.ts'
import { forgetMissing, GitFailed, hasLooseHead, hasSubmodules, stateOf, type Git } from './git.ts'
import { archivedAmong, Refused, type HubCalls } from './hub-calls.ts'
import { isSameHub, keepMade, madeOnes, type Made } from './worktrees.ts'

/** `hub`: with the runner's key. Throws Stop where the hub does not tell. */
export const prune = async (machine: Machine, git: Git, hub: HubCalls, { base, yes }: { base: string; yes: boolean }): Promise<void> => {
  const all = madeOnes(machine.home)
  const own = all.filter((made) => isSameHub(made.hub, base))
  const archived = await archivedOf(hub, [...new Set(own.map(({ session_id: id }) => id))])
  const isDone = (made: Made) => isSameHub(made.hub, base) && archived.has(made.session_id)
  const paths = [...new Set(own.map(({ path }) => path))]
  const say = (line: string) => machine.out.write(`${line}\n`)
  let removed = 0
  for (const each of paths) {
    const wanted = all.filter(({ path }) => path === each) // by one session after the other
    if (!wanted.every(isDone) || !(await isRemoved(machine, git, wanted[0]!, yes, say))) continue
    removed++
    keepMade(
      machine.home,
      madeOnes(machine.home).filter(({ path }) => path !== each),
    )
  }
  say(`Removed ${removed} of the ${paths.length} worktree(s) that this runner has made for sessions of ${base}.`)
}

const archivedOf = (hub: HubCalls, ids: string[]): Promise<Set<string>> =>
  archivedAmong(hub, ids).catch((error) => {
    if (error instanceof Refused) throw new Stop(`The hub does not tell which sessions are archived: ${error.message} Nothing was removed.`)
    throw error
  })

const isRemoved = async (machine: Machine, git: Git, { path, home }: Made, yes: boolean, say: (line: string) => void): Promise<boolean> => {
  if (!existsSync(path)) {
    await forgetMissing(git, home, path)
    return true
  }
  try {
    const { branch, changed } = await stateOf(git, path)
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
    await git(home, 'worktree', 'remove', ...(changed > 0 || submodules ? ['--force'] : []), '--', path)
    say(`removed  ${path}`)
    return true
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    say(`kept     ${path}: ${error.message}`)
    return false
  }
}

// Where nobody can be asked, what would be lost stays.
const mayGo = async (machine: Machine, question: string): Promise<boolean> =>
  machine.input.isTTY === true && (await confirmed(machine, question))
