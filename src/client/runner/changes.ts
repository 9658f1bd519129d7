// What a task has changed in its worktree: commits, and what is not committed. What was changed before it began does not count.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { headOf, type Git } from './git.ts'

export interface Changes {
  files: number
  added: number
  removed: number
}

/** null: the file is there, and its lines were not counted. */
type Lines = Pick<Changes, 'added' | 'removed'> | null

export interface Before {
  head: string
  files: Map<string, Lines>
}

// New files whose lines are counted: the runner serves other tasks meanwhile, and what an agent leaves may be any number of them.
const MOST_COUNTED = 2_000
const MOST_BYTES = 32 * 1024 * 1024
const LARGEST_COUNTED = 1024 * 1024 // bytes
const AT_ONCE = 20

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

/** What has changed since. A file counts that has come, has gone or has other numbers of lines; of one whose lines are not counted both
 *  times, only that it has come or gone is known. */
export const changesSince = async (git: Git, path: string, before: Before | undefined): Promise<Changes | undefined> => {
  if (!before) return undefined
  try {
    const sums = { files: 0, added: 0, removed: 0 }
    const after = await filesSince(git, path, before.head)
    for (const name of new Set([...before.files.keys(), ...after.keys()])) {
      const [was, is] = [linesOf(before, name), linesOf({ files: after }, name)]
      const isNew = before.files.has(name) !== after.has(name)
      if (!isNew && (!was || !is || (was.added === is.added && was.removed === is.removed))) continue
      sums.files++
      sums.added += Math.max(0, (is?.added ?? 0) - (was?.added ?? 0))
      sums.removed += Math.max(0, (is?.removed ?? 0) - (was?.removed ?? 0))
    }
    return sums
  } catch {
    return undefined
  }
}

const NONE = { added: 0, removed: 0 }
const linesOf = ({ files }: Pick<Before, 'files'>, name: string): Lines => files.get(name) ?? (files.has(name) ? null : NONE)

// Runs no program that the repository's config names, and goes into no submodule (git.ts).
const DIFF = ['--numstat', '--no-renames', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty', '-z']

const filesSince = async (git: Git, path: string, head: string): Promise<Map<string, Lines>> => {
  const [known, fresh] = await Promise.all([
    git(path, 'diff', ...DIFF, head, '--'),
    git(path, 'ls-files', '--others', '--exclude-standard', '-z'),
  ])
  const files = new Map<string, Lines>()
  for (const entry of known.split('\0').filter(Boolean)) {
    const [added, removed, ...name] = entry.split('\t')
    files.set(name.join('\t'), { added: Number(added) || 0, removed: Number(removed) || 0 }) // a binary file has `-`
  }
  const names = fresh.split('\0').filter(Boolean)
  for (let [i, bytes] = [0, 0]; i < names.length; i += AT_ONCE) {
    const some = names.slice(i, i + AT_ONCE)
    const counts = i < MOST_COUNTED && bytes < MOST_BYTES ? await Promise.all(some.map((name) => linesIn(join(path, name)))) : []
    for (const [j, name] of some.entries()) {
      const lines = counts[j] ?? null
      bytes += lines?.bytes ?? 0
      files.set(name, lines && { added: lines.count, removed: 0 })
    }
  }
  return files
}

// Of a plain file: a link is not followed, and opening a pipe waits for nobody. What somebody put there may have no end.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const linesIn = async (file: string): Promise<{ count: number; bytes: number } | null> => {
  try {
    const handle = await open(file, FLAGS)
    try {
      const stat = await handle.stat()
      if (!stat.isFile() || stat.size > LARGEST_COUNTED) return null
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(stat.size), 0, stat.size, 0)
      return { count: linesOfText(buffer.subarray(0, bytesRead)), bytes: bytesRead }
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}

const LINE_END = 10

const linesOfText = (text: Uint8Array): number => {
  let ends = 0
  for (let at = text.indexOf(LINE_END); at >= 0; at = text.indexOf(LINE_END, at + 1)) ends++
  return text.length === 0 || text.at(-1) === LINE_END ? ends : ends + 1
}
