// One script for agents of every vendor: what the stand-ins for their models have them do, by a name that stands in the prompt (`#name`).
import { message, startScriptedResponses, thought, type Item } from './scripted-responses.ts'
import { startScriptedGemini, type Part } from './scripted-gemini.ts'
import { startScriptedModel, type Move } from './scripted-model.ts'

/** What an agent does next: a tool of the hub's, a command of its shell, a file that it writes, a tool of its own; or it ends its turn with
 *  a text, behind a thought if it has one. */
export type Step =
  | { hub: string; input?: object }
  | { shell: string }
  | { write: string; content: string }
  | { tool: string; input: object }
  | { thought: string; text: string }
  | string

/** Called for each step of a turn, with the answers of those before it in the same turn. */
export type Script = (answers: any[]) => Step | Promise<Step>

/** One step after the other, each made from the answers so far; then "Done.". A call that the hub refused is where it stops. */
export const inTurn =
  (...steps: (Step | ((answers: any[]) => Step | Promise<Step>))[]): Script =>
  (answers) => {
    const refused = answers.find((answer) => answer?.error?.code)
    if (refused) throw new Error(refused.error.message)
    const step = steps[answers.length]
    return (typeof step === 'function' ? step(answers) : step) ?? 'Done.'
  }

export interface Heard {
  vendor: 'anthropic' | 'openai' | 'google'
  /** The script that it plays. */
  name: string
  /** All that the program tells its model, as JSON. */
  told: string
}

const REQUESTS = 1_000

/** Starts the three stand-ins. `scripts` may be added to at any time; a prompt without a script is answered with "Done.". */
export const startScriptedAgents = () => {
  const scripts: Record<string, Script> = {}
  const heard: Heard[] = []
  const next = async (vendor: Heard['vendor'], told: string, turn: Turn): Promise<Step> => {
    heard.push({ vendor, name: turn.name, told })
    try {
      return (await scripts[turn.name]?.(turn.answers)) ?? 'Done.'
    } catch (error) {
      return `The script ${turn.name} failed: ${String(error)} after ${JSON.stringify(turn.answers)}` // a test sees it as the answer
    }
  }
  const every = <Maker>(maker: Maker): Maker[] => Array.from({ length: REQUESTS }, () => maker)
  const anthropic = startScriptedModel(
    every(async () => {
      const { told, tools } = anthropic.asked.at(-1)!
      return anthropicMove(await next('anthropic', told, anthropicTurn(JSON.parse(told)[1])), tools)
    }),
  )
  const openai = startScriptedResponses(
    every(async ({ input, tools, told }: any) => openaiItems(await next('openai', told, openaiTurn(input)), tools)),
  )
  const google = startScriptedGemini(
    every(async () => {
      const { told, tools } = google.asked.at(-1)!
      return googleParts(await next('google', told, googleTurn(JSON.parse(told)[1])), tools)
    }),
  )
  return {
    scripts,
    heard,
    openai,
    anthropicUrl: anthropic.url,
    googleEnv: google.env,
    /** All that was told while a script was played, the last request first. */
    toldIn: (name: string) =>
      heard
        .filter((each) => each.name === name)
        .map(({ told }) => told)
        .reverse(),
    stop: () => Promise.all([anthropic.stop(), openai.stop(), google.stop()]),
  }
}

// What of a conversation the script needs: its last prompt that names one, and the answers since.
interface Turn {
  name: string
  answers: any[]
}

const NAMED = /#([a-z][a-z-]*)/g

const turnOf = (parts: { prompt?: string; answer?: unknown }[]): Turn => {
  let turn: Turn = { name: '', answers: [] }
  for (const { prompt, answer } of parts) {
    const name = prompt === undefined ? undefined : [...prompt.matchAll(NAMED)].at(-1)?.[1]
    if (name !== undefined) turn = { name, answers: [] }
    if (answer !== undefined) turn.answers.push(parsed(answer))
  }
  return turn
}

// A tool's answer is JSON, some programs write a line before it.
const parsed = (answer: unknown): unknown => {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  for (const from of [0, text.indexOf('\n{') + 1])
    try {
      return JSON.parse(text.slice(from))
    } catch {}
  return text
}

const asList = (content: any): any[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []))
const textIn = (content: any): string =>
  asList(content)
    .map(({ text = '' }) => text)
    .join('')

const SEARCH = 'ToolSearch' // Claude Code's, for tools that it does not show its model at first

const anthropicTurn = (messages: any[]): Turn => {
  const blocks = messages.flatMap(({ role, content }) => asList(content).map((block) => ({ role, ...block })))
  const searches = new Set(blocks.filter(({ type, name }) => type === 'tool_use' && name === SEARCH).map(({ id }) => id))
  return turnOf(
    blocks.map(({ role, type, text, tool_use_id, content }) => {
      if (type === 'tool_result') return searches.has(tool_use_id) ? {} : { answer: textIn(content) }
      return role === 'user' && type === 'text' ? { prompt: text } : {}
    }),
  )
}

const anthropicMove = (step: Step, tools: string[]): Move => {
  if (typeof step === 'string' || 'thought' in step) return step
  const isClaude = tools.includes('Bash')
  if ('tool' in step) return { name: step.tool, input: step.input }
  if ('shell' in step) return { name: isClaude ? 'Bash' : 'bash', input: { command: step.shell, description: 'Runs it' } }
  if ('write' in step) {
    const { write, content } = step
    return isClaude ? { name: 'Write', input: { file_path: write, content } } : { name: 'write', input: { filePath: write, content } }
  }
  const name = isClaude ? `mcp__parley__${step.hub}` : `parley_${step.hub}`
  return tools.includes(name) || !tools.includes(SEARCH)
    ? { name, input: step.input ?? {} }
    : { name: SEARCH, input: { query: `select:${name}` } }
}

const openaiTurn = (input: any[]): Turn =>
  turnOf(
    input.map(({ type, role, content, output }) => {
      if (type === 'function_call_output') return { answer: typeof output === 'string' ? output : textIn(output) }
      return type === 'message' && role === 'user' ? { prompt: textIn(content) } : {}
    }),
  )

const openaiItems = (step: Step, tools: any[]): Item[] => {
  if (typeof step === 'string') return [message(step)]
  if ('thought' in step) return [thought(step.thought), message(step.text)]
  if ('shell' in step) return [functionCall('exec_command', { cmd: step.shell, yield_time_ms: 30_000 })]
  if ('write' in step) return [functionCall('exec_command', { cmd: `printf %s '${step.content}' > '${step.write}'` })]
  if ('tool' in step) return [functionCall(step.tool, step.input)]
  const namespace = tools.find(({ type, name }) => type === 'namespace' && /parley/.test(name))?.name
  const { hub, input = {} } = step
  return [namespace ? { ...functionCall(hub, input), namespace } : functionCall(`mcp__parley__${hub}`, input)]
}

let calls = 0

const functionCall = (name: string, args: object): Item => ({
  type: 'function_call',
  id: `fc_s${++calls}`,
  call_id: `call_s${calls}`,
  name,
  arguments: JSON.stringify(args),
})

const googleTurn = (contents: any[]): Turn =>
  turnOf(
    contents.flatMap(({ role, parts }) =>
      parts.map(({ text, functionResponse }: any) => {
        if (functionResponse) return { answer: functionResponse.response?.output ?? functionResponse.response }
        return role === 'user' && text !== undefined ? { prompt: text } : {}
      }),
    ),
  )

const googleParts = (step: Step, tools: string[]): Part[] => {
  if (typeof step === 'string') return [{ text: step }]
  if ('thought' in step) return [{ text: step.thought, thought: true }, { text: step.text }]
  const one = (name: string, args: object): Part[] => [{ functionCall: { name, args } }]
  if ('shell' in step) return one('run_shell_command', { command: step.shell, description: 'Runs it' })
  if ('write' in step) return one('write_file', { file_path: step.write, content: step.content })
  if ('tool' in step) return one(step.tool, step.input)
  return one(tools.find((name) => name.endsWith(`_${step.hub}`)) ?? step.hub, step.input ?? {})
}
