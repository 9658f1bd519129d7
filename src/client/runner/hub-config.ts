// What a hub says of itself to a runner that starts, and whether the runner may work for it.
import { isLoopback } from '../../core/address.ts'
import { pause } from '../../core/runtime/pause.ts'
import { askHub, hubConfigOf, Unreachable, type HubConfig } from '../hub.ts'
import { Stop, type Machine } from '../machine.ts'
import { keptToken } from '../tokens.ts'
import type { RunnerOptions } from './options.ts'

const WITHIN_MS = 5_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 4_000

export interface Config {
  /** Can everybody who reaches the hub read its pages? Where it does not say: yes. */
  pagesOpen: boolean
  /** Undefined where it says no more to a runner. */
  hub: HubConfig | undefined
}

/** The hub may start later than its runners, and a proxy before it answers for it meanwhile. Throws Stop where another program answers. */
export const configOf = async ({ base }: RunnerOptions, machine: Machine): Promise<Config> => {
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    const config = await configNow(base, keptToken(machine.home, base))
    if (typeof config === 'object') return config
    if (wait === FIRST_PAUSE_MS) machine.err.write(`${base} does not answer (${config}). The runner starts when it does.\n`)
    await pause(wait)
  }
}

// Why there is none, while the hub is away.
const configNow = async (base: string, token: string | undefined): Promise<Config | string> => {
  try {
    const answer = await askHub(base, '/api/config', { token, withinMs: WITHIN_MS })
    const { status, body } = answer
    if (status === 200 && typeof body?.mcp_url === 'string') return { pagesOpen: body.pages_open !== false, hub: hubConfigOf(answer) }
    // A hub with an ACCESS_TOKEN, which closes its pages too, says no more to whoever sends none; the runner's key is for its own calls.
    if (status === 401 && body?.error?.code === 'unauthorized') return { pagesOpen: false, hub: undefined }
    if (status >= 500) return `HTTP ${status}`
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    if (/not Parley/.test(error.message)) throw new Stop(`${base} is not the hub: ${error.message}. Give the hub's address with --hub.`)
    return error.message
  }
  throw new Stop(`Something answers at ${base} that is not Parley. Give the hub's address with --hub.`)
}

/** Throws Stop for a hub whose pages are open to everybody, unless it is on this machine. */
export const checkOpen = ({ base, open }: RunnerOptions, { pagesOpen }: Config) => {
  if (open || isLoopback(new URL(base).hostname) || !pagesOpen) return
  throw new Stop(`${base} lets everybody who reaches it read what agents print. Set ACCESS_TOKEN or VIEWER_PASSWORD there, or add --open.`)
}
