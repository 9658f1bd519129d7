// The one file that knows Bun: reads the configuration, opens the database, serves, and stops in good order.
//   bun src/server.ts                serves
//   bun src/server.ts migrate        brings the database up to date and ends
//   bun src/server.ts operator-key   makes a new sign-in key and ends
//   bun src/server.ts key …          makes, lists and revokes keys, and ends
//   bun src/server.ts runner …       lets agents work in worktrees of this machine, until it is stopped
//   bun src/server.ts import PATH…   imports transcripts and ends
//   bun src/server.ts reindex        rebuilds the search index and ends
//   bun src/server.ts backup FILE    writes the embedded database into a file, also while a server runs, and ends
//   bun src/server.ts restore FILE   makes an embedded database of such a file, and ends
//   bun src/server.ts purge …        deletes sessions for good, and ends
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { CannotOpen, DiskFull } from '../db/errors.ts'
import { FolderInUse, FolderUnusable } from '../db/lock.ts'
import { assertNotTooOld, migrate } from '../db/migrate.ts'
import { openDatabase, type OpenedDatabase } from '../db/open.ts'
import { warnOfLetters } from '../db/start-checks.ts'
import type { App } from './app.ts'
import { BadConfig, readConfig, type Config } from './config.ts'
import { isLoopback, urlAt } from './core/address.ts'
import { newSecret } from './core/ids.ts'
import { createStopWish } from './core/runtime/asked-to-stop.ts'
import { createLog, describeError, type Log } from './core/runtime/log.ts'
import { errorAnswer } from './doors/http/http.ts'
import { outliveReaders, Stop as ClientStop, type Machine } from './client/machine.ts'
import type { Services } from './process/services.ts'

const QUIET_S = 12 // a connection that says nothing for so long is closed, while a request is being read; waits and streams are exempt
const PATIENCE_S = 120 // likewise, where an answer may be long in the making, or long in being read
const STOP_WITHIN_MS = 10_000
const SCHEMA_CHECK_EVERY_MS = 5_000
const LOSS_CHECK_EVERY_MS = 1_000 // what is written to files that were removed is lost, and was promised to be kept
const LARGEST_BODY = 64 * 1024 * 1024 // above every door's own limit, which answers in JSON; a transcript's is in MAX_TRACE_BYTES

const main = async ([command, ...words]: string[]) => {
  outliveReaders(process.stdout, process.stderr) // also a log's file on a disk that is full
  const config = readConfig(process.env)
  const logTo = (stream: NodeJS.WriteStream) => createLog(config.LOG_LEVEL, (line) => stream.write(`${line}\n`), stream.isTTY)
  if (command === undefined) return serve(config, logTo(process.stdout))
  const { runCommand } = await import('./cli/main.ts')
  const log = logTo(process.stderr) // on the standard output a script finds what the command is for, such as a key
  return runCommand(command, words, config, log, { machine: machine(), asset })
}

const machine = (): Machine => ({
  env: process.env,
  home: process.env.HOME || homedir(),
  folder: process.cwd(),
  program: fileURLToPath(new URL('client/main.ts', import.meta.url)),
  runtime: process.execPath,
  pid: process.pid,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
})

const serve = async (config: Config, log: Log) => {
  const warn = (line: string) => log('warn', line)
  const opened = await openDatabase(config, warn)
  try {
    await migrate(opened.database, log)
    if (opened.database.engine === 'postgres') await warnOfLetters(opened.database, warn)
    // Most of the program, which a start that cannot open its database, or a command, ends without.
    const [{ openApp }, { createPushSender }] = await Promise.all([import('./app.ts'), import('./notices/push-sender.ts')])
    let url = urlAt(config.HOST, config.PORT)
    const commandSecret = opened.lock ? newSecret() : undefined
    const parts = { asset, commandSecret, pushSender: createPushSender(), ownUrl: () => url }
    const { app, services, firstKey, programPath } = await openApp(opened.database, config, log, parts)
    const server = listen(config, app.fetch, log)
    url = urlAt(config.HOST, server.port)
    if (commandSecret) opened.lock!.announce(url, commandSecret)
    printStart(services, url, await firstKey(), programPath) // not before it listens: a start that ends there shows no key
    const stop = stopInGoodOrder(server, services, opened, log)
    endIfLost(opened, config, log)
    if (services.database.engine === 'postgres') endIfTooOld(services, stop, log)
  } catch (error) {
    opened.lock?.release()
    throw error
  }
}

const PUBLIC = new URL('../public/', import.meta.url)

const asset = async (path: string): Promise<Response | undefined> => {
  const file = Bun.file(new URL(path, PUBLIC))
  return (await file.exists()) ? new Response(file) : undefined
}

const listen = ({ PORT, HOST, MAX_TRACE_BYTES }: Config, answer: App['fetch'], log: Log) => {
  try {
    return Bun.serve({
      port: PORT,
      hostname: HOST,
      idleTimeout: QUIET_S,
      maxRequestBodySize: Math.max(LARGEST_BODY, MAX_TRACE_BYTES + 1),
      fetch: (request, server) =>
        answer(absolute(request), {
          get address() {
            return server.requestIP(request)?.address
          },
          untimed: () => server.timeout(request, 0),
          patient: () => server.timeout(request, PATIENCE_S),
        }),
      error: (error) => failedOutside(error, log),
    })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'EACCES')
      throw new CannotOpen(
        `Port ${PORT} on ${HOST} is not for this user to listen on. Set PORT to one above 1023, and have a proxy lead to it.`,
      )
    if (code === 'EINVAL' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new CannotOpen(`HOST is ${HOST}, which is no address of this machine. Set it to one that is, or to 0.0.0.0 for all of them.`)
    if (code !== 'EADDRINUSE') throw error
    throw new CannotOpen(`Port ${PORT} on ${HOST} is taken. Stop what listens there, or set PORT to another one (0 takes any free port).`)
  }
}

// Bun makes the address of a request from its Host, whatever that is: "http://127.0.0.256/healthz" can be parsed by nobody, and without a
// Host (HTTP/1.0, as load balancers ask for /healthz) it is the path alone. The path is kept; the Host itself is judged by the guards.
const absolute = (request: Request) => {
  const { url } = request
  if (/^https?:/.test(url) && URL.canParse(url)) return request
  const [path = '/'] = /\/[^]*$/.exec(url.replace(/^https?:\/\/[^/?#]*/, '')) ?? []
  return new Request(`http://localhost${path}`, request)
}

// The app answers its own failures. For one outside of it, Bun would show the stack and our source.
const failedOutside = (error: Error, log: Log) => {
  log('error', 'a request failed outside of the app', describeError(error))
  return errorAnswer({
    code: 'internal_error',
    message: 'Something went wrong on the server. The operator finds it in the log.',
    details: {},
  })
}

const printStart = (services: Services, url: string, key: string | undefined, programPath: string | undefined) => {
  const { config, setting, database } = services
  const link = setting('mcp_url') ?? config.MCP_URL
  const base = services.base()
  const lines = [
    `Parley is open at ${url}`,
    `  for agents   ${link ?? `${url}/mcp`}${setting('mcp_url') ? ' (saved on the settings page)' : link ? ' (MCP_URL)' : ''}`,
    ...(programPath ? [`  connect      npx -y ${base}${programPath} connect`] : []),
    `  sign in      ${key ? `${url}/sign-in?key=${key}` : config.OPERATOR_KEY ? `at ${url}/sign-in, with the OPERATOR_KEY of the environment` : 'with your key; `bun run operator-key` makes a new one'}`,
    ...(key && base !== url ? [`               elsewhere ${base}/sign-in?key=${key}`] : []),
    `  data         ${database.engine === 'pglite' ? `embedded, in ${config.DATA_DIR}` : 'Postgres (DATABASE_URL)'}`,
  ]
  if (!isLoopback(config.HOST) && !config.ACCESS_TOKEN)
    lines.push(
      '',
      '  WARNING: open to other machines without ACCESS_TOKEN: anyone who reaches this port can create, join and read sessions.',
    )
  console.log(`\n${lines.join('\n')}\n`)
}

type Stop = (reason: Record<string, string>, code: number) => Promise<void>

const stopInGoodOrder = (server: ReturnType<typeof listen>, services: Services, { lock }: OpenedDatabase, log: Log): Stop => {
  const wished = createStopWish()
  const stop: Stop = async (reason, code) => {
    const wish = wished()
    if (wish === 'again') process.exit(1)
    if (wish === 'same') return
    log('info', 'stopping', reason)
    setTimeout(() => void server.stop(true), STOP_WITHIN_MS - 2_000)
    setTimeout(() => process.exit(1), STOP_WITHIN_MS)
    services.drain()
    await server.stop()
    await services.close()
    lock?.release()
    process.exit(code)
  }
  const onSignal = (signal: string) => void stop({ signal }, 0)
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('unhandledRejection', (error) => log('error', 'unhandled promise rejection', describeError(error)))
  return stop
}

// Another instance may be updated while this one runs, and its migration may say that older programs must not run beside it.
const endIfTooOld = ({ database }: Services, stop: Stop, log: Log) => {
  const check = async () => {
    try {
      await assertNotTooOld(database)
    } catch (error) {
      if (!(error instanceof CannotOpen)) return // the database is away: asked again
      clearInterval(checking)
      log('error', error.message)
      await stop({ reason: 'a newer schema' }, 1)
    }
  }
  const checking = setInterval(check, SCHEMA_CHECK_EVERY_MS)
}

// Files that were removed take what is written until this process ends: nobody must be told for long that it is kept.
const endIfLost = ({ isLost }: OpenedDatabase, { DATA_DIR }: Config, log: Log) => {
  if (!isLost) return
  const check = () => {
    if (!isLost()) return
    log(
      'error',
      `The embedded database in ${DATA_DIR} was removed or replaced while it was in use. Put it back or restore a backup, and start again.`,
    )
    process.exit(1)
  }
  setInterval(check, LOSS_CHECK_EVERY_MS)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  const known = [BadConfig, CannotOpen, DiskFull, FolderInUse, FolderUnusable, ClientStop].some((kind) => error instanceof kind)
  console.error(known ? (error as Error).message : error)
  process.exit(1)
}
