// Codex, over its app-server's JSON-RPC: `codex exec` can neither ask nor be asked.
import { pause } from '../../../core/runtime/pause.ts'
import { isObject, objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { followTurn, lengthOf, type Followed } from './codex-rollout.ts'
import { openThread, type Thread } from './codex-thread.ts'
import { newApprovals } from './codex-approvals.ts'
import { silentEnd, type Gone } from './cli.ts'
import { failed, type Driver, type Job, type Listener, type Result, type Running, type Spawn, type Usage } from './driver.ts'
import { RpcError, startPeer, type Peer } from './json-rpc.ts'
import { promptOf } from './prompt.ts'
import { printed, report } from './trace.ts'

export const codex: Driver = {
  agenticTool: 'codex',
  program: 'codex',
  howToGet: 'npm install -g @openai/codex, then run codex once and sign in',
  oldest: '0.169.0',
  start: (job, listener, spawn) => run(job, listener, spawn),
}

// What is known of the task so far.
interface State {
  interrupted: boolean // the caller asked for it
  thread?: Thread
  turn?: string
  ended?: Json // the turn, as the app-server tells its end
  asked?: string // the id of the call that asked the user
  answer?: string
  before?: Usage // of the conversation, before this turn
  usage?: Usage
}

const run = (job: Job, listener: Listener, spawn: Spawn): Running => {
  const state: State = { interrupted: false }
  let finish = () => {}
  const over = new Promise<void>((resolve) => (finish = resolve))
  const approvals = newApprovals(
    listener,
    (word) => steer(peer, state, word),
    (call) => {
      state.asked = call
      void stop(peer, state)
    },
  )
  let texts = 0
  const peer = startPeer(spawn, ['codex', 'app-server'], job, {
    called: (method, params) => approvals.answer(method, params),
    notified(method, params) {
      approvals.onNotification(method, params)
      onNotification(state, method, params)
      if (method === 'turn/started' && state.interrupted) void stop(peer, state) // one that came before was for no turn
      if (state.ended) finish()
    },
    text: (line) => report(listener, `output-${++texts}`, [printed(line)]),
  })
  void peer.gone.then(() => finish())
  return {
    ended: converse(job, listener, peer, state, over),
    interrupt() {
      state.interrupted = true
      void stop(peer, state)
    },
  }
}

const converse = async (job: Job, listener: Listener, peer: Peer, state: State, over: Promise<void>): Promise<Result> => {
  let followed: Followed | undefined
  let refusal: RpcError | undefined
  try {
    const thread = await begin(job, peer, state)
    if (!state.interrupted) {
      const from = thread.path === undefined ? 0 : await lengthOf(thread.path)
      const { turn } = await peer.call('turn/start', { threadId: thread.id, input: [{ type: 'text', text: promptOf(job) }] })
      state.turn = wordOf(objectOr(turn).id)
      if (thread.path !== undefined) followed = followTurn(thread.path, from, state.turn, (key, events) => report(listener, key, events))
      await over
      // Codex's commands outlive an interrupt, and a turn that left one in the background.
      await peer.call('thread/backgroundTerminals/clean', { threadId: thread.id }).catch(() => {})
    }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error // a fault of the driver's own: it is the task's error
    refusal = error
  }
  peer.finish()
  const gone = await peer.gone
  await followed?.stop()
  return refusal?.code === undefined ? conclude(state, followed, gone) : refused(job, state, refusal)
}

// The result when Codex answers a call with an error. Without a thread, the conversation that was named is none of Codex's.
const refused = ({ conversation, fork }: Job, { thread }: State, { message }: RpcError): Result => {
  const missing = thread === undefined && (conversation ?? fork) !== undefined
  const words = missing ? `Codex cannot go on with its conversation ${conversation ?? fork?.conversation}: ${message}` : `Codex: ${message}`
  return { ...failed(words), ...(missing && { conversationMissing: true }) }
}

const begin = async (job: Job, peer: Peer, state: State): Promise<Thread> => {
  const clientInfo = { name: 'parley', title: 'Parley', version: '1' }
  await peer.call('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  peer.notify('initialized')
  return (state.thread = await openThread(peer, job))
}

const stop = async (peer: Peer, { thread, turn }: State) => {
  if (thread === undefined || turn === undefined) return
  await peer.call('turn/interrupt', { threadId: thread.id, turnId: turn }).catch(() => {})
  await peer.call('thread/backgroundTerminals/clean', { threadId: thread.id }).catch(() => {})
}

const STEERED_WITHIN_MS = 2_000 // what waits for this is an answer that the agent waits for

const steer = async (peer: Peer, { thread, turn }: State, text: string) => {
  if (thread === undefined || turn === undefined) return
  const said = peer.call('turn/steer', { threadId: thread.id, expectedTurnId: turn, input: [{ type: 'text', text }] }).catch(() => {})
  await Promise.race([said, pause(STEERED_WITHIN_MS)])
}

const onNotification = (state: State, method: string, params: Json) => {
  if (state.thread !== undefined && params.threadId !== state.thread.id) return // an agent of its own beside it
  if (method === 'turn/started') state.turn ??= wordOf(objectOr(params.turn).id)
  if (method === 'turn/completed') state.ended = objectOr(params.turn)
  const said = method === 'item/completed' ? answerIn(params.item) : undefined
  if (said !== undefined) state.answer = said
  if (method === 'thread/tokenUsage/updated') count(state, params)
}

const answerIn = (item: unknown) => (isObject(item) && item.type === 'agentMessage' ? textOr(item.text) : undefined)

// Codex reports totals of the whole conversation. What it had used before this turn is subtracted: the total in the turn's first report,
// less the tokens that are that report's own.
const count = (state: State, { turnId, tokenUsage }: Json) => {
  if (state.turn === undefined || turnId !== state.turn) return
  const { total, last } = objectOr(tokenUsage)
  const all = tokensIn(total)
  state.before ??= minus(all, tokensIn(last))
  state.usage = larger(minus(all, state.before), state.usage)
}

// A conversation that is too long for its model has totals of 0 from then on: what was counted before stays.
const larger = (now: Usage, before = now): Usage => ({
  input_tokens: Math.max(now.input_tokens, before.input_tokens),
  output_tokens: Math.max(now.output_tokens, before.output_tokens),
  cost_usd: null,
})

const tokensIn = (counts: unknown): Usage => {
  const { inputTokens, outputTokens } = objectOr(counts)
  const [input_tokens, output_tokens] = [inputTokens, outputTokens].map((tokens) => (typeof tokens === 'number' ? tokens : 0))
  return { input_tokens: input_tokens!, output_tokens: output_tokens!, cost_usd: null }
}

const minus = (all: Usage, part: Usage): Usage => ({
  input_tokens: all.input_tokens - part.input_tokens,
  output_tokens: all.output_tokens - part.output_tokens,
  cost_usd: null,
})

const conclude = (
  { interrupted, ended, thread, turn, asked, answer, usage }: State,
  followed: Followed | undefined,
  gone: Gone,
): Result => {
  const known = { ...(thread && { conversation: thread.id }), ...(turn !== undefined && { conversationAt: turn }), ...(usage && { usage }) }
  const call = asked === undefined ? undefined : followed?.keyOfCall(asked)
  const stopped: Result = { ...known, status: 'interrupted', ...(call !== undefined && { interruptedBy: call }) }
  if (ended?.status === 'completed') return { ...known, status: 'completed', ...(answer !== undefined && { answer }) }
  if (interrupted || asked !== undefined || ended?.status === 'interrupted') return stopped
  return { ...known, ...failed(ended === undefined ? silentEnd('Codex', gone) : messageIn(ended)) }
}

const messageIn = ({ error }: Json) => {
  const { message, additionalDetails } = objectOr(error)
  return [message, additionalDetails].filter((text) => textOr(text)).join('\n') || 'Codex ended its turn without saying why.'
}
