// The clients that can be connected: where each keeps its settings, and what these are to have.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Machine } from './machine.ts'
import type { JsonEntry } from './settings/json-settings.ts'
import type { Wanted } from './settings/formats.ts'
import type { TomlEntry } from './settings/toml-settings.ts'

export type ClientName = 'claude' | 'codex' | 'gemini' | 'opencode'
export type WakeFor = 'all' | 'addressed'

/** What a client is to be connected to. */
export interface Wish {
  link: string
  token: string | undefined
  /** The name of the MCP server in the client. */
  server: string
  wakeFor: WakeFor
  /** Edits of what other teams hold are refused. */
  guard: boolean
  /** A shell's line that calls the copy of this program with these words. */
  call: (...words: string[]) => string
}

export type Change = Wanted & { path: string }

export interface ClientKind {
  title: string
  /** Can a message start the agent while its person is away? */
  wakes: boolean
  /** Can it ask before an edit? */
  guards?: boolean
  /** Where the MCP servers stand: in which of the files, and under which name. */
  serversAt: string
  changes(machine: Machine, wish: Wish): Change[]
}

const A_WEEK_S = 604_800 // for so long Claude Code lets the hook wait; the next turn arms it again

const GUARD_S = 5

// The folder that a variable names: an empty one names none, and a relative one is taken from where the program was called.
const namedFolder = ({ env, folder }: Machine, variable: string): string | undefined =>
  env[variable] ? resolve(folder, env[variable]) : undefined

const headersOf = (token: string | undefined) => (token ? { Authorization: `Bearer ${token}` } : undefined)

const claude: ClientKind = {
  title: 'Claude Code',
  wakes: true,
  guards: true,
  serversAt: 'mcpServers',
  changes(machine, { link, token, server, wakeFor, guard, call }) {
    const { home } = machine
    const own = namedFolder(machine, 'CLAUDE_CONFIG_DIR')
    const headers = headersOf(token)
    const watch = call('watch', '--hub', link, ...(wakeFor === 'addressed' ? ['--wake', 'addressed'] : []))
    const stop = { hooks: [{ type: 'command', command: watch, async: true, asyncRewake: true, timeout: A_WEEK_S }] }
    const learn = {
      matcher: `mcp__${server}__(create_session|join_session)`,
      hooks: [{ type: 'command', command: call('watch', '--learn', '--hub', link) }],
    }
    const ask = {
      matcher: 'Edit|Write|MultiEdit|NotebookEdit',
      hooks: [{ type: 'command', command: call('watch', '--guard', '--hub', link), timeout: GUARD_S }],
    }
    return [
      json(join(own ?? home, '.claude.json'), [
        { path: ['mcpServers', server], as: 'value', value: { type: 'http', url: link, ...(headers && { headers }) } },
      ]),
      json(join(own ?? join(home, '.claude'), 'settings.json'), [
        { path: ['hooks', 'Stop'], as: 'element', value: stop },
        { path: ['hooks', 'PostToolUse'], as: 'element', value: learn },
        ...(guard ? [{ path: ['hooks', 'PreToolUse'], as: 'element' as const, value: ask }] : []),
      ]),
    ]
  },
}

const gemini: ClientKind = {
  title: 'Gemini CLI',
  wakes: false,
  serversAt: 'mcpServers',
  changes({ home }, { link, token, server }) {
    const headers = headersOf(token)
    return [
      json(join(home, '.gemini', 'settings.json'), [
        { path: ['mcpServers', server], as: 'value', value: { httpUrl: link, ...(headers && { headers }) } },
      ]),
    ]
  },
}

const opencode: ClientKind = {
  title: 'opencode',
  wakes: false,
  serversAt: 'mcp',
  changes(machine, { link, token, server }) {
    const folder = join(namedFolder(machine, 'XDG_CONFIG_HOME') ?? join(machine.home, '.config'), 'opencode')
    const name = ['opencode.jsonc', 'opencode.json', 'config.json'].find((each) => existsSync(join(folder, each))) ?? 'opencode.json'
    const headers = headersOf(token)
    const value = { type: 'remote', url: link, enabled: true, ...(headers && { headers }) }
    return [json(join(folder, name), [{ path: ['mcp', server], as: 'value', value }])]
  },
}

const codex: ClientKind = {
  title: 'Codex',
  wakes: true,
  serversAt: 'mcp_servers',
  changes(machine, { link, token, server }) {
    const value = { url: link, tool_timeout_sec: 60, ...(token && { http_headers: headersOf(token) }) }
    const lines = [
      `[mcp_servers.${server}]`,
      `url = ${JSON.stringify(link)}`,
      'tool_timeout_sec = 60',
      ...(token ? [`http_headers = { Authorization = ${JSON.stringify(`Bearer ${token}`)} }`] : []),
    ]
    const folder = namedFolder(machine, 'CODEX_HOME') ?? join(machine.home, '.codex')
    return [toml(join(folder, 'config.toml'), [{ path: ['mcp_servers', server], value, lines }])]
  },
}

const json = (path: string, entries: JsonEntry[]): Change => ({ format: 'json', path, entries })
const toml = (path: string, entries: TomlEntry[]): Change => ({ format: 'toml', path, entries })

export const CLIENTS: Record<ClientName, ClientKind> = { claude, codex, gemini, opencode }

export const isClient = (name: string | undefined): name is ClientName => name !== undefined && Object.hasOwn(CLIENTS, name)
