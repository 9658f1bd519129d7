// Codex' app-server as people have it, on a script in place of its model: it convenes a session, ends its turn, and answers each message
// that is queued for it with "pong". It is not among this project's packages: npm i @openai/codex@0.169.0 in $PARLEY_CLIENTS/codex.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Home } from './client.ts'
import { answered } from './scripted-responses.ts'

export const CODEX_VERSION = '0.169.0'
const CODEX = join(process.env.PARLEY_CLIENTS ?? 'PARLEY_CLIENTS is not set', 'codex/node_modules/.bin/codex')
export const codexIsThere = existsSync(CODEX)

/** With this in its environment a program finds Codex, and Codex this home. */
export const codexEnv = (home: Home) => ({ PATH: `${dirname(CODEX)}${delimiter}${process.env.PATH ?? ''}`, HOME: home.home })

/** Connected already. Resolves with the answer of its create_session. */
export const realCodex = async (home: Home) => {
  let created: any
  const model = scripted((answer) => (created ??= answer))
  const settings = home.read('.codex/config.toml') ?? ''
  const provider = `[model_providers.script]\nname = "script"\nbase_url = "http://127.0.0.1:${model.port}/v1"\nwire_api = "responses"\n`
  home.write(
    '.codex/config.toml',
    `model = "gpt-5"\nmodel_provider = "script"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n${settings}\n${provider}`,
  )
  const child = spawn(CODEX, ['app-server'], { cwd: home.home, env: codexEnv(home), stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (result: any) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line)
    waiting.get(id)?.(result)
  })
  const call = (id: number, method: string, params: object): Promise<any> => {
    child.stdin.write(`${JSON.stringify({ id, method, params })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  await call(1, 'initialize', { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } })
  child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`)
  const { thread } = await call(2, 'thread/start', { cwd: home.home })
  await call(3, 'turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'Convene a session.' }] })
  while (!created) await Bun.sleep(50)
  return {
    created,
    async stop() {
      child.kill('SIGTERM')
      await model.stop(true)
    },
  }
}

const scripted = (onCreated: (answer: any) => any) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (!new URL(request.url).pathname.endsWith('/responses')) return Response.json({ object: 'list', data: [], models: [] })
      const { input, tools = [] } = (await request.json()) as { input: any[]; tools?: any[] }
      const space = tools.find(({ type, name }) => type === 'namespace' && /parley/.test(name))?.name
      const joined = input.map(({ output }) => answerIn(output)).find((answer) => answer?.team_id)
      if (joined) onCreated(joined)
      return answered(itemFor(input, joined, space))
    },
  })

const answerIn = (output: unknown): any => {
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? '')
  try {
    return JSON.parse(text.slice(text.indexOf('{')))
  } catch {
    return undefined
  }
}

const itemFor = (input: any[], joined: any, namespace: string | undefined) => {
  const tool = (name: string, args: object) => {
    const call = { type: 'function_call', id: `fc_${input.length}`, call_id: `call_${input.length}`, arguments: JSON.stringify(args) }
    return namespace ? { ...call, name, namespace } : { ...call, name: `mcp__parley__${name}` }
  }
  if (!joined) return tool('create_session', { title: 'Shipping the parser', description: '', creator_team_name: 'Alex' })
  const last = input.at(-1)
  const { session_id, team_id } = joined
  const isWoken = last.type === 'message' && /unread in session/.test(JSON.stringify(last.content))
  if (isWoken) return tool('post_message', { session_id, team_id, content: { text: 'pong' } })
  return { type: 'message', id: `m_${input.length}`, role: 'assistant', content: [{ type: 'output_text', text: 'Idle.' }] }
}
