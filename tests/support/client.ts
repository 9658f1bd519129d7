// The program `parley` as people have it: built, unpacked beside a package.json that names the hub, and run in a home folder of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runClient } from '../../src/client/commands.ts'

const ROOT = join(import.meta.dir, '../..')
export const BUILT = join(ROOT, 'public/client.mjs')
export const RUNTIME = Bun.which('node') ?? process.execPath // Node, where there is one: that is what people have

export interface Ran {
  code: number | null
  out: string
  err: string
}

export interface RunOptions {
  input?: string
  env?: Record<string, string>
  cwd?: string
}

interface RunHereOptions extends Omit<RunOptions, 'input'> {
  /** What the program says, as it says it; undefined where nobody is at a terminal. */
  hears?: (text: string, input: PassThrough) => void
}

export type Home = ReturnType<typeof newHome>

/** An empty home folder, and the program of the hub with this link. */
export const newHome = (link: string, version = '0.1.0-btest') => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-home-')))
  const home = join(folder, 'home')
  mkdirSync(home)
  const program = unpacked(join(folder, 'package'), link, version)
  const path = (name: string) => join(home, name)
  return {
    home,
    program,
    path,
    /** The same program, as another hub or version hands it out. */
    programOf: (otherLink: string, otherVersion = version) => unpacked(join(folder, crypto.randomUUID()), otherLink, otherVersion),
    write(name: string, text: string | Uint8Array) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
    },
    read: (name: string): string | undefined => (existsSync(path(name)) ? readFileSync(path(name), 'utf8') : undefined),
    run: (words: string[], options: RunOptions = {}, which = program) => outcomeOf(start(home, [which, ...words], options)),
    runHere: (words: string[], options?: RunHereOptions) => runHere({ home, program }, words, options),
    start: (words: string[], options: RunOptions = {}) => start(home, [program, ...words], options),
    drop: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Runs the program of a home without a process of its own, in a fifth of the time. */
export const runHere = async (
  { home, program }: { home: string; program: string },
  words: string[],
  { hears, env = {}, cwd = home }: RunHereOptions = {},
): Promise<Ran> => {
  const input = Object.assign(new PassThrough(), { isTTY: hears !== undefined })
  const said = { out: '', err: '' }
  const out = {
    write(text: string) {
      said.out += text
      hears?.(text, input)
    },
  }
  const err = { write: (text: string) => (said.err += text) }
  const from = { env: environment(home, env), home, folder: cwd, program, runtime: RUNTIME, pid: process.pid }
  return { code: await runClient(words, { ...from, input, out, err }), ...said }
}

const unpacked = (folder: string, link: string, version: string): string => {
  mkdirSync(folder)
  cpSync(BUILT, join(folder, 'parley.mjs'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'parley', version, type: 'module', parley: { link } }))
  return join(folder, 'parley.mjs')
}

const environment = (home: string, more: Record<string, string>) => ({ PATH: process.env.PATH ?? '', HOME: home, ...more })

const start = (home: string, words: string[], { input = '', env = {}, cwd = home }: RunOptions): ChildProcess => {
  const child = spawn(RUNTIME, words, { cwd, env: environment(home, env), stdio: 'pipe' })
  child.stdin!.on('error', () => {}) // it may end before it has read all
  child.stdin!.end(input)
  return child
}

export const outcomeOf = (child: ChildProcess): Promise<Ran> => {
  let [out, err] = ['', '']
  child.stdout!.on('data', (chunk) => (out += chunk))
  child.stderr!.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}
