// What `runner` is called with. A mistake ends it before anything is started.
import { hostname } from 'node:os'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { baseOfLink } from '../../core/address.ts'
import { LONGEST_NAME, nameIsPlain } from '../../core/text/text.ts'
import { isObject } from '../../transcripts/json.ts'
import { reasonOf } from '../folder.ts'
import { isUnguarded, refusedAsUnguarded } from '../hub.ts'
import { BadCall, readWords, Stop, type Machine } from '../machine.ts'
import { packageOf } from '../package.ts'

export const USAGE = `parley runner: lets the people of a hub have agents work in worktrees of this machine

  parley runner --hub LINK [--worktree PATH]…
      --hub LINK             the hub (the one that this program came from)
      --key-file FILE        the runner's key, in a file that nobody else may read; else PARLEY_RUNNER_KEY has it
      --worktree PATH        a worktree in which agents may work (the current folder); more than once for several
      --name NAME            what the hub calls this runner (this machine's name)
      --parallel N           how many tasks at once (4)
      --allow-bypass         agents may run with no permission asked (bypassPermissions, allow-all)
      --across               agents may start others in another repository of this runner
      --mcp-config FILE      MCP servers that sessions may give their agents: { "mcpServers": { NAME: … } }
      --agent NAME=COMMAND   an agent that speaks ACP; COMMAND is split at blanks, or a JSON array
      --open                 also where everybody who reaches the hub can read what agents print
      --insecure             also over plain http to another machine
  parley runner prune        removes the worktrees that it made for sessions which are archived
      --yes                  also what is in no commit there, or on no branch; files that git ignores go without it

  A person makes the key: \`bun run key run NAME\` where the hub runs, or its page /settings/keys.`

const OPTIONS = {
  hub: { type: 'string' },
  url: { type: 'string' }, // another name of --hub
  worktree: { type: 'string', multiple: true },
  name: { type: 'string' },
  parallel: { type: 'string' },
  'allow-bypass': { type: 'boolean' },
  across: { type: 'boolean' },
  open: { type: 'boolean' },
  insecure: { type: 'boolean' },
  'key-file': { type: 'string' },
  key: { type: 'string' },
  'mcp-config': { type: 'string' },
  agent: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

export interface RunnerOptions {
  /** The hub's base URL. */
  base: string
  name: string
  /** Absolute; empty: the current folder. */
  worktrees: string[]
  parallel: number
  allowBypass: boolean
  across: boolean
  open: boolean
  keyFile: string | undefined
  key: string | undefined
  /** By name, as a client's settings have them. */
  mcpServers: Record<string, unknown>
  /** Further agents: each name with the command that starts it. */
  agents: { name: string; command: string[] }[]
  prune: boolean
  yes: boolean
}

const MOST_PARALLEL = 64

/** Throws BadCall or Stop, with a sentence. `help` is answered by undefined. */
export const runnerOptions = (words: string[], machine: Machine, builtIn: readonly string[]): RunnerOptions | undefined => {
  const { values, positionals } = parsed(words)
  if (values.help) return undefined
  if (positionals.length > 1 || (positionals.length === 1 && positionals[0] !== 'prune'))
    throw new BadCall(
      `runner does not know ${JSON.stringify(positionals.at(-1))}. A folder is given as --worktree PATH. runner --help lists what there is.`,
    )
  return {
    base: baseFor(values, machine),
    name: nameFor(values.name),
    worktrees: (values.worktree ?? []).map((path) => resolve(machine.folder, path)),
    parallel: parallelFor(values.parallel),
    allowBypass: values['allow-bypass'] ?? false,
    across: values.across ?? false,
    open: values.open ?? false,
    keyFile: values['key-file'] === undefined ? undefined : resolve(machine.folder, values['key-file']),
    key: values.key,
    mcpServers: values['mcp-config'] === undefined ? {} : mcpServersIn(resolve(machine.folder, values['mcp-config'])),
    agents: agentsFor(values.agent ?? [], builtIn),
    prune: positionals[0] === 'prune',
    yes: values.yes ?? false,
  }
}

/** What a runner that is called with these words is named. Throws BadCall. */
export const runnerNameIn = (words: string[]): string => nameFor(parsed(words).values.name)

/** Whether they say which hub, or with which key. */
export const namesHub = (words: string[]): { hub: boolean; key: boolean } => {
  const { hub, url, key, 'key-file': file } = parsed(words).values
  return { hub: hub !== undefined || url !== undefined, key: key !== undefined || file !== undefined }
}

type Values = ReturnType<typeof parsed>['values']

const parsed = (words: string[]) => readWords(words, OPTIONS, 'runner --help')

const baseFor = ({ hub, url, insecure }: Values, machine: Machine): string => {
  const given = hub ?? url ?? packageOf(machine.program).link
  if (given === undefined) throw new BadCall('Say which hub: --hub http://127.0.0.1:7423')
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol) || /[#@]/.test(given))
    throw new BadCall(`--hub needs the address of a Parley, such as http://127.0.0.1:7423, and ${JSON.stringify(given)} is none.`)
  const base = baseOfLink(given)
  if (isUnguarded(base) && !insecure)
    throw new Stop(refusedAsUnguarded(base, 'read the key and what agents print, and run code on this one'))
  return base
}

const nameFor = (given: string | undefined): string => {
  const name = given ?? hostname()
  if (nameIsPlain(name) && [...name].length <= LONGEST_NAME) return name
  throw new BadCall(`A runner's name has 1 to ${LONGEST_NAME} visible characters. Give another one with --name NAME.`)
}

const parallelFor = (given: string | undefined): number => {
  if (given === undefined) return 4
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= 1 && number <= MOST_PARALLEL) return number
  throw new BadCall(`--parallel takes a whole number from 1 to ${MOST_PARALLEL}, and ${JSON.stringify(given)} is none.`)
}

const mcpServersIn = (file: string): Record<string, unknown> => {
  let settings: unknown
  try {
    settings = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Stop(`--mcp-config: ${file} cannot be read: ${reasonOf(error)}.`)
  }
  const servers = isObject(settings) ? settings.mcpServers : undefined
  if (isObject(servers) && Object.values(servers).every(isObject)) return servers
  throw new Stop(`--mcp-config: ${file} needs the form { "mcpServers": { "NAME": { … } } }.`)
}

const AGENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/

const agentsFor = (given: string[], builtIn: readonly string[]): RunnerOptions['agents'] => {
  const agents = given.map((text) => {
    const at = text.indexOf('=')
    const name = text.slice(0, Math.max(0, at))
    if (!AGENT_NAME.test(name))
      throw new BadCall(`--agent takes NAME=COMMAND, where NAME has 1 to 40 of a-z, 0-9 and -. ${JSON.stringify(text)} has none.`)
    if (builtIn.includes(name)) throw new BadCall(`--agent ${name}: this name is built in. Give the agent another one.`)
    return { name, command: commandIn(name, text.slice(at + 1)) }
  })
  const twice = agents.find(({ name }, i) => agents.findIndex((other) => other.name === name) !== i)
  if (twice) throw new BadCall(`--agent ${twice.name} is given twice.`)
  return agents
}

const commandIn = (name: string, text: string): string[] => {
  const words = text.trimStart().startsWith('[') ? wordsInJson(text) : text.split(/\s+/).filter(Boolean)
  if (words && words.length > 0 && words.every((word) => typeof word === 'string' && !word.includes('\0')) && words[0] !== '') return words
  throw new BadCall(`--agent ${name} needs a command after the =: words with blanks between them, or a JSON array of texts.`)
}

const wordsInJson = (text: string): string[] | undefined => {
  try {
    return JSON.parse(text) as string[]
  } catch {
    return undefined
  }
}
