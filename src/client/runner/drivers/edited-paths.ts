// Which paths an ACP agent's call is about, and whether all of them lie in the worktree, where an agent may be let edit unasked.
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { topOf } from '../git.ts'
import { isObject, listOr, objectOr, type Json } from '../../../transcripts/json.ts'

const NAMES_PATH = /(?:path|file|filename|uri|source|destination|target)s?$|^(?:from|to)$/i
const DEEPEST = 5
const UNTOLD = '..' // lies in no worktree

/** The paths that an update of a call names: by the protocol's fields, and in the tool's own input, whose fields each agent calls otherwise. */
export const pathsOfCall = ({ locations, content, rawInput }: Json): string[] => [
  ...[...listOr(locations), ...listOr(content)].flatMap((each) => stringsIn(objectOr(each).path, 0)),
  ...pathsIn(rawInput, 0),
]

const pathsIn = (value: unknown, depth: number): string[] => {
  if (depth > DEEPEST) return [UNTOLD]
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, depth + 1))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.includes('/') ? [name] : []), // some name files by keys
    ...(NAMES_PATH.test(name) ? stringsIn(inner, depth) : pathsIn(inner, depth + 1)),
  ])
}

const stringsIn = (value: unknown, depth: number): string[] => {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.flatMap((each) => stringsIn(each, depth)) : pathsIn(value, depth + 1)
}

/** Whether these paths are told, and all lie in the worktree that `folder` belongs to, and in nothing that git or an agent runs. */
export const stayInWorktree = (folder: string, paths: readonly string[]): boolean => {
  const top = realpathSync(topOf(folder))
  // opencode names several files as one text.
  return paths.length > 0 && paths.flatMap((path) => [path, ...path.split(', ')]).every((path) => staysIn(top, folder, path))
}

const staysIn = (top: string, folder: string, given: string): boolean => {
  try {
    const path = given.startsWith('file:') ? fileURLToPath(given) : given
    if (/^~|^[a-z][\w+.-]+:/i.test(path)) return false
    const at = resolve(folder, path)
    const within = relative(top, realOf(at))
    if (within === '' || isAbsolute(within)) return false
    const below = namesIn(relative(top, at))
    const told = below[0] === '..' ? namesIn(path) : below // it may be told by a link that lies above the worktree
    return !namesIn(path).includes('..') && [...told, ...namesIn(within)].every(isPlain)
  } catch {
    return false
  }
}

const namesIn = (path: string): string[] => path.split(/[/\\]/)

// Files and folders whose content is run: by git, or by Claude Code, Codex, Gemini CLI or opencode when the next one starts (hooks, MCP servers, plugins,
// variables such as NODE_OPTIONS).
const PROGRAMS = String.raw`\.git|git~\d|\.(?:claude|codex|gemini|opencode|agents|env)|\.mcp\.json|opencode\.jsonc?`

// Some disks know no case, and drop points, spaces and characters that nobody sees.
const RUN = new RegExp(`^(?:${PROGRAMS})[. ]*(?::.*)?$`, 'iu')

// Behind a link `..` leads elsewhere.
const isPlain = (name: string): boolean => name !== '..' && !RUN.test(name.replace(/\p{Cf}/gu, ''))

// Where a path leads, also of a file that is not there yet. A link to nothing leads nobody knows where.
const realOf = (path: string): string => {
  if (existsSync(path)) return realpathSync(path)
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw new Error('a link to nothing')
  return join(realOf(dirname(path)), path.slice(dirname(path).length))
}
