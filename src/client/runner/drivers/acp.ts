// Every agent that speaks the Agent Client Protocol, over JSON-RPC on its standard input and output.
import { objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { runtime } from '../../../transcripts/trace-event.ts'
import type { AcpAgent } from './acp-agents.ts'
import { newCommands, type Commands } from './acp-commands.ts'
import { nextMinute, noteOpened, openedThisMinute, untilQuiet } from './acp-history.ts'
import { answerPermission, CANCELLED } from './acp-permissions.ts'
import { openConversation, type Session } from './acp-session.ts'
import { newUpdates, type Updates } from './acp-updates.ts'
import { newAcpUsage, type AcpUsage } from './acp-usage.ts'
import { silentEnd, type Gone } from './cli.ts'
import { failed, type Driver, type Job, type Listener, type Result, type Running, type Spawn } from './driver.ts'
import { METHOD_NOT_FOUND, RpcError, startPeer, type Peer } from './json-rpc.ts'
import { promptOf } from './prompt.ts'
import { printed, report } from './trace.ts'
import { valueIn } from '../../../core/lookup.ts'

const QUIET_MS = 3_000 // some adapters stay once their input has ended
const INTERRUPTED_MS = 300 // Gemini CLI stays after an interrupt

export const acpDriver = (agent: AcpAgent): Driver => ({
  agenticTool: agent.agenticTool,
  program: agent.command[0]!,
  howToGet: agent.howToGet,
  start: (job, listener, spawn) => run(agent, { ...job, env: { ...job.env, ...agent.env(job) } }, listener, spawn),
})

interface Word {
  text: string
  unanswered: boolean // it says that nobody has answered
  said: number // how much the agent had said before it
}

// What is known of the task so far.
interface State {
  session?: Session
  lastUpdateAt: number // when it told something last, by performance.now()
  prompted: boolean // until then it tells what a conversation had before
  told: boolean // something of what it says and does
  interrupted: boolean // the caller asked for it
  words: Word[] // to the agent, for the end of its turn
  asked?: string // the key of the call that ended the task
  refusal?: RpcError // it answered a call with an error
  ended?: Json | undefined // the answer to the prompt, or to the words after it
  done: boolean // its turn for the prompt has ended well: words after it are beside the task
}

const run = (agent: AcpAgent, job: Job, listener: Listener, spawn: Spawn): Running => {
  const state: State = { lastUpdateAt: 0, prompted: false, told: false, interrupted: false, words: [], done: false }
  const usage = newAcpUsage(agent, job)
  const commands = newCommands(agent)
  const updates = newUpdates(agent.name, (key, event) => {
    if (!state.prompted) return
    state.told = true
    report(listener, key, [event])
  })
  let texts = 0
  let cancel = () => {}
  const cancelled = new Promise<object>((resolve) => (cancel = () => resolve(CANCELLED))) // answers all requests from then on
  const stop = () => {
    if (state.prompted && state.session) peer.notify('session/cancel', { sessionId: state.session.id })
  }
  const asking = {
    listener,
    updates,
    permissionMode: job.permissionMode,
    folder: job.folder,
    onWord: (text: string, unanswered: boolean) => void state.words.push({ text, unanswered, said: updates.said() }),
    onQuestion(key: string) {
      state.asked = key
      stop()
    },
  }
  const peer = startPeer(spawn, agent.command, job, {
    async called(method, params) {
      if (method !== 'session/request_permission') throw new RpcError(`${method} is not offered.`, METHOD_NOT_FOUND)
      return Promise.race([cancelled, answerPermission(params, asking)])
    },
    notified(method, params) {
      if (method !== 'session/update') return
      state.lastUpdateAt = performance.now()
      if (state.session !== undefined && params.sessionId !== state.session.id) return // another agent's, beside it
      const update = objectOr(params.update)
      usage.onUpdate(update, state.prompted)
      commands.onUpdate(update)
      updates.onUpdate(update)
    },
    text: (line) => report(listener, `output-${++texts}`, [printed(line)]),
  })
  return {
    ended: converse(agent, job, listener, peer, state, { updates, commands, usage }).then((result) => ({
      ...result,
      ...usage.total(),
    })),
    interrupt() {
      state.interrupted = true
      cancel()
      stop()
    },
  }
}

const converse = async (
  agent: AcpAgent,
  job: Job,
  listener: Listener,
  peer: Peer,
  state: State,
  { updates, commands, usage }: { updates: Updates; commands: Commands; usage: AcpUsage },
): Promise<Result> => {
  try {
    await rest(agent, job, listener, peer, state)
    const session = await openConversation(agent, peer, job, updates.lastMessage)
    noteOpened(session.id)
    if (job.conversation ?? job.fork) await untilQuiet(() => state.lastUpdateAt)
    updates.begin(session.model)
    ;[state.session, state.prompted] = [session, true]
    const mode = { mode: session.mode ?? job.permissionMode, by: session.mode === undefined ? 'runner' : 'agent' }
    report(listener, 'mode', [runtime('mode', mode)])
    for (let text = await commands.asRead(promptOf(job)); text !== '' && !state.interrupted; text = nextIn(state, updates.said())) {
      state.ended = undefined
      const ended = await peer.call('session/prompt', { sessionId: session.id, prompt: [{ type: 'text', text }] })
      state.ended = ended
      state.done ||= ended.stopReason === 'end_turn'
      usage.onEnd(ended)
      updates.endTurn()
    }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error // a fault of the driver's own: it is the task's error
    if (error.code !== undefined) state.refusal = error
  }
  peer.finish(state.interrupted ? INTERRUPTED_MS : QUIET_MS)
  const gone = await peer.gone
  return conclude(agent.name, job, state, updates.end(), gone)
}

// An agent that has gone on where nobody answered, and said what came of it, is not told so once more.
const nextIn = ({ ended, asked, words }: State, said: number): string =>
  ended?.stopReason === 'end_turn' && asked === undefined
    ? words
        .splice(0)
        .flatMap((word) => (word.unanswered && said > word.said ? [] : word.text))
        .join('\n')
    : ''

const rest = async (agent: AcpAgent, { conversation }: Job, listener: Listener, peer: Peer, state: State) => {
  if (!agent.loadsInLaterMinutes || conversation === undefined || !openedThisMinute(conversation)) return
  report(listener, 'rest', [runtime('waiting', { text: `${agent.name} can load this conversation in the next minute.` })])
  let gone = false
  void peer.gone.then(() => (gone = true))
  await nextMinute(() => gone || state.interrupted)
}

const conclude = (name: string, job: Job, state: State, { answer, lastMessage }: ReturnType<Updates['end']>, gone: Gone): Result => {
  const { session, ended, refusal, asked, interrupted, told, done } = state
  const known = {
    ...(session && { conversation: session.id }),
    ...(session && lastMessage !== undefined && { conversationAt: lastMessage }),
  }
  const named = job.conversation ?? job.fork?.conversation
  if (refusal && session === undefined && named !== undefined)
    return { ...failed(`${name} cannot go on with its conversation ${named}: ${refusal.message}`), conversationMissing: true }
  const reason = textOr(ended?.stopReason)
  if (asked !== undefined) return { ...known, status: 'interrupted', interruptedBy: asked }
  if ((reason === 'end_turn' || (done && !interrupted)) && told)
    return { ...known, status: 'completed', ...(answer !== undefined && { answer }) }
  if (interrupted || reason === 'cancelled') return { ...known, status: 'interrupted' }
  if (refusal) return { ...known, ...failed(`${name}: ${refusal.message}`) }
  return { ...known, ...failed(ended ? (valueIn(STOPS, wordOf(reason)) ?? `${name} stopped: ${wordOf(reason)}.`) : silentEnd(name, gone)) }
}

const STOPS: Record<string, string> = {
  end_turn: 'The agent ended its turn with nothing said and nothing done: it may not have read the prompt.',
  refusal: 'The model refused to go on.',
  max_tokens: 'The model came to the end of the tokens that it may use.',
  max_turn_requests: 'The agent asked its model as often as it may in one turn.',
}
