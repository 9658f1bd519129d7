// A real PgBouncer before a Postgres, in the mode that a test wants.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeHome, unprivilegedUser } from './postgres.ts'
import { freePort } from './server.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export interface Pooler {
  /** The Postgres, through the pooler. */
  url: string
  /** Changes the mode while it runs, as an operator does who edits pgbouncer.ini and reloads it. */
  change(mode: PoolMode): void
  stop(): Promise<void>
}

/** The path of a PgBouncer that runs, installed where this machine allows that; undefined, and a line that says so, where it does not. */
export const findPgbouncer = (): string | undefined => {
  const found = installed() ?? (install() ? installed() : undefined)
  if (!found) console.log('No PgBouncer: the tests of poolers are skipped. Install pgbouncer, or run as root where apt-get is.')
  return found
}

/** `more`: lines of pgbouncer.ini. */
export const startPgbouncer = async (program: string, databaseUrl: string, mode: PoolMode, more: string[] = []): Promise<Pooler> => {
  const { hostname, port, pathname, username } = new URL(databaseUrl)
  const own = await freePort()
  const user = unprivilegedUser()
  const home = makeHome(user)
  const [ini, users, pidFile] = ['pgbouncer.ini', 'users.txt', 'pid'].map((name) => join(home, name)) as [string, string, string]
  const configure = (poolMode: PoolMode) =>
    writeFileSync(
      ini,
      [
        '[databases]',
        `* = host=${hostname} port=${port}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${own}`,
        'unix_socket_dir =',
        'auth_type = trust',
        `auth_file = ${users}`,
        `pidfile = ${pidFile}`,
        `pool_mode = ${poolMode}`,
        'default_pool_size = 40',
        'max_client_conn = 500',
        ...more,
        '',
      ].join('\n'),
    )
  configure(mode)
  writeFileSync(users, `"${username}" ""\n`)
  for (const file of [ini, users]) chmodSync(file, 0o644)
  // The shell outlives us however we end: when its input closes, no pooler and no folder is left behind.
  const guard = spawn('/bin/sh', ['-c', GUARD, 'parley-test-pgbouncer', program, ini, home], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const gone = new Promise<void>((resolve) => guard.once('exit', () => resolve()))
  guard.stdin.on('error', () => {})
  const stop = async () => {
    guard.stdin.end()
    await gone
  }
  try {
    await untilOpen(own)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    change(other) {
      configure(other)
      guard.stdin.write('reload\n')
    },
    stop,
  }
}

const GUARD = `
"$1" "$2" & pid=$!
while read -r line; do kill -HUP $pid; done
kill -TERM $pid
wait $pid
rm -rf "$3"
`

const installed = (): string | undefined =>
  [Bun.which('pgbouncer'), '/usr/sbin/pgbouncer'].find((path) => path && existsSync(path) && spawnSync(path, ['--version']).status === 0) ??
  undefined

const install = (): boolean => {
  if (process.getuid?.() !== 0 || !Bun.which('apt-get')) return false
  // RUNLEVEL: Debian's package starts a service of its own, except while the machine is in single-user mode.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const commands = [
    ['apt-get', 'update'],
    ['apt-get', 'install', '-y', '--no-install-recommends', 'pgbouncer'],
  ]
  return commands.every(([command = '', ...args]) => {
    console.log(`$ ${[command, ...args].join(' ')}`)
    return spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: 600_000 }).status === 0
  })
}

const untilOpen = async (port: number) => {
  for (const until = performance.now() + 10_000; performance.now() < until; await sleep(20)) if (await accepts(port)) return
  throw new Error('PgBouncer did not start.')
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false))
  })
