// Which agents' CLIs this machine has. Asking one for its version takes it up to a few seconds, so the answer is remembered until the program
// changes.
import { execFile } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { parleyFolder, readOwn, RUNNER, writeOwn } from '../folder.ts'
import type { Driver } from './drivers/driver.ts'
import { cliEnvironment, type Environment } from './secrets.ts'

const WITHIN_MS = 15_000
const LONGEST_VERSION = 100

export interface Agent {
  driver: Driver
  /** The program's path. */
  program: string
  /** null: it does not say. */
  version: string | null
}

export interface Agents {
  found: Agent[]
  missing: Driver[]
}

/** Looks for the programs of these drivers. */
export const agentsFor = async (drivers: readonly Driver[], env: Environment, home: string): Promise<Agents> => {
  const file = join(parleyFolder(home), RUNNER, 'versions.json')
  const known = readOwn<Record<string, Known>>(file) ?? {}
  const asked = await Promise.all(
    drivers.map(async (driver) => {
      const program = programIn(driver.program, env)
      return { driver, program, is: program === undefined ? undefined : await versionOf(program, known, env) }
    }),
  )
  const found = asked.flatMap(({ driver, program, is }) => (program && is ? [{ driver, program, version: is.version }] : []))
  const fresh = asked.flatMap(({ program, is }) => (program && is && is !== known[program] ? [[program, is] as const] : []))
  if (fresh.length > 0) writeOwn(file, { ...known, ...Object.fromEntries(fresh) })
  return { found, missing: asked.filter(({ is }) => is === undefined).map(({ driver }) => driver) }
}

/** Where PATH has a program of this name; a path is taken as it is. */
export const programIn = (name: string, env: Environment): string | undefined => {
  const paths = name.includes('/')
    ? [name]
    : (env.PATH ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name))
  return paths.find(isProgram)
}

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

interface Known {
  /** The file that the path leads to, and when it was changed. */
  file: string
  changed: number
  version: string | null
}

const versionOf = async (program: string, known: Record<string, Known>, env: Environment): Promise<Known> => {
  const file = realpathSync(program)
  const changed = statSync(file).mtimeMs
  const before = known[program]
  if (before?.file === file && before.changed === changed) return before
  return { file, changed, version: await askVersion(program, env) }
}

const askVersion = (program: string, env: Environment): Promise<string | null> =>
  new Promise((resolve) => {
    const child = execFile(program, ['--version'], { env: cliEnvironment(env), timeout: WITHIN_MS, killSignal: 'SIGKILL' }, (_, out) => {
      const line = out.trim().split('\n')[0]!.trim()
      resolve((/\d+\.\d+[\w.+-]*/.exec(line)?.[0] ?? line).slice(0, LONGEST_VERSION) || null)
    })
    child.stdin?.end()
  })

const numbersIn = (version: string): number[] => (/\d+(?:\.\d+)+/.exec(version)?.[0] ?? '').split('.').map(Number)

/** Is this version older than that one? What is not known is not old. */
export const isOlder = (version: string | null, than: string | undefined): boolean => {
  if (version === null || than === undefined) return false
  const [own, least] = [numbersIn(version), numbersIn(than)]
  const place = least.findIndex((number, i) => (own[i] ?? 0) !== number)
  return own.length > 1 && place >= 0 && (own[place] ?? 0) < least[place]!
}
