// Claude Code, over stream-json on its standard input and output: it asks for permission, and can be interrupted.
import { callLine } from '../../../core/events/tool-call.ts'
import { isObject, listOr, objectOr, shortId, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { canBeNamed, claudeCommand, writeMcpFile } from './claude-command.ts'
import { newClaudeReader } from './claude-records.ts'
import { resultOf, usageOf } from './claude-result.ts'
import { startCli, silentEnd, type Cli, type Gone } from './cli.ts'
import { failed, type Driver, type Job, type Listener, type Result, type Running, type Spawn, type Usage } from './driver.ts'
import type { TraceEvent } from '../../../transcripts/trace-event.ts'
import { aboutPermission, promptOf } from './prompt.ts'
import { keyOf, printed, report } from './trace.ts'

export const claude: Driver = {
  agenticTool: 'claude-code',
  program: 'claude',
  howToGet: 'npm install -g @anthropic-ai/claude-code, then run claude once and sign in',
  oldest: '2.1.197',
  start: (job, listener, spawn) => {
    if (!canBeNamed(job)) return { ended: Promise.resolve(missing(job, 'its id is none of Claude Code')), interrupt() {} }
    try {
      const { file, drop } = writeMcpFile(job)
      const running = run(job, listener, spawn, file)
      return { ...running, ended: running.ended.finally(drop) }
    } catch (error) {
      const message = `Claude Code was not started: the file with its MCP servers could not be written (${String(error)}).`
      return { ended: Promise.resolve<Result>(failed(message)), interrupt() {} }
    }
  },
}

// What is known of the task so far.
interface State {
  begun: boolean // it said what it started with: the conversation was found
  interrupted: boolean // the caller asked for it
  result?: Json
  known: Pick<Result, 'conversation' | 'conversationAt' | 'interruptedBy'> & { usage?: Usage }
}

const run = (job: Job, listener: Listener, spawn: Spawn, mcpFile: string): Running => {
  const state: State = { begun: false, interrupted: false, known: {} }
  const read = newClaudeReader()
  const calls = new Map<string, string>() // the event's key by the call's id
  let texts = 0
  const interrupt = () => cli.send({ type: 'control_request', request_id: `parley-${Date.now()}`, request: { subtype: 'interrupt' } })
  const record = (line: Json) => {
    const { key, events, message } = read(line)
    rememberCalls(calls, key, events, line.message)
    report(listener, key, events)
    if (message !== undefined) state.known.conversationAt = message
    if (line.type === 'system') learn(state, line, interrupt)
    if (line.type === 'control_request')
      void answer(line, listener, cli, (id) => (state.known.interruptedBy = calls.get(shortId(id)) ?? shortId(id)))
    if (line.type === 'result') {
      state.result = line
      state.known.usage = usageOf(line, state.known.usage)
      cli.finish() // it writes its transcript once its input has ended
    }
  }
  const cli = startCli(spawn, claudeCommand(job, mcpFile), job, {
    record,
    text: (line) => report(listener, `output-${++texts}`, [printed(line)]),
  })
  prompt(cli, promptOf(job))
  return {
    ended: cli.gone.then((gone) => conclude(job, state, gone)),
    interrupt() {
      state.interrupted = true
      interrupt()
    },
  }
}

const learn = (state: State, { subtype, session_id }: Json, interrupt: () => void) => {
  const conversation = textOr(session_id)
  if (conversation !== undefined) state.known.conversation = conversation
  if (subtype !== 'init') return
  state.begun = true
  if (state.interrupted) interrupt() // the first one may have come before there was anything to interrupt
}

const CALLS_KEPT = 1000

const rememberCalls = (calls: Map<string, string>, key: string, events: TraceEvent[], message: unknown) => {
  const ids = listOr(objectOr(message).content).flatMap((block) => (isObject(block) && block.type === 'tool_use' ? [wordOf(block.id)] : []))
  events.forEach(({ type }, i) => {
    const id = type === 'tool_call' ? ids.shift() : undefined
    if (id !== undefined) calls.set(shortId(id), keyOf(key, i))
  })
  for (const oldest of calls.keys()) if (calls.size > CALLS_KEPT) calls.delete(oldest)
}

// Calls that only a person at the terminal could answer: the next prompt is the answer.
const FOR_THE_USER = new Set(['AskUserQuestion', 'ExitPlanMode'])

const answer = async ({ request_id, request }: Json, listener: Listener, cli: Cli, endedBy: (call: string) => void) => {
  const { subtype, tool_name, tool_use_id, input } = objectOr(request)
  const respond = (response: object) => cli.send({ type: 'control_response', response: { subtype: 'success', request_id, response } })
  if (subtype !== 'can_use_tool')
    return cli.send({
      type: 'control_response',
      response: { subtype: 'error', request_id, error: `${wordOf(subtype)} is not known here.` },
    })
  const tool = wordOf(tool_name)
  if (FOR_THE_USER.has(tool)) {
    endedBy(wordOf(tool_use_id))
    return respond({ behavior: 'deny', message: 'The next prompt is the answer.', interrupt: true })
  }
  // The tools of its own session: the hub decides.
  if (tool.startsWith('mcp__parley__')) return respond({ behavior: 'allow', updatedInput: objectOr(input) })
  const { allow, message } = await listener.ask({ tool, text: callLine(tool, objectOr(input)), input }).catch(notAsked)
  if (allow && message) prompt(cli, aboutPermission(tool, message)) // an answer has a place for a word where it denies alone
  respond(allow ? { behavior: 'allow', updatedInput: objectOr(input) } : { behavior: 'deny', message: message ?? 'Denied.' })
}

const prompt = (cli: Cli, content: string) => cli.send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null })

const notAsked = () => ({ allow: false, message: 'Nobody could be asked.' })

const conclude = (job: Job, { begun, interrupted, result, known }: State, gone: Gone): Result => {
  if (!begun && isConversationNamed(job) && result?.is_error === true) return missing(job, resultOf(result).error!.message)
  if (result === undefined) {
    if (interrupted) return { ...known, status: 'interrupted' }
    return { ...known, ...failed(silentEnd('Claude Code', gone)) }
  }
  const said = resultOf(result)
  const stopped = said.status === 'failed' && (interrupted || known.interruptedBy !== undefined)
  return stopped ? { ...known, status: 'interrupted' } : { ...known, ...said }
}

const isConversationNamed = ({ conversation, fork }: Job) => conversation !== undefined || fork !== undefined

const missing = ({ conversation, fork }: Job, why: string): Result => ({
  ...failed(`Claude Code cannot go on with its conversation ${conversation ?? fork?.conversation}: ${why}`),
  conversationMissing: true,
})
