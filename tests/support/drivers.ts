// What a driver of an agent's CLI is given in tests: a task, somebody who listens, and processes that end with the test.
import { spawn as spawnChild } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Driver, Job, Listener, Result, Running, Spawn } from '../../src/client/runner/drivers/driver.ts'
import { linesOf } from '../../src/transcripts/lines.ts'
import type { Format } from '../../src/transcripts/format.ts'
import { newMemory } from '../../src/transcripts/memory.ts'
import type { TraceEvent } from '../../src/transcripts/trace-event.ts'

export const HUB_KEY = `ca_agent_${'0123456789abcdef'.repeat(2)}`

type Question = Parameters<Listener['ask']>[0]
type Answer = Awaited<ReturnType<Listener['ask']>>

export interface Told {
  key: string
  event: TraceEvent
}

export interface Stage {
  /** An empty home, and in it the folder that the agent works in. */
  home: string
  folder: string
  /** Every command that was started. */
  commands: (readonly string[])[]
  /** The hub, of which one tool is left: the keys it was asked with, and the tools that were called. */
  hub: { url: string; keys: Set<string | null>; calls: string[] }
  /** Puts a program in PATH, written for Node. */
  program(name: string, source: string): void
  job(more?: Partial<Job>): Job
  run(driver: Driver, job: Job, answer?: (question: Question) => Answer | Promise<Answer>): Task
  drop(): void
}

export interface Task extends Running {
  told: Told[]
  asked: Question[]
  result: Promise<Result>
  /** Resolves once an event of the type was told. */
  until(type: TraceEvent['type']): Promise<TraceEvent>
}

/** `clients`: folders whose programs come first in PATH. `user`: who the programs run as, if the tests run as root. */
export const newStage = (clients: string[] = [], env: Record<string, string> = {}, { user }: { user?: number } = {}): Stage => {
  const home = mkdtempSync(join(tmpdir(), 'driver-'))
  const [folder, bin] = [join(home, 'work tree'), join(home, 'bin')]
  mkdirSync(folder)
  mkdirSync(bin)
  const keys = new Set<string | null>()
  const hubCalls: string[] = []
  const hub = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      keys.add(request.headers.get('authorization'))
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      const { id, method, params } = (await request.json()) as any
      if (id === undefined) return new Response(null, { status: 202 })
      if (method === 'tools/call') hubCalls.push(params.name)
      const result = MCP[method]?.(params)
      return Response.json({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) })
    },
  })
  const children = new Set<ReturnType<Spawn>>()
  const commands: (readonly string[])[] = []
  const spawn: Spawn = (command, options) => {
    commands.push(command)
    const [program, ...words] = user === undefined ? command : asUser(user, command)
    const child = spawnChild(program!, words, { cwd: options.folder, env: options.env })
    children.add(child)
    child.once('exit', () => children.delete(child))
    return child
  }
  const url = `http://127.0.0.1:${hub.port}/mcp`
  return {
    home,
    folder,
    commands,
    hub: { url, keys, calls: hubCalls },
    program(name, source) {
      writeFileSync(join(bin, name), `#!${process.execPath}\n${source}`) // Bun begins in a fifth of Node's time
      chmodSync(join(bin, name), 0o755)
    },
    job: (more = {}) => ({
      prompt: 'Do it.',
      permissionMode: 'default',
      folder,
      conversation: undefined,
      fork: undefined,
      costBefore: undefined,
      contextFiles: [],
      env: { PATH: [bin, ...clients, process.env.PATH ?? ''].join(delimiter), HOME: home, ...env },
      hub: { url, key: HUB_KEY },
      mcpServers: {},
      ...more,
    }),
    run: (driver, job, answer) => play(driver, job, spawn, answer),
    drop() {
      for (const child of children) child.kill('SIGKILL')
      void hub.stop(true)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const MCP: Record<string, (params: any) => object> = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'parley', version: '1' } }),
  'tools/list': () => ({
    tools: [
      {
        name: 'post_message',
        description: 'Posts.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
        _meta: { 'anthropic/alwaysLoad': true },
      },
    ],
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'posted' }] }),
}

export const isRoot = process.getuid?.() === 0
export const NOBODY = 65_534

// A file that the driver made for the program alone becomes that user's.
const asUser = (user: number, command: readonly string[]) => {
  const file = command[command.indexOf('--mcp-config') + 1]!
  if (existsSync(file)) for (const owned of [file, dirname(file)]) chownSync(owned, user, user)
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...command]
}

const play = (
  driver: Driver,
  job: Job,
  spawn: Spawn,
  answer: (question: Question) => Answer | Promise<Answer> = () => ({ allow: true, message: undefined }),
): Task => {
  const told: Told[] = []
  const asked: Question[] = []
  const waiting: (() => void)[] = []
  const running = driver.start(
    job,
    {
      event(key, event) {
        told.push({ key, event })
        for (const wake of waiting.splice(0)) wake()
      },
      async ask(question) {
        asked.push(question)
        return answer(question)
      },
    },
    spawn,
  )
  return {
    ...running,
    told,
    asked,
    result: running.ended,
    async until(type) {
      for (;;) {
        const found = told.find(({ event }) => event.type === type)
        if (found) return found.event
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
  }
}

const WORK = new Set(['assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction'])

/** An agent's work as readers see it. */
export const workOf = (events: TraceEvent[]) =>
  events.filter(({ type }) => WORK.has(type)).map(({ type, content, toolName, model }) => ({ type, content, toolName, model }))

/** The agent's work in a transcript's file, as an import reads it. */
export const workIn = async (file: string, { read }: Format) => {
  const memory = newMemory()
  const events: TraceEvent[] = []
  for await (const { text } of linesOf(Bun.file(file).stream(), { bytes: 0, lines: 0, open: false }))
    events.push(...read(JSON.parse(text), memory))
  return workOf(events)
}

/** The folder with an agent's programs, under PARLEY_CLIENTS; undefined: it is not there. */
export const clientBin = (name: string): string | undefined => {
  const bin = join(process.env.PARLEY_CLIENTS ?? 'PARLEY_CLIENTS is not set', name, 'node_modules/.bin')
  return existsSync(bin) ? bin : undefined
}

/** Resolves once a `tail` with the mark among its words runs, or none does. */
export const runningWith = async (mark: string, wanted: boolean, withinMs = 60_000) => {
  for (const end = performance.now() + withinMs; performance.now() < end;) {
    if (isRunningWith(mark) === wanted) return
    await Bun.sleep(50)
  }
  throw new Error(`After ${withinMs} ms a process with ${mark} ${wanted ? 'does not run yet' : 'still runs'}.`)
}

const isRunningWith = (mark: string) =>
  readdirSync('/proc').some((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('tail') &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
      )
    } catch {
      return false
    }
  })

/** The files below a folder that hold the text. */
export const filesWith = (folder: string, text: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, 'latin1').includes(text))
