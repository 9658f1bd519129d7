// Runs a command that server.ts was given, and ends. While a server has the embedded database open, commands go through that server
// (doors/rest/local-commands.ts).
import { migrate } from '../../db/migrate.ts'
import { CannotOpen } from '../../db/errors.ts'
import { openDatabase } from '../../db/open.ts'
import { hasDatabase } from '../../db/pglite-files.ts'
import { BadConfig, type Config } from '../config.ts'
import { carryOut, type KeyAnswer } from '../control/keys/command.ts'
import { Refusal } from '../core/errors.ts'
import { jsonLines } from '../core/text/json-lines.ts'
import { createStopWish } from '../core/runtime/asked-to-stop.ts'
import { describeError, type Log } from '../core/runtime/log.ts'
import type { Machine } from '../client/machine.ts'
import { restoreBackup, writeBackup } from './backup.ts'
import { keyArguments } from './key.ts'
import { cutShortReport, purgeArguments, purgeReport } from './purge.ts'
import { progressBar } from './progress.ts'
import { importAll } from '../client/import/run.ts'
import { toServer } from '../client/import/upload.ts'
import { answerOf, command, endedEarly, passProxyBy, responseTo, servingHere } from './local-server.ts'
import { importArguments, intoDatabase, throughLocalServer } from './import.ts'
import { runRunnerHere } from './runner.ts'
import { helpFor, takesNoWords } from './usage.ts'
import { newOperatorKey, OPERATOR_KEY_IS_SET } from '../process/operator-key.ts'
import { baseOfLink, urlAt } from '../core/address.ts'
import { purge, type PurgeAnswer } from '../process/purge.ts'
import { createServices, type Services } from '../process/services.ts'

interface Surroundings {
  machine: Machine
  /** Reads a file of public/. */
  asset(path: string): Promise<Response | undefined>
}

/** Runs a command with the words that follow it. Throws BadConfig, CannotOpen, ImportFailed or NoSuchPath, with a sentence for the person at
 *  the terminal. */
export const runCommand = async (
  name: string,
  words: string[],
  config: Config,
  log: Log,
  { machine, asset }: Surroundings,
): Promise<void> => {
  const help = helpFor(name, words)
  if (help !== undefined) return console.log(help)
  if (name === 'migrate' || name === 'operator-key' || name === 'reindex') takesNoWords(name, words)
  passProxyBy(machine.env) // also where --hub names a server of this machine
  if (name === 'migrate') return bringUpToDate(config, log)
  if (name === 'operator-key') return operatorKey(config, log, machine)
  if (name === 'key') return key(config, log, words, { machine, asset })
  if (name === 'runner') return runner(config, machine, words)
  if (name === 'import') return importTranscripts(config, log, words, machine)
  if (name === 'reindex') return reindex(config, log, machine)
  if (name === 'backup') return backup(config, words, machine)
  if (name === 'restore') return restore(config, words, machine)
  if (name === 'purge') return purgeSessions(config, log, words, machine)
  throw new BadConfig(
    `There is no command ${name}. Use migrate, operator-key, key, runner, import, reindex, backup, restore or purge, or none to serve.`,
  )
}

const bringUpToDate = (config: Config, log: Log) =>
  once(config, log, async (_, ran) => console.log(ran === 0 ? 'The database is up to date.' : `Applied ${ran} migration(s).`))

const operatorKey = async (config: Config, log: Log, { env }: Machine) => {
  if (config.OPERATOR_KEY) throw new BadConfig(OPERATOR_KEY_IS_SET)
  const server = await servingHere(config, env)
  if (!server)
    return once(config, log, async (services) => {
      const made = await newOperatorKey(services)
      console.log(made)
      const link = services.setting('mcp_url') ?? config.MCP_URL
      if (link) console.error(`It signs in at ${baseOfLink(link)}/sign-in?key=${made}`)
    })
  const { key: made, base = server.url } = await command<{ key: string; base?: string }>(server, 'operator-key') // an older server tells none
  console.log(`${server.url}/sign-in?key=${made}`)
  if (base !== server.url) console.error(`From another machine: ${base}/sign-in?key=${made}`)
}

const key = async (config: Config, log: Log, words: string[], { machine: { env }, asset }: Surroundings) => {
  const order = keyArguments(words)
  const server = await servingHere(config, env)
  if (server) return printAnswer(await command<KeyAnswer>(server, 'key', order))
  return once(config, log, async (services) => {
    const link = services.setting('mcp_url') ?? config.MCP_URL ?? `${urlAt(config.HOST, config.PORT)}/mcp`
    const base = baseOfLink(link)
    const { programPath, readClientProgram } = await import('../doors/rest/client-package.ts')
    const program = await readClientProgram(asset) // a server that was started from this checkout serves the same
    printAnswer(await carryOut(services, order, { base, program: program && base + programPath(program) }).catch(inWords))
  })
}

const runner = async (config: Config, machine: Machine, words: string[]) => {
  const server = await servingHere(config, machine.env)
  const makeKey = async (name: string) => (await command<KeyAnswer>(server!, 'key', { do: 'make', scope: 'run', name })).out
  process.exit(await runRunnerHere(machine, words, config, server && { url: server.url, makeKey }))
}

const printAnswer = ({ out, note }: KeyAnswer) => {
  console.log(out)
  if (note) console.error(note)
}

const inWords = (error: unknown): never => {
  throw error instanceof Refusal ? new BadConfig(error.message) : error
}

// Sends to the server of --hub, or else to the one that has the embedded database open, or else writes into the database.
const importTranscripts = async (config: Config, log: Log, words: string[], { env }: Machine) => {
  const { paths, hub } = importArguments(words)
  if (hub) return importAll(paths, toServer(hub, config.ACCESS_TOKEN), process.stderr)
  const server = await servingHere(config, env)
  if (server) return answerOf(server.url, () => importAll(paths, throughLocalServer(server), process.stderr))
  return once(config, log, async (services) => {
    await importAll(paths, intoDatabase(services), process.stderr)
    await services.indexer.run().catch((error) => log('warn', 'the search index is behind; the server will catch up', describeError(error)))
  })
}

const reindex = async (config: Config, log: Log, { env }: Machine) => {
  const bar = progressBar('Indexing', (text) => process.stdout.write(text), process.stdout.isTTY)
  const server = await servingHere(config, env)
  if (!server) return once(config, log, (services) => services.indexer.rebuild(bar))
  return answerOf(server.url, async () => {
    let rebuilt = false
    for await (const { done, all, error } of jsonLines<Progress>((await responseTo(server, 'reindex')).body!)) {
      if (error) throw new CannotOpen(`The server at ${server.url} could not rebuild the index: ${error}`)
      if (all !== undefined) bar(done!, all)
      rebuilt = all === undefined // the last line is empty: the index has all
    }
    if (!rebuilt) throw endedEarly(server.url)
  })
}

const backup = async (config: Config, words: string[], { env, folder }: Machine) => {
  const server = await servingHere(config, env)
  const copyTo = server && (async (to: string) => void (await command(server, 'backup', { to })))
  console.log(await writeBackup(config, words, folder, copyTo))
}

const purgeSessions = async (config: Config, log: Log, words: string[], { env }: Machine) => {
  const order = purgeArguments(words)
  const server = await servingHere(config, env)
  const tell = (answer: PurgeAnswer, told: CannotOpen): CannotOpen | undefined => {
    console.log(answer.cut_short ? cutShortReport(answer) : purgeReport(answer, order))
    if (answer.failed === undefined) return answer.cut_short && told
    return new CannotOpen(`The purge failed before all was deleted: ${answer.failed}. Once that is mended, run the command again.`)
  }
  if (!server) {
    const goesOn = order.yes ? untilSignal() : undefined
    return once(config, log, async (services) => tell(await purge(services, order, goesOn), TOLD_TO_STOP))
  }
  const failure = tell(await command<PurgeAnswer>(server, 'purge', order), endedEarly(server.url))
  if (failure) throw failure
}

const TOLD_TO_STOP = new CannotOpen('The purge was stopped before all was deleted: run the command again.')

// Whether no signal has asked this program to end yet; a second one ends it at once.
const untilSignal = (): (() => boolean) => {
  const wished = createStopWish()
  let stopped = false
  const onSignal = () => {
    if (wished() === 'again') process.exit(1)
    stopped = true
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal)
  return () => !stopped
}

const restore = async (config: Config, words: string[], { folder }: Machine) => console.log(await restoreBackup(config, words, folder))

interface Progress {
  done?: number
  all?: number
  error?: string
}

/** Opens the database, does one thing and closes it. Throws what that gives back. */
const once = async (config: Config, log: Log, work: (services: Services, migrationsRun: number) => Promise<Error | undefined | void>) => {
  const isNew = !config.DATABASE_URL && !hasDatabase(config.DATA_DIR)
  const { database, lock } = await openDatabase(config, (line) => log('warn', line))
  try {
    const ran = await migrate(database, log)
    if (isNew)
      log(
        'warn',
        `There was no database in ${config.DATA_DIR}, so a new one was made. If your server has another DATA_DIR, set the same here.`,
      )
    const { ownTools } = await import('../toolsets.ts') // of these commands only those that work on the database itself need it
    const services = await createServices(database, config, log, { ownTools })
    const failure = await work(services, ran)
    await services.close()
    if (failure) throw failure
  } finally {
    lock?.release()
  }
  process.exit(0)
}
