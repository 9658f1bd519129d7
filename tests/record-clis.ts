// Records what the agents' CLIs in PARLEY_CLIENTS print while they work on a task, into tests/data/clis: `PARLEY_CLIENTS=… bun tests/record-clis.ts
// [NAME]…`. To add a version, add a line to CLIS.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtInDrivers } from '../src/client/runner/drivers/drivers.ts'
import { claudeCode } from '../src/transcripts/claude-code.ts'
import { codex } from '../src/transcripts/codex.ts'
import { clientBin, newStage, workIn, workOf, type Stage } from './support/drivers.ts'
import { keepRecording, recorder, type Step } from './support/recorded-cli.ts'
import { startScriptedGemini } from './support/scripted-gemini.ts'
import { startScriptedModel, type Maker } from './support/scripted-model.ts'
import { call, message, startScriptedResponses, thought } from './support/scripted-responses.ts'

const CLIS = [
  { name: 'claude-code-2.1.330', agent: 'claude-code', folder: 'claude' },
  { name: 'claude-code-2.1.197', agent: 'claude-code', folder: 'claude-2.1.197' },
  { name: 'codex-0.169.0', agent: 'codex', folder: 'codex' },
  { name: 'gemini-0.61.0', agent: 'gemini', folder: 'gemini' },
  { name: 'opencode-1.18.33', agent: 'opencode', folder: 'opencode' },
]

interface Model {
  env: Record<string, string>
  prepare?: (stage: Stage) => void
  stop(): Promise<void>
}

const anthropic = (tool: string, input: object): ReturnType<typeof startScriptedModel> => {
  const moves: Maker[] = [() => ({ name: tool, input }), () => ({ thought: 'It went as it should.', text: 'All done.' })]
  return startScriptedModel(moves)
}

const COMMAND = 'echo hi; exit 3'

const MODELS: Record<string, () => Model> = {
  'claude-code': () => {
    const model = anthropic('Bash', { command: COMMAND, description: 'tries' })
    const env = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ANTHROPIC_API_KEY: 'x', ANTHROPIC_BASE_URL: model.url }
    return { env, stop: model.stop }
  },
  codex: () => {
    const model = startScriptedResponses([
      () => [thought('Let us see.'), call('exec_command', { cmd: COMMAND })],
      () => [message('All done.')],
    ])
    const prepare = ({ home }: Stage) => {
      mkdirSync(join(home, '.codex'))
      writeFileSync(join(home, '.codex/config.toml'), model.config)
    }
    return { env: {}, prepare, stop: model.stop }
  },
  gemini: () =>
    startScriptedGemini([
      () => [{ text: '**Look** at it', thought: true }, { functionCall: { name: 'run_shell_command', args: { command: COMMAND } } }],
      () => [{ text: 'All done.' }],
    ]),
  opencode: () => {
    const model = anthropic('bash', { command: COMMAND, description: 'tries' })
    const provider = { anthropic: { options: { baseURL: `${model.url}/v1`, apiKey: 'x' } } }
    const config = { model: 'anthropic/claude-sonnet-4-5', small_model: 'anthropic/claude-sonnet-4-5', provider }
    const quiet = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
    return { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), ...quiet }, stop: model.stop }
  },
}

const record = async ({ name, agent, folder }: (typeof CLIS)[number]) => {
  const driver = builtInDrivers.find(({ agenticTool }) => agenticTool === agent)!
  const model = MODELS[agent]!()
  const stage = newStage([], model.env)
  try {
    model.prepare?.(stage)
    const log = join(stage.home, 'recorded.jsonl')
    stage.program(driver.program, recorder(join(clientBin(folder)!, driver.program), log))
    const task = stage.run(driver, stage.job())
    const result = await task.result
    if (result.status !== 'completed') throw new Error(`${name}: ${JSON.stringify(result)}`)
    const sides = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { to?: any; from?: any })
    const steps = sides.flatMap((side) => stepsOf(side, stage.home))
    const transcript = transcriptOf(stage.home, agent)
    const expected = transcript
      ? await workIn(transcript, agent === 'codex' ? codex : claudeCode)
      : workOf(task.told.map(({ event }) => event))
    keepRecording(name, [...steps, { expected }], stage.home)
    console.log(name, steps.length)
  } finally {
    stage.drop()
    await model.stop()
  }
}

const transcriptOf = (home: string, agent: string): string | undefined => {
  const folder = { 'claude-code': '.claude/projects', codex: '.codex/sessions' }[agent]
  const file = folder && readdirSync(join(home, folder), { recursive: true }).find((each) => String(each).endsWith('.jsonl'))
  return file ? join(home, folder!, String(file)) : undefined
}

const stepsOf = ({ to, from }: { to?: any; from?: any }, home: string): Step[] => {
  if (to === undefined) return isNoise(from) ? [] : [{ from: shortened(from) }]
  const word = to.method ?? to.type ?? 'answer'
  return word === 'turn/start' ? [{ to: word }, rolloutIn(home)] : [{ to: word }]
}

// What drivers pass over anyway, and what tells of the machine.
const NOISE = /^(?:configWarning|remoteControl|account|thread\/(?:started|status|readState|goal)|warning|rawResponse|mcpServer|skills)/
const isNoise = ({ method }: any) => typeof method === 'string' && NOISE.test(method)

// Lists of commands, models and instructions are cut.
const shortened = (value: any): any => {
  if (Array.isArray(value)) return value.slice(0, 4).map(shortened)
  if (typeof value === 'string') return value.length > 400 ? `${value.slice(0, 400)}…` : value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN.has(key))
      .map(([key, inner]) => [key, shortened(inner)]),
  )
}
const OWN = new Set([
  'messaging_socket_path',
  'memory_paths',
  'slash_commands',
  'plugins',
  'capabilities',
  'installationId',
  'availableCommands',
  'userAgent',
  'codexHome',
  'environments',
  'agentInfo',
  'gitInfo',
])

const rolloutIn = (home: string): Step => {
  const file = transcriptOf(home, 'codex')!
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const kept = lines.filter(({ type, payload }) => type !== 'session_meta' && type !== 'world_state' && payload.role !== 'developer')
  return { file: file.slice(home.length + 1), text: kept.map((line) => `${JSON.stringify(shortened(line))}\n`).join('') }
}

const wanted = process.argv.slice(2)
for (const cli of CLIS) if (wanted.length === 0 || wanted.includes(cli.name)) await record(cli)
