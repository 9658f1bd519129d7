// ACP's session/update as events of the log: one mapping for every agent. Texts come in pieces and calls in stages; an event is told once it
// is whole.
import { exitCodeIn, textOfBlocks, toolResponse } from '../../../transcripts/blocks.ts'
import { isObject, listOr, nameOr, objectOr, shortId, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { runtime, type TraceEvent } from '../../../transcripts/trace-event.ts'
import { changesIn } from './acp-changes.ts'
import { pathsOfCall } from './edited-paths.ts'

export type Report = (key: string, event: TraceEvent) => void

interface Call {
  toolName: string
  /** The protocol's: read, edit, execute, other and so on. Empty: the agent has said none. */
  kind: string
  input: Json
  /** The paths that the call names, in all its stages. */
  paths: Set<string>
  reported: boolean
}

const LONGEST_TEXT = 512 * 1024 // characters; a longer message is told in parts
const CALLS_KEPT = 500
const UNREPORTED = new Set([
  'available_commands_update',
  'user_message_chunk',
  'config_option_update',
  'session_info_update',
  'usage_update',
])

export type Updates = ReturnType<typeof newUpdates>

/** `agent`: as people call it. */
export const newUpdates = (agent: string, report: Report) => {
  const calls = new Map<string, Call>()
  let open: { type: 'assistant_response' | 'reasoning'; text: string; message: string | undefined } | undefined
  let texts = 0
  let said = 0 // characters of its messages
  let model: string | undefined
  let answer: string | undefined // its last word in this turn
  const answers: string[] = [] // of all turns
  let lastMessage: string | undefined
  const by = () => ({ author: 'agent', authorName: agent, originatingModel: model }) as const

  const flush = () => {
    const said = open
    open = undefined
    if (said === undefined || said.text === '') return
    const { type, text } = said
    if (type === 'assistant_response') answer = text
    report(`text/${++texts}`, { ...by(), type, model, content: { text } })
  }
  const endTurn = () => {
    flush()
    if (answer !== undefined) answers.push(answer)
    answer = undefined
  }
  const say = (type: 'assistant_response' | 'reasoning', { content, messageId }: Json) => {
    const message = textOr(messageId)
    if (open && (open.type !== type || open.message !== message || open.text.length > LONGEST_TEXT)) flush()
    open ??= { type, text: '', message }
    const text = textOfBlocks(content)
    open.text += text
    if (type !== 'assistant_response') return
    said += text.length
    if (message !== undefined) lastMessage = message
  }
  const callOf = (update: Json): [string, Call] => {
    const id = shortId(wordOf(update.toolCallId))
    const call = calls.get(id) ?? { toolName: nameOf(update), kind: '', input: {}, paths: new Set<string>(), reported: false }
    call.kind = textOr(update.kind) ?? call.kind
    call.input = inputOf(update, call.input)
    for (const path of pathsOfCall(update)) call.paths.add(path)
    calls.set(id, call)
    for (const oldest of calls.keys()) if (calls.size > CALLS_KEPT) calls.delete(oldest)
    return [id, call]
  }
  const reportCall = (id: string, call: Call) => {
    if (call.reported) return
    flush()
    call.reported = true
    report(`call/${id}`, { ...by(), type: 'tool_call', toolName: call.toolName, content: { arguments: call.input } })
  }
  const stage = (update: Json) => {
    const [id, call] = callOf(update)
    if (update.status !== undefined && update.status !== 'pending') reportCall(id, call)
    if (update.status !== 'completed' && update.status !== 'failed') return
    calls.delete(id)
    flush()
    report(`result/${id}`, { ...by(), type: 'tool_response', toolName: call.toolName, content: resultOf(update) })
  }

  return {
    onUpdate(update: Json) {
      const kind = wordOf(update.sessionUpdate)
      if (kind === 'agent_message_chunk') say('assistant_response', update)
      else if (kind === 'agent_thought_chunk') say('reasoning', update)
      else if (kind === 'tool_call' || kind === 'tool_call_update') stage(update)
      else if (!UNREPORTED.has(kind)) {
        flush()
        const { sessionUpdate: _, ...rest } = update
        report(`update/${++texts}`, runtime(kind, rest))
      }
    },
    /** A call that permission is asked for: it is told, and described, by what was said of it before too. */
    asked(toolCall: Json) {
      const [id, call] = callOf(toolCall)
      reportCall(id, call)
      return { key: `call/${id}`, toolName: call.toolName, input: call.input, kind: call.kind, paths: [...call.paths] }
    },
    /** Drops what came so far: the agent repeated its past conversation. */
    begin(name: unknown) {
      model = nameOr(name)
      calls.clear()
      open = answer = undefined
    },
    /** Tells what it has said. */
    endTurn,
    /** Tells what is not told yet. */
    end() {
      endTurn()
      for (const [id, call] of calls) reportCall(id, call)
      return { answer: answers.length === 0 ? undefined : answers.join('\n\n'), lastMessage }
    },
    lastMessage: () => lastMessage,
    /** How many characters of its messages have come. */
    said: () => said,
  }
}

const PLAIN_NAME = /^[A-Za-z][\w.-]{0,63}$/
const DOUBLED = /^([A-Za-z]\w*?)__\1/ // Gemini CLI names a call by its tool, twice

// The protocol has no field for a tool's name: some agents put it into the title, some into the id.
const nameOf = ({ title, toolCallId, kind }: Json): string => {
  const name = textOr(title)
  if (name !== undefined && PLAIN_NAME.test(name)) return name
  return DOUBLED.exec(wordOf(toolCallId))?.[1] ?? textOr(kind) ?? 'tool'
}

const inputOf = ({ rawInput, title, kind, locations, content }: Json, before: Json): Json => {
  if (isObject(rawInput) && Object.keys(rawInput).length > 0) return { ...before, ...rawInput }
  if (Object.keys(before).length > 0) return { ...before, ...changesIn(content) }
  const text = textOr(title)
  const [path] = listOr(locations).map((location) => textOr(objectOr(location).path))
  return {
    ...(text !== undefined && !PLAIN_NAME.test(text) && { [kind === 'execute' ? 'command' : 'title']: text }),
    ...(path && { path }),
    ...changesIn(content),
  }
}

const resultOf = ({ content, rawOutput, status }: Json) => {
  const output = objectOr(rawOutput)
  const printed = textOr(rawOutput) ?? textOr(output.output) ?? textOr(output.error)
  const text = printed ?? listOr(content).map(textOfPart).filter(Boolean).join('\n')
  const { exit, exitCode } = { ...output, ...objectOr(output.metadata) }
  const code = [exit, exitCode].find((value) => typeof value === 'number') ?? exitCodeIn(text)
  return toolResponse(text, code, status === 'failed')
}

const textOfPart = (part: unknown): string => {
  const { type, content, path } = objectOr(part)
  return type === 'diff' ? `Changed ${wordOf(path)}` : textOfBlocks(content)
}
