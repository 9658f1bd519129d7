// `runner`: lets the people of a hub have agents work in worktrees of this machine.
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { escapeInvisible } from '../../core/text/escape-invisible.ts'
import { createStopWish } from '../../core/runtime/asked-to-stop.ts'
import { pause } from '../../core/runtime/pause.ts'
import { updateNote } from '../hub-notes.ts'
import { Stop, type Machine } from '../machine.ts'
import { packageOf } from '../package.ts'
import { agentsFor, isOlder, type Agent, type Agents } from './agents.ts'
import type { Kinds } from './built-in.ts'
import { conversationCosts } from './conversation-costs.ts'
import type { Driver } from './drivers/driver.ts'
import { gitIn, type Git, type Repository } from './git.ts'
import { guardRunner, guarded, GUARDIAN } from './guardian.ts'
import { hubCalls, type Registering } from './hub-calls.ts'
import { checkOpen, configOf, type Config } from './hub-config.ts'
import { runnerKey } from './key.ts'
import { runnerOptions, USAGE, type RunnerOptions } from './options.ts'
import { Store } from './outbox.ts'
import { canFindProcesses, endMarked } from './processes.ts'
import { prune } from './prune.ts'
import { cliEnvironment, secretsIn } from './secrets.ts'
import { serve } from './serve.ts'
import type { RunnerParts } from './task.ts'
import { madeIn, namedWorktrees, neededPaths, worktreesAt, wireWorktrees } from './worktrees.ts'

const STOPS_WITHIN_MS = 8_000 // of the 10 s that a SIGTERM leaves
const KILLING = { graceMs: 200, withinMs: 1_000 }

/** Whether these words are for the runner, or for the process that it keeps beside itself. */
export const isRunnerCall = ([word]: string[]): boolean => word === 'runner' || word === GUARDIAN

/** Runs until a signal ends it. Returns the exit code; throws Stop or BadCall. */
export const runRunner = async ([word, ...words]: string[], machine: Machine, kinds: Kinds): Promise<number> => {
  if (word === GUARDIAN) return guardRunner(machine, words[0]!)
  const options = runnerOptions(
    words,
    machine,
    kinds.builtIn.map(({ agenticTool }) => agenticTool),
  )
  if (options === undefined) {
    machine.out.write(`${USAGE}\n`)
    return 0
  }
  if (process.platform === 'win32')
    throw new Stop('A runner needs Linux or macOS: on Windows it could not end what an agent leaves running. In WSL it works as on Linux.')
  const key = runnerKey(options, machine)
  const git = gitIn(machine.env)
  if (options.prune) {
    await prune(
      machine,
      git,
      hubCalls(options.base, key, (line) => machine.err.write(`${line}\n`)),
      options,
    )
    return 0
  }
  const repositories = await offered(git, options, machine)
  const config = await configOf(options, machine)
  checkOpen(options, config)
  const drivers = [...kinds.builtIn, ...options.agents.map(({ name, command }) => kinds.added(name, command))]
  const agents = await agentsFor(drivers, machine.env, machine.home)
  await printStart(machine, options, { git, repositories, agents, config })
  await work(machine, options, { key, git, repositories, drivers, agents })
  return 0
}

interface Offered {
  /** Worktrees named by whoever started the runner. */
  given: Repository[]
  /** The given worktrees and those of the runner's own making, the newest last. */
  all: Repository[]
}

const offered = async (git: Git, { worktrees, base }: RunnerOptions, { folder, home }: Machine): Promise<Offered> => {
  const given = await worktreesAt(git, worktrees.length > 0 ? worktrees : [folder])
  const own = await madeIn(git, home, base, given)
  return { given, all: [...new Map([...given, ...own].map((each) => [each.path, each])).values()] }
}

interface Inventory {
  git: Git
  repositories: Offered
  agents: Agents
  config: Config
}

const printStart = async (machine: Machine, options: RunnerOptions, { git, repositories, agents, config }: Inventory) => {
  const { out, env } = machine
  const user = userName(env)
  const readers = !config.pagesOpen ? 'everybody who signs in there or holds a key that reads' : 'everybody who reaches that address'
  const worktrees = await wireWorktrees(git, repositories.all)
  const lines = [
    `Everybody who signs in at ${options.base}, or holds a full key, can run code here as ${user}. What agents print is readable by ${readers}.`,
    `An agent can read what ${user} can read, this runner's key too: for work that you do not trust, run it as a user of its own.`,
    ...worktrees.map(({ path, repo_full_name: name, branch, head, changed_files: changed }) =>
      ['  worktree', path, name, branch ?? 'no branch', head?.slice(0, 8) ?? 'no commit', ...changesIn(changed)].join('  '),
    ),
    ...agents.found.flatMap(({ driver: { agenticTool, howToGet, oldest }, version, program }) => [
      `  agent  ${agenticTool}  ${version ?? 'no version'}  ${program}`,
      ...(isOlder(version, oldest)
        ? [`  old    ${agenticTool}: older than ${oldest}, the oldest that this was tested with; it may fail: ${howToGet}`]
        : []),
    ]),
    ...(canFindProcesses() ? [] : [NOT_FOUND]),
    ...agents.missing.map(({ agenticTool, howToGet }) => `  missing  ${agenticTool}: ${howToGet}`),
    ...updateIn(config, options, machine),
  ]
  out.write(`${lines.map(plain).join('\n')}\n`)
}

const updateIn = ({ hub }: Config, { base }: RunnerOptions, { program }: Machine): string[] => {
  const line = hub && updateNote(`${base}/mcp`, hub, packageOf(program).version, 'runner …')
  return line === undefined ? [] : [line]
}

const changesIn = (changed: number | null): string[] => (changed === 0 ? [] : [`${changed ?? 'not known what has'} changed`])

const NOT_FOUND = '  careful  ps does not list the processes of this machine: what an agent leaves running is not ended with its task.'

// Names of folders, branches and agents are others' words: none of them moves the terminal's cursor or begins a line.
const plain = (line: string): string => escapeInvisible(line).replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')

// A user without an entry has no name, as in some containers; Bun calls one so whose environment says none.
const userName = (env: Machine['env']): string => {
  try {
    const { username, uid } = userInfo()
    return username === 'unknown' ? (env.LOGNAME ?? `user ${uid}`) : username
  } catch {
    return env.USER ?? 'this user'
  }
}

interface Means {
  key: string
  git: Git
  repositories: Offered
  drivers: readonly Driver[]
  agents: Agents
}

const work = async (machine: Machine, options: RunnerOptions, { key, git, repositories, drivers, agents }: Means): Promise<void> => {
  const say = (line: string) => void machine.out.write(`${plain(line)}\n`)
  const mark = `parley-${randomBytes(8).toString('hex')}`
  const worktrees = new Map(repositories.all.map((each) => [each.path, each]))
  const parts: RunnerParts & { worktrees: Map<string, Repository> } = {
    hub: hubCalls(options.base, key, say),
    base: options.base,
    store: new Store(),
    git,
    mark,
    env: cliEnvironment(machine.env),
    secrets: new Map([...secretsIn(machine.env), ...secretsIn(options.mcpServers), [key, 'the key of this runner']]),
    mcpServers: options.mcpServers,
    costs: conversationCosts(machine.home),
    allowBypass: options.allowBypass,
    worktrees,
    agentFor: (agenticTool) => agentNow(agenticTool, drivers, machine),
    say,
    shutOut: () => {},
  }
  const named = (signal: AbortSignal) =>
    namedWorktrees(
      repositories.given,
      [...worktrees.values()],
      () => neededPaths(parts.hub, { home: machine.home, base: options.base }, signal),
      say,
    )
  const registering = async (signal: AbortSignal): Promise<Registering> => ({
    name: options.name,
    agents: agents.found.map(({ driver, version }) => ({ agentic_tool: driver.agenticTool, version })),
    worktrees: await wireWorktrees(git, await named(signal)),
    mcp_servers: Object.keys(options.mcpServers),
    allow_bypass: options.allowBypass,
    across: options.across,
    parallel: options.parallel,
  })
  const release = guarded(machine, mark)
  const stopping = new AbortController()
  const ended = onSignals(stopping, say)
  const serving = serve({ parts, home: machine.home, registering, registered: () => say(whatNow(options)) }, stopping.signal)
  try {
    await Promise.race([serving, ended])
  } finally {
    await endMarked(mark, KILLING)
    release()
  }
}

const whatNow = ({ name, base }: RunnerOptions): string =>
  `Registered as ${name}. Open ${base}/worktrees and choose "New session here". Ctrl-C stops it.`

// Resolves when what is left has had its time after a signal.
const onSignals = (stopping: AbortController, say: (line: string) => void): Promise<void> =>
  new Promise((resolve) => {
    const wished = createStopWish()
    const onSignal = () => {
      const wish = wished()
      if (wish === 'again') return resolve()
      if (wish === 'same') return
      say('Stopping: what runs is interrupted.')
      stopping.abort(new Error('The runner was told to stop.'))
      void pause(STOPS_WITHIN_MS).then(resolve)
    }
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal)
  })

// Looked up for each task: a CLI may have been installed, updated or removed since the start.
const agentNow = async (agenticTool: string, drivers: readonly Driver[], { env, home }: Machine): Promise<Agent | string> => {
  const driver = drivers.find((each) => each.agenticTool === agenticTool)
  if (!driver) return `This runner knows no agent ${JSON.stringify(String(agenticTool).slice(0, 40))}.`
  const { found } = await agentsFor([driver], env, home)
  return found[0] ?? `${agenticTool} is not installed on this runner's machine: ${driver.howToGet}`
}
