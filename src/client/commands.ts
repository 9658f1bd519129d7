// The commands of `parley`, and what each is called with.
import { baseOfLink } from '../core/address.ts'
import { chooseClient } from './choose-client.ts'
import { CLIENTS, isClient, type ClientName, type WakeFor } from './clients.ts'
import { connect } from './connect.ts'
import { connectionsOf, connectionTo } from './connections.ts'
import { quoted } from '../core/text/shell-word.ts'
import { callOf } from './copy.ts'
import { disconnect } from './disconnect.ts'
import { doctor } from './doctor/doctor.ts'
import { importAll } from './import/run.ts'
import { toServer } from './import/upload.ts'
import { askConfig, updateLine } from './hub-notes.ts'
import { linkOf, sameHub } from './hub.ts'
import { BadCall, readWords, Stop, type Machine } from './machine.ts'
import { packageOf } from './package.ts'
import { KINDS } from './runner/built-in.ts'
import { isRunnerCall, runRunner } from './runner/run.ts'
import { currentToken } from './tokens.ts'
import { watchCodex } from './watch/codex.ts'
import { guardEdit } from './watch/guard.ts'
import { learn } from './watch/learn.ts'
import { watch } from './watch/watch.ts'

const helpFor = (machine: Machine): string => `parley: brings agents into a Parley hub, and wakes them when somebody speaks to them

  parley connect [claude|codex|gemini|opencode] add the hub to a client's settings, and what wakes its agent
                                                without a name: of the client that is here, or asks which
      --wake all|addressed   what wakes it: every message (default), or what is addressed to it
      --name NAME            the MCP server's name in the client (parley)
      --guard                Claude Code: refuse edits of paths that another team holds on the board
      --no-guard             ends that
      --insecure             also over plain http to another machine
    again, it keeps what was chosen before, unless told otherwise
  parley disconnect CLIENT                      take that out again
  parley watch                                  what a client's hook runs; --learn takes down the session of a join
  parley watch --codex                          wakes Codex: hand it the answer of join_session on standard input
  parley import PATH…                           send transcripts to the hub
  parley runner                                 lets the hub's people have agents work here; parley runner --help
  parley doctor                                 see whether everything is in order, and what to do if not
  parley --version, parley --help

  --hub LINK   which hub, where it is not the one that this program came from
  --yes        ask nothing

\`parley\` stands for the line of the hub's page /connect as far as .tgz, and, once a client is connected, for
  ${callOf(machine)()}`

const OPTIONS = {
  hub: { type: 'string' },
  url: { type: 'string' }, // another name of --hub
  wake: { type: 'string' },
  name: { type: 'string' },
  yes: { type: 'boolean' },
  insecure: { type: 'boolean' },
  guard: { type: 'boolean' },
  'no-guard': { type: 'boolean' },
  learn: { type: 'boolean' },
  codex: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/** Runs what was called. Returns the exit code; says on standard error why, where it is not 0. */
export const runClient = async (words: string[], machine: Machine): Promise<number> => {
  try {
    return await run(words, machine)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    machine.err.write(`${error.message}\n`)
    return error instanceof BadCall ? 2 : 1
  }
}

const run = async (words: string[], machine: Machine): Promise<number> => {
  if (isRunnerCall(words)) return runRunner(words, machine, KINDS)
  const { values, positionals } = parsed(words)
  const [command, ...rest] = positionals
  if (values.version) return said(machine, packageOf(machine.program).version)
  if (values.help || command === 'help') return said(machine, helpFor(machine))
  if (command === undefined) throw new BadCall(helpFor(machine))
  const named = values.hub ?? values.url
  const link = named === undefined ? undefined : linkOf(named)
  if (command === 'connect') {
    const client = rest.length === 0 ? await chooseClient(machine, !values.yes) : clientOf(rest)
    return done(connect(machine, client, { ...connectOptions(values), link: link ?? linkToConnect(machine, client) }))
  }
  if (command === 'disconnect')
    return done(disconnect(machine, clientOf(rest), link ?? packageOf(machine.program).link, values.yes ?? false))
  if (command === 'import') return done(importTo(machine, link ?? hubOf(machine), rest))
  if (rest.length > 0 && TAKE_NO_WORDS.includes(command))
    throw new BadCall(`${command} takes no ${JSON.stringify(rest[0])}. --help lists what there is.`)
  if (command === 'doctor') return doctor(machine, link ?? packageOf(machine.program).link)
  if (command === 'watch') return runWatch(machine, link ?? hubOf(machine), values)
  throw new BadCall(`There is no command ${JSON.stringify(command)}. --help lists them.`)
}

const TAKE_NO_WORDS = ['doctor', 'watch']

type Values = ReturnType<typeof parsed>['values']

const parsed = (words: string[]) => readWords(words, OPTIONS, '--help')

const said = ({ out }: Machine, text: string): number => {
  out.write(`${text}\n`)
  return 0
}

const done = (work: Promise<void>): Promise<number> => work.then(() => 0)

const runWatch = (machine: Machine, link: string, values: Values): Promise<number> => {
  if (values.learn) return done(learn(machine, link))
  if (values.guard) return done(guardEdit(machine, link))
  const wake = wakeOf(values)
  if (!values.codex) return watch(machine, { link, wakeFor: wake ?? 'all' })
  return watchCodex(machine, { link, wakeFor: wake ?? connectionTo(connectionsOf(machine.home), 'codex', link)?.wakeFor ?? 'all' })
}

const importTo = async (machine: Machine, link: string, paths: string[]) => {
  if (paths.length === 0) throw new BadCall('Name the transcripts, or folders of them, such as ~/.claude/projects.')
  const token = await currentToken(machine, link)
  const config = await askConfig(machine.home, { link, token })
  const line = config && updateLine(machine.home, link, config, packageOf(machine.program).version)
  if (line) machine.err.write(`${line}\n`)
  await importAll(paths, toServer(link, token), machine.err)
}

const connectOptions = (values: Values) => {
  return {
    wake: wakeOf(values),
    yes: values.yes ?? false,
    insecure: values.insecure,
    guard: guardOf(values),
    name: values.name,
  }
}

const guardOf = ({ guard: on, 'no-guard': off }: Values): boolean | undefined => {
  if (on && off) throw new BadCall('--guard and --no-guard cannot both be.')
  return off ? false : on
}

const wakeOf = ({ wake }: Values): WakeFor | undefined => {
  if (wake === undefined || wake === 'all' || wake === 'addressed') return wake
  throw new BadCall(`--wake takes all or addressed, and ${JSON.stringify(wake)} is neither.`)
}

const clientOf = (rest: string[]): ClientName => {
  const [name] = rest
  if (rest.length === 1 && isClient(name)) return name
  throw new BadCall(`Name one client: ${Object.keys(CLIENTS).join(', ')}.`)
}

// A package has its hub's link. Where a person has chosen another one of that hub, as for more toolsets, the plain one does not undo that.
const linkToConnect = (machine: Machine, client: ClientName): string => {
  const link = hubOf(machine)
  const isPlain = link === `${baseOfLink(link)}/mcp`
  return (isPlain && connectionTo(connectionsOf(machine.home), client, link)?.link) || link
}

/** The hub that this program came from, else the one that this machine is connected to. */
const hubOf = ({ program, home }: Machine): string => {
  const { link } = packageOf(program)
  if (link !== undefined) return link
  const links = [...new Set(connectionsOf(home).map((connection) => connection.link))]
  const [first] = links
  if (first === undefined) throw new BadCall('Say which hub: --hub http://HOST:7423/mcp')
  if (links.every((other) => sameHub(other, first))) return first
  throw new BadCall(`Say which hub: ${links.map((other) => `--hub ${quoted(other)}`).join(' or ')}`)
}
