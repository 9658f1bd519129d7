// The calls of a runner (POST /api/runner/<call>), and what it does while the hub is away.
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonIn } from '../../core/text/json.ts'
import { Unreachable, whyNot } from '../hub.ts'

export interface WireWorktree {
  path: string
  repo_full_name: string
  /** null: no branch is checked out. */
  branch: string | null
  /** null: the repository has no commit. */
  head: string | null
  /** true also where git cannot tell. */
  dirty: boolean
  /** null: git does not tell. */
  changed_files: number | null
}

export interface Registering {
  name: string
  agents: { agentic_tool: string; version: string | null }[]
  worktrees: WireWorktree[]
  mcp_servers: string[]
  allow_bypass: boolean
  across: boolean
  parallel: number
}

export interface WireTask {
  task_id: string
  session_id: string
  prompt: string
  agentic_tool: string
  permission_mode: string
  path: string
  /** What must be checked out there. Hubs of earlier versions do not tell. */
  branch?: string | null
  conversation: string | null
  fork: { conversation: string; conversation_at: string | null } | null
  /** What came before, for an agent that cannot go on with `conversation` or `fork`. */
  digest?: string | null
  context_files: string[] | null
  mcp_servers: (string | { name: string })[] | null
  mcp_url: string
  agent_key: string
  max_s: number
  /** What this hub takes of a result that earlier ones refuse. */
  finish_takes?: string[] | null
}

export type Order =
  | { task_id: string; order: 'interrupt' }
  | { session_id: string; order: 'worktree'; repo_full_name: string; branch: string }

export interface Taken {
  tasks: WireTask[]
  orders: Order[]
}

/** The hub does not do it, and will not when it is asked again. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

const WITHIN_MS = 30_000
/** Of calls that the hub holds: two a minute while there is nothing to do. */
export const HELD_S = 30
export const HELD_WITHIN_MS = 45_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4_000

export type HubCalls = ReturnType<typeof hubCalls>

/** `say`: told once when the hub is away, and once when it is back. */
export const hubCalls = (base: string, key: string, say: (line: string) => void) => {
  let away = false
  const once = async (call: string, body: string, { signal, withinMs = WITHIN_MS }: CallOptions): Promise<any> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const signals = [AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]
    const sending: RequestInit = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.any(signals) }
    const response = await fetch(`${base}/api/runner/${call}`, sending).catch((error) => notReached(error))
    if (response.status >= 300 && response.status < 400)
      throw new Refused(response.status, `it redirects to ${response.headers.get('location')}. Give that address with --hub.`)
    const answer: any = jsonIn(await response.text().catch((error) => notReached(error)))
    if (response.ok && answer !== undefined) return answer
    const message = String(answer?.error?.message ?? `HTTP ${response.status}`)
    if (response.status >= 500 || WAIT.includes(response.status)) throw new Unreachable(message)
    // A proxy before the hub may find a call too large, and will again. Whatever else it says, a hub that starts anew may take.
    if (answer === undefined && response.status !== TOO_LARGE) throw new Unreachable(`${message}, and not from Parley`)
    throw new Refused(response.status, message)
  }
  /** Calls until the hub answers. `body` is made anew for each try. Throws Refused, and whatever `signal` aborts with. */
  const ask = async <Answer>(call: string, body: () => object | string, options: CallOptions = {}): Promise<Answer> => {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      options.signal?.throwIfAborted()
      try {
        const made = body()
        const answer = await once(call, typeof made === 'string' ? made : JSON.stringify(made), options)
        if (away) say(`${base} answers again.`)
        away = false
        return answer
      } catch (error) {
        if (!(error instanceof Unreachable) || options.signal?.aborted) throw error
        if (!away) say(`${base} does not answer (${error.message}). Trying again until it does.`)
        away = true
      }
      await sleep(wait, undefined, { ...(options.signal && { signal: options.signal }) })
    }
  }
  /** Calls once and ignores a failure: for what the hub learns without the call too, though later. */
  const tell = async (call: string, body: object, withinMs: number): Promise<void> =>
    void (await once(call, JSON.stringify(body), { withinMs }).catch(() => {}))
  return { ask, tell }
}

interface CallOptions {
  signal?: AbortSignal
  withinMs?: number
}

const MOST_ASKED = 200 // sessions of one request

/** Of the sessions for which these worktrees were made, those that are archived and in whose worktree no other session works. */
export const archivedAmong = async (
  hub: HubCalls,
  made: readonly { session_id: string; path: string }[],
  options?: CallOptions,
): Promise<Set<string>> => {
  const archived = new Set<string>()
  for (let i = 0; i < made.length; i += MOST_ASKED) {
    const part = made.slice(i, i + MOST_ASKED)
    const asked = { session_ids: part.map(({ session_id: id }) => id), paths: part.map(({ path }) => path) }
    const answer = await archivedOf(hub, asked, options)
    for (const id of answer.archived) archived.add(id)
  }
  return archived
}

const archivedOf = async (hub: HubCalls, asked: { session_ids: string[]; paths: string[] }, options?: CallOptions) => {
  const ask = (body: object) => hub.ask<{ archived: string[] }>('archived', () => body, options)
  try {
    return await ask(asked)
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error
    return ask({ session_ids: asked.session_ids }) // hubs of earlier versions take no paths
  }
}

const WAIT = [408, 425, 429] // asked again later, these may succeed

const TOO_LARGE = 413

const notReached = (error: unknown): never => {
  throw new Unreachable(whyNot(error))
}
