// Starts fake clients, and lets them do what a client's agent and its hooks do.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { quoted } from '../../src/core/text/shell-word.ts'
import { RUNTIME, type Home, type Ran } from './client.ts'

export type FakeClient = ReturnType<typeof fakeClient>

interface Joined {
  session_id: string
  team_id: string
}

interface Options {
  cwd?: string
  /** The client's own id of it. */
  conversation?: string
  /** Variables of its environment, which its hooks inherit. */
  env?: Record<string, string>
}

/** A client of this home, connected to a hub already. */
export const fakeClient = (home: Home, link: string, { cwd = home.home, conversation = crypto.randomUUID(), env = {} }: Options = {}) => {
  const process_ = spawn(process.execPath, [join(import.meta.dir, 'fake-client.mjs')], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: home.home, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<string, (ran: Ran) => void>()
  createInterface({ input: process_.stdout! }).on('line', (line) => {
    const { id, ...ran } = JSON.parse(line) as Ran & { id: string }
    waiting.get(id)?.(ran)
  })
  /** Runs a line as a hook, or as the agent's shell. */
  const run = (command: string, input: unknown = {}): Promise<Ran> =>
    new Promise((resolve) => {
      const id = crypto.randomUUID()
      waiting.set(id, resolve)
      process_.stdin!.write(`${JSON.stringify({ id, command, input })}\n`)
    })
  const parley = (words: string) => `${RUNTIME} ${home.program} ${words} --hub ${link}`
  const about = { session_id: conversation, cwd }
  return {
    pid: process_.pid!,
    conversation,
    run,
    /** The agent has created or joined a session by MCP. */
    joined: (answer: Joined) =>
      run(parley('watch --learn'), { ...about, hook_event_name: 'PostToolUse', tool_response: JSON.stringify(answer) }),
    /** The same with curl, in the agent's shell. */
    joinedByShell: (answer: Joined) => run(`echo ${quoted(JSON.stringify(answer))} | ${parley('watch --learn')}`),
    /** The agent has ended its turn. Resolves when the hook ends. */
    ended: (more = '') => run(parley(`watch ${more}`), { ...about, hook_event_name: 'Stop' }),
    /** The agent is about to edit a file; what the hook answers. */
    edits: (file: string, field = 'file_path') =>
      run(parley('watch --guard'), { ...about, hook_event_name: 'PreToolUse', tool_name: 'Edit', tool_input: { [field]: file } }),
    kill: () => process_.kill('SIGKILL'),
  }
}

/** What a promise has become within so long; undefined if nothing. */
export const within = async <Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> =>
  Promise.race([promise, Bun.sleep(ms).then(() => undefined)])
