// Claude Code as people have it, on a script in place of its model: it convenes a session, ends its turn, and answers what wakes it. It is
// not among this project's packages: npm i @anthropic-ai/claude-code@2.1.330 in $PARLEY_CLIENTS/claude.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './client.ts'
import { startScriptedModel, type Move } from './scripted-model.ts'

export const CLAUDE_VERSION = '2.1.330'
/** Has the program. */
export const CLAUDE_FOLDER = join(process.env.PARLEY_CLIENTS ?? 'PARLEY_CLIENTS is not set', 'claude/node_modules/.bin')
const CLAUDE = join(CLAUDE_FOLDER, 'claude')
export const claudeIsThere = existsSync(CLAUDE)

export const SKIPPED = `Skipped: Claude Code ${CLAUDE_VERSION} is not in the folder claude of PARLEY_CLIENTS (npm i @anthropic-ai/claude-code@${CLAUDE_VERSION}).`

export type Mood =
  | 'idle' // ends its turn once it has answered
  | 'awake' // holds a wait
  | 'deaf' // does nothing about what wakes it

export type RealClaude = ReturnType<typeof realClaude>

const TOOLS = ['create_session', 'wait_for_messages', 'post_message'].map((name) => `mcp__parley__${name}`)

/** `cwd`: the folder it works in. It answers each message of others with "pong". */
export const realClaude = (home: Home, { cwd = home.home } = {}) => {
  let mood: Mood = 'idle'
  let handled = 0
  const model = startScriptedModel(Array.from({ length: 10_000 }, () => (results: any[]) => move(results)))
  const move = (results: any[]): Move => {
    const { tools, told } = model.asked.at(-1)!
    const own = results.find((result) => result?.team_id && result.session_id)
    if (!own && !tools.includes(TOOLS[0]!) && results.length === 0)
      return { name: 'ToolSearch', input: { query: `select:${TOOLS.join()}` } }
    if (!own) return parley('create_session', { title: 'Shipping the parser', description: '', creator_team_name: 'Alex' })
    const { session_id, team_id } = own
    const isNew = results.at(-1)?.messages?.some(({ type, posted_by_team_id }: any) => type === 'chat' && posted_by_team_id !== own.handle)
    if (isNew) return parley('post_message', { session_id, team_id, content: { text: 'pong' } })
    if (mood === 'awake') return parley('wait_for_messages', { session_id, team_id, timeout: 30 })
    const notices = told.match(/unread in session/g)?.length ?? 0
    if (notices <= handled || mood === 'deaf') return 'Idle.'
    handled = notices
    return parley('wait_for_messages', { session_id, team_id, timeout: 0 })
  }
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.home,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'x',
  }
  const words = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__parley']
  const child = spawn(CLAUDE, words, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const say = (content: string) => void child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
  say('Convene a session.')
  return {
    model,
    say,
    become: (other: Mood) => void (mood = other),
    async stop() {
      child.kill('SIGTERM')
      await model.stop()
    },
  }
}

const parley = (name: string, input: object): Move => ({ name: `mcp__parley__${name}`, input })
