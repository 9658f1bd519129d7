// What a task has changed in its worktree: commits, and what is not committed. What was changed before it began does not count.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { headOf, type Git } from './git.ts'

export interface Changes {
  files: number
  added: number
  removed: number
}

type Lines = Pick<Changes, 'added' | 'removed'>

export interface Before {
  head: string
  files: Map<string, Lines>
}

const LARGEST_COUNTED = 1024 * 1024 // bytes of a new file whose lines are counted

/** To be kept when a task begins. Undefined where git does not tell. */
export const beforeTask = async (git: Git, path: string): Promise<Before | undefined> => {
  try {
    // Without a commit everything is compared with the tree that has nothing in it.
    const head = (await headOf(git, path)) ?? (await git(path, 'hash-object', '-t', 'tree', '/dev/null'))
    return { head, files: await filesSince(git, path, head) }
  } catch {
    return undefined // a repository that is broken or gone must not keep a task from its end
  }
}

/** What has changed since. */
export const changesSince = async (git: Git, path: string, before: Before | undefined): Promise<Changes | undefined> => {
  if (!before) return undefined
  try {
    const sums = { files: 0, added: 0, removed: 0 }
    const after = await filesSince(git, path, before.head)
    for (const name of new Set([...before.files.keys(), ...after.keys()])) {
      const [was, is] = [before.files.get(name) ?? NONE, after.get(name) ?? NONE]
      if (was.added === is.added && was.removed === is.removed) continue
      sums.files++
      sums.added += Math.max(0, is.added - was.added)
      sums.removed += Math.max(0, is.removed - was.removed)
    }
    return sums
  } catch {
    return undefined
  }
}

const NONE: Lines = { added: 0, removed: 0 }

const filesSince = async (git: Git, path: string, head: string): Promise<Map<string, Lines>> => {
  const [known, fresh] = await Promise.all([
    git(path, 'diff', '--numstat', '--no-renames', '--no-ext-diff', '-z', head, '--'),
    git(path, 'ls-files', '--others', '--exclude-standard', '-z'),
  ])
  const files = new Map<string, Lines>()
  for (const entry of known.split('\0').filter(Boolean)) {
    const [added, removed, ...name] = entry.split('\t')
    files.set(name.join('\t'), { added: Number(added) || 0, removed: Number(removed) || 0 }) // a binary file has `-`
  }
  for (const name of fresh.split('\0').filter(Boolean)) files.set(name, { added: linesIn(join(path, name)), removed: 0 })
  return files
}

const linesIn = (file: string): number => {
  try {
    if (statSync(file).size > LARGEST_COUNTED) return 0
    const text = readFileSync(file, 'utf8')
    return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
  } catch {
    return 0
  }
}
