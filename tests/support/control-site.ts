// A server, a runner with the agents' own programs beside it, and scripts in place of their models: one prompt goes the whole way. The
// programs are not among this project's packages: they are installed by exact version in folders of PARLEY_CLIENTS.
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startScriptedAgents } from './agents-script.ts'
import { startControlled } from './controlled.ts'
import { clientBin } from './drivers.ts'
import { newSite, until } from './runner.ts'
import { runServer } from './server.ts'

const PROGRAM = join(import.meta.dir, '../../public/client.mjs')
/** What the programs have for a key to their model: no log may hold it. */
export const MODEL_KEY = 'sk-ant-not-a-real-key-0123456789'

const PACKAGES: Record<string, string> = {
  claude: '@anthropic-ai/claude-code@2.1.330',
  'claude-2.1.197': '@anthropic-ai/claude-code@2.1.197',
  codex: '@openai/codex@0.169.0',
  gemini: '@google/gemini-cli@0.61.0',
  opencode: 'opencode-ai@1.18.33',
}

/** Whether each of these folders of PARLEY_CLIENTS has its program; says how to get what is missing. */
export const clientsAreThere = (...names: string[]): boolean => {
  const missing = names.filter((name) => clientBin(name) === undefined)
  for (const name of missing) console.log(`Skipped: not in the folder ${name} of PARLEY_CLIENTS (npm i ${PACKAGES[name]}).`)
  return missing.length === 0
}

interface Wanted {
  /** Folders of PARLEY_CLIENTS. */
  clients: string[]
  /** Of the server. */
  env?: Record<string, string>
  /** More words for the runner, once the site's folders are known. */
  words?: (site: ReturnType<typeof newSite>) => string[]
}

export type ControlSite = Awaited<ReturnType<typeof startControlSite>>

// Codex's sandbox has a /dev of its own, without what lies in /dev/shm, where a run of all tests has its files.
const ON_DISK = '/tmp'

export const startControlSite = async ({ clients, env = {}, words = () => [] }: Wanted) => {
  const hub = await startControlled(env)
  const site = newSite(PROGRAM, 'app', ON_DISK)
  const agents = startScriptedAgents()
  const { openai, anthropicUrl, googleEnv } = agents
  mkdirSync(site.path('home/.codex'))
  writeFileSync(site.path('home/.codex/config.toml'), openai.config)
  const forOpencode = { options: { baseURL: `${anthropicUrl}/v1`, apiKey: MODEL_KEY } }
  const opencode = {
    model: 'anthropic/claude-sonnet-4-5',
    small_model: 'anthropic/claude-sonnet-4-5',
    provider: { anthropic: forOpencode },
  }
  const runnerEnv = {
    PATH: [...clients.map((name) => clientBin(name)!), process.env.PATH].join(delimiter),
    ANTHROPIC_BASE_URL: anthropicUrl,
    ANTHROPIC_API_KEY: MODEL_KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    TMPDIR: ON_DISK,
    ...googleEnv,
    GEMINI_API_KEY: MODEL_KEY,
    ...(clients.includes('opencode') && {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    }),
  }
  const startRunner = () => site.start(hub, ['--worktree', site.app, ...words(site)], runnerEnv)
  const runner = await startRunner()
  if (!runner.output().includes('Registered as')) throw new Error(runner.output())

  const { control } = hub
  const create = (more: object = {}): Promise<any> =>
    control('create_session', { title: 'A part', repo_full_name: 'app', branch: 'main', permission_mode: 'acceptEdits', ...more })
  const prompt = (session_id: string, text: string, more: object = {}): Promise<any> =>
    control('send_prompt', { session_id, prompt: text, ...more })
  return {
    ...hub,
    site,
    agents,
    runner,
    startRunner,
    create,
    /** Sends a prompt and returns at once. */
    prompt,
    /** Sends a prompt and returns what came of it. */
    ask: (session_id: string, text: string, more: object = {}): Promise<any> =>
      prompt(session_id, text, { wait_for_completion: true, timeout_ms: 120_000, ...more }),
    /** A task once it has ended. */
    ended: async (task_id: string): Promise<any> => (await control('get_task', { task_id, timeout_ms: 120_000 })).task,
    events: async (session_id: string, event: string) =>
      (await hub.feed(session_id)).filter(({ content, event: named }) => (named ?? content?.event) === event),
    async drop() {
      await site.drop()
      await hub.server.remove()
      await agents.stop()
    },
  }
}

/** A call of the REST API by a person who came by a link bound to their name. */
export const personAt = async ({ url, server }: ControlSite, name: string) => {
  const { output } = await runServer(['key', 'person', name], { DATA_DIR: server.folder })
  const link = new URL(/http\S+sign-in\?key=\S+/.exec(output)![0])
  const entered = await fetch(`${link.origin}/sign-in`, { method: 'POST', redirect: 'manual', body: link.searchParams })
  const cookie = entered.headers.get('set-cookie')!.split(';')[0]!
  return async (tool: string, input: object): Promise<any> => {
    const headers = { cookie, origin: url, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/control/${tool}`, { method: 'POST', headers, body: JSON.stringify(input) })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
}

/** Waits until it is so, and allows whatever the session's agent asks permission for meanwhile. */
export const allowingUntil = (
  at: ControlSite,
  person: Awaited<ReturnType<typeof personAt>>,
  session_id: string,
  isSo: () => unknown,
  what: string,
): Promise<void> =>
  until(
    async () => {
      const asked = await at.events(session_id, 'permission_asked')
      const decided = new Set((await at.events(session_id, 'permission_decided')).map(({ request_id }) => request_id))
      for (const { request_id } of asked)
        if (!decided.has(request_id)) await person('answer_permission', { session_id, request_id, allow: true })
      return isSo()
    },
    120_000,
    what,
  )
