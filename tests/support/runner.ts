// A runner as a process of its own under Node, in a home folder and with worktrees of its own.
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { outcomeOf, RUNTIME, type Ran } from './client.ts'
import type { RunnerHub } from './runner-hub.ts'

/** Builds the program once, with the scripted agent in it. Returns its file. */
export const buildRunner = async (): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-runner-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, 'runner-program.ts')],
    target: 'node',
    outdir: folder,
    naming: 'runner.mjs',
  })
  if (!built.success) throw new Error(built.logs.join('\n'))
  return join(folder, 'runner.mjs')
}

export const git = (folder: string, ...words: string[]): string => {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

type HubOfRunner = Pick<RunnerHub, 'url' | 'key'>

export type Site = ReturnType<typeof newSite>

// Run by Bun, which begins in a fifth of the time that Node takes: a test starts many.
const AGENT = `#!${process.execPath}\n${readFileSync(join(import.meta.dir, 'scripted-agent.mjs'), 'utf8')}`

/** A home, a folder in PATH that has the scripted agent, and one repository with a commit; all of it in a folder within `place`. */
export const newSite = (program: string, name = 'app', place = tmpdir()) => {
  const folder = realpathSync(mkdtempSync(join(place, 'parley-site-')))
  const path = (...names: string[]) => join(folder, ...names)
  for (const each of ['home', 'bin']) mkdirSync(path(each))
  writeFileSync(path('bin', 'scripted-agent'), AGENT, { mode: 0o755 })
  const runners: Started[] = []
  const repository = (called: string, commit = true) => {
    const at = path(called)
    mkdirSync(at, { recursive: true })
    git(at, 'init', '-q', '-b', 'main')
    git(at, 'config', 'user.email', 'alex@example.org')
    git(at, 'config', 'user.name', 'Alex')
    if (!commit) return at
    writeFileSync(join(at, 'readme.txt'), 'one\ntwo\n')
    git(at, 'add', '.')
    git(at, 'commit', '-q', '-m', 'First')
    return at
  }
  const app = repository(name)
  const env = (more: Record<string, string> = {}) => ({
    PATH: `${path('bin')}:${dirname(RUNTIME)}:${process.env.PATH}`,
    HOME: path('home'),
    STARTS_FILE: path('starts'),
    PROMPTS_FILE: path('prompts'),
    ...more,
  })
  /** The same without waiting for it. */
  const launch = (hub: HubOfRunner, words: string[], more: Record<string, string> = {}): Started => {
    const given = { PARLEY_RUNNER_KEY: hub.key, ...more }
    // A file, not a pipe: what a pipe brings may come after what the hub was told later.
    const file = `${folder}.${runners.length}.log`
    const printed = openSync(file, 'a')
    const options = { cwd: folder, env: env(given), stdio: ['ignore', printed, printed] } satisfies SpawnOptions
    const child = spawn(RUNTIME, [program, 'runner', '--url', hub.url, ...words], options)
    closeSync(printed)
    const runner = { child, output: () => readOr(file), ended: endOf(child) }
    runners.push(runner)
    return runner
  }
  return {
    folder,
    path,
    app,
    repository,
    launch,
    /** Starts a runner of this hub, and returns once it has registered or ended; its worktree is `app` unless `words` say otherwise. */
    async start(hub: HubOfRunner, words: string[] = ['--worktree', app], more: Record<string, string> = {}): Promise<Started> {
      const runner = launch(hub, words, more)
      await until(() => runner.output().includes('Registered as') || runner.child.exitCode !== null, 60_000)
      return runner
    },
    /** Runs it to its end. */
    run: (words: string[], more: Record<string, string> = {}, cwd = folder): Promise<Ran> =>
      outcomeOf(spawn(RUNTIME, [program, ...words], { cwd, env: env(more), timeout: 60_000 })),
    /** How often the scripted agent was started. */
    starts: () => readOr(path('starts')).split('\n').filter(Boolean).length,
    /** The prompts that reached it, in that order. */
    prompts: (): string[] =>
      readOr(path('prompts'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async drop() {
      for (const { child } of runners) child.kill('SIGKILL')
      await Promise.all(runners.map(({ ended }) => ended))
      for (const made of [folder, ...runners.map((_, i) => `${folder}.${i}.log`)]) rmSync(made, { recursive: true, force: true })
    },
  }
}

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export interface Started {
  child: ChildProcess
  output(): string
  ended: Promise<number | null>
}

export const started = (child: ChildProcess): Started => {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk))
  return { child, output: () => output, ended: endOf(child) }
}

const endOf = (child: ChildProcess): Promise<number | null> => new Promise((resolve) => child.once('close', resolve))

/** Waits until it is so; throws after `ms`. */
export const until = async (isSo: () => unknown, ms = 60_000, what = isSo.toString()): Promise<void> => {
  const ends = Date.now() + ms
  for (let pauseMs = 10; !(await isSo()); pauseMs = Math.min(2 * pauseMs, 80)) {
    if (Date.now() > ends) throw new Error(`Not within ${ms} ms: ${what}`)
    await Bun.sleep(pauseMs)
  }
}

/** The processes whose command line or environment holds the text. */
export const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) =>
        Number.isInteger(pid) &&
        pid !== process.pid &&
        ['cmdline', 'environ'].some((file) => readOr(`/proc/${pid}/${file}`).includes(text)),
    )
