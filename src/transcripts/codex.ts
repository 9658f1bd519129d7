// Codex: ~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl. The file has both what the model saw (response_item) and what
// the program showed (event_msg): most texts are there twice, in either order, and become one event here.
import { AGENT_NAMES } from '../core/agent-names.ts'
import { argumentsOf, exitCodeIn, textOfBlocks, toolResponse } from './blocks.ts'
import type { Format } from './format.ts'
import { isObject, nameOr, objectOr, textOr, wordOf, type Json } from './json.ts'
import { TITLE, callKey, rememberCall, suggestTitle, take, takeCall, type Memory } from './memory.ts'
import { context, prompt, runtime, unknown, type TraceEvent } from './trace-event.ts'

export const codex: Format = {
  source: 'codex',
  agent: AGENT_NAMES.codex,
  claims: (record) => (typeof record.type === 'string' && isObject(record.payload)) || isBareHead(record),
  identity: ({ records, name }) => {
    const meta = records.find(({ type }) => type === 'session_meta')?.payload
    return textOr(objectOr(meta).id) ?? textOr(records.find(isBareHead)?.id) ?? /([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(name)?.[1]
  },
  read: (record, memory) => {
    if (!isObject(record)) return [unknown(record)]
    return read(record, memory).map((event) => ({ at: record.timestamp, ...event }))
  },
}

// The first versions wrote the items as they are, after a line with the session's id.
const isBareHead = (record: Json) => typeof record.id === 'string' && record.type === undefined && 'instructions' in record

const read = (record: Json, memory: Memory): TraceEvent[] => {
  const payload = objectOr(record.payload)
  switch (record.type) {
    case 'response_item':
      return ofItem(payload, memory)
    case 'event_msg':
      return ofMessage(payload, memory)
    case 'turn_context':
      memory.model = nameOr(payload.model) ?? memory.model
      return [runtime('turn_context', payload, { opens: true })]
    case 'compacted': {
      const { message, replacement_history, ...data } = payload
      const replaced = Array.isArray(replacement_history) ? { replaced_by: replacement_history.length } : {}
      return [{ type: 'compaction', author: 'agent', content: { text: textOr(message) ?? '', ...data, ...replaced } }]
    }
    case 'session_meta':
    case 'world_state':
    case 'inter_agent_communication_metadata':
      return [runtime(record.type, payload)]
  }
  if (isBareHead(record)) return [runtime('session_meta', record)]
  if (record.record_type === 'state') return [runtime('state')]
  const events = record.payload === undefined ? ofItem(record, memory) : []
  return events.length > 0 ? events : [unknown(record)]
}

const CALLS: Record<string, string> = {
  function_call: 'function',
  custom_tool_call: 'custom_tool',
  tool_call: 'tool',
  local_shell_call: 'local_shell',
  web_search_call: 'web_search',
  tool_search_call: 'tool_search',
  image_generation_call: 'image_generation',
}

const ofItem = (item: Json, memory: Memory): TraceEvent[] => {
  const type = wordOf(item.type)
  if (type === 'message') return ofSpoken(item, memory)
  if (type === 'reasoning') return reasoned(item, memory)
  if (Object.hasOwn(CALLS, type)) return [ofCall(item, CALLS[type]!, memory)]
  if (/(?:_call_output|tool_search_output|tool_result)$/.test(type)) return [ofOutput(item, memory)]
  if (/^(?:context_)?compaction/.test(type)) return [{ type: 'compaction', author: 'agent', content: { text: textOr(item.text) ?? '' } }]
  if (type === 'agent_message') return [runtime('agent_message', { ...item, text: textOfBlocks(item.content), content: undefined })]
  return [type === 'ghost_snapshot' ? runtime('ghost_snapshot', item) : unknown(item)]
}

// Texts that the program itself writes as if a person had.
const INJECTED =
  /^\s*(?:# AGENTS\.md instructions|<(?:environment_context|user_instructions|permissions instructions|INSTRUCTIONS|skill|user_shell_command|subagent_notification|collaboration_mode|turn_aborted)>)/

const ofSpoken = (item: Json, memory: Memory): TraceEvent[] => {
  if (item.role === 'user') return ofUser(item.content, memory)
  const text = textOfBlocks(item.content)
  if (text === '') return []
  if (item.role === 'assistant') return responseOf(text, 'item', item.phase, memory)
  return [context(text, wordOf(item.role ?? 'context'))]
}

const ofUser = (content: unknown, memory: Memory): TraceEvent[] => {
  const { texts, media } = Array.isArray(content) ? apart(content) : { texts: [content], media: [] }
  const text = textOfBlocks([...texts, ...media])
  if (text === '') return []
  return INJECTED.test(text) ? [context(text)] : promptOf(text, 'item', memory, textOfBlocks(texts) || text)
}

const TAG = /^<(?:image|audio)(?: name=.*)?>$|^<\/(?:image|audio)>$/s

// Codex puts a picture before what was typed, and each between two tags that nobody typed. Its mark stands behind the text, which is what a
// person looks for.
const apart = (blocks: unknown[]) => {
  const isMedia = (block: unknown) => /^input_(?:image|audio)$/.test(wordOf(objectOr(block).type))
  const isTag = (block: unknown, i: number) => TAG.test(wordOf(objectOr(block).text)) && [blocks[i - 1], blocks[i + 1]].some(isMedia)
  return { texts: blocks.filter((block, i) => !isMedia(block) && !isTag(block, i)), media: blocks.filter(isMedia) }
}

// `typed`: the text without the marks of what is attached.
const promptOf = (text: string, by: string, memory: Memory, typed = text): TraceEvent[] => {
  if (isEcho(memory, { by, kind: 'prompt', text: typed })) return []
  suggestTitle(memory, text, TITLE.prompt)
  return [prompt(text)]
}

const responseOf = (text: string, by: string, phase: unknown, memory: Memory): TraceEvent[] =>
  isEcho(memory, { by, kind: 'response', text })
    ? []
    : [
        {
          ...agent(memory),
          type: 'assistant_response',
          model: memory.model,
          content: { text },
          ends: phase === 'final_answer' ? 'here' : undefined,
        },
      ]

const reasoned = (item: Json, memory: Memory): TraceEvent[] => {
  const text = [textOfBlocks(item.summary), textOfBlocks(item.content)].filter(Boolean).join('\n\n')
  return text === '' ? [] : [{ ...agent(memory), type: 'reasoning', model: memory.model, content: { text } }] // the rest is encrypted
}

const agent = ({ model }: Memory) => ({ author: 'agent', authorName: codex.agent, originatingModel: model }) as const

const ECHO = 500 // characters by which a text is recognised

// Is this the second record of a text: the same text from the other side, with nothing of its kind between? One of the two may have a
// picture's name behind the text, so the shorter one need only begin the longer. Of a prompt in several parts one has each on a line of its
// own, the other all of them in one, so white space does not count.
const isEcho = (memory: Memory, { by, kind, text }: { by: string; kind: string; text: string }) => {
  const newest = { by, kind, text: text.replace(/\s+/g, '').slice(0, ECHO).toWellFormed() }
  const before = memory.said
  const alike = before !== undefined && (before.text.startsWith(newest.text) || newest.text.startsWith(before.text))
  const echo = alike && before.by !== by && before.kind === kind
  memory.said = echo ? undefined : newest
  return echo
}

const ofCall = (item: Json, kind: string, memory: Memory): TraceEvent => {
  const name = textOr(item.name) ?? textOr(objectOr(item.function).name) ?? kind
  const toolName = textOr(item.namespace) ? `${String(item.namespace)}__${name}` : name
  rememberCall(memory, item.call_id, toolName)
  const given = argumentsOf(item.arguments ?? item.input ?? item.action ?? item.revised_prompt)
  return { ...agent(memory), type: 'tool_call', toolName, content: { arguments: given } }
}

const ofOutput = (item: Json, memory: Memory): TraceEvent => {
  const { text, exitCode } = outputOf(item.output ?? item.result ?? item.tools)
  const remembered = typeof item.call_id === 'string' ? take(memory.exits, callKey(item.call_id)) : undefined
  const toolName = takeCall(memory, item.call_id) ?? textOr(item.name)
  const failed = objectOr(item.output).success === false
  const content = toolResponse(text, exitCode ?? remembered ?? exitCodeIn(text), failed)
  return { type: 'tool_response', author: 'agent', toolName, originatingModel: memory.model, content }
}

// Codex wrote outputs as a text, as JSON in a text with the exit code, as blocks, or as a shell's two streams.
const outputOf = (output: unknown): { text: string; exitCode?: number | undefined } => {
  const value = typeof output === 'string' ? argumentsOf(output) : output
  if (typeof value === 'string' || Array.isArray(value)) return { text: typeof output === 'string' ? output : textOfBlocks(value) }
  const result = objectOr(value)
  const code = [objectOr(result.metadata).exit_code, result.exit_code, result.exitCode].find((candidate) => typeof candidate === 'number')
  if (typeof result.output === 'string') return { text: result.output, exitCode: code }
  if (typeof result.stdout === 'string') return { text: [result.stdout, result.stderr].filter(Boolean).join('\n'), exitCode: code }
  if (typeof output === 'string') return { text: output, exitCode: code }
  return { text: textOfBlocks(result.content ?? result), exitCode: code }
}

const STARTED = new Set(['task_started', 'turn_started'])
const COMPLETED = new Set(['task_complete', 'turn_complete'])
const STOPPED = new Set(['turn_aborted', 'error', 'shutdown_complete'])
// Events that only repeat an item of the model's, or count: kept for their times and codes, but not searched.
const SHOWN =
  /^(?:token_count|context_compacted|thread_settings_applied|thread_goal_updated|thread_name_updated|undo_completed|ghost_snapshot|item_(?:started|completed)|sub_agent_activity|guardian_assessment|warning|stream_error|background_event|plan_update|(?:entered|exited)_review_mode|.*_tool_call(?:_request|_response)?|.*_(?:begin|end))$/

const ofMessage = (payload: Json, memory: Memory): TraceEvent[] => {
  const { type, ...rest } = payload
  const event = wordOf(type)
  const { message, ...data } = rest
  const text = textOr(message)
  if (event === 'user_message') return text === undefined ? [] : INJECTED.test(text) ? [context(text)] : promptOf(text, 'shown', memory)
  if (event === 'agent_message') return text === undefined ? [] : responseOf(text, 'shown', data.phase, memory)
  if (event.startsWith('agent_reasoning')) return [] // sections of a text that the item has whole
  if (STARTED.has(event)) return [runtime(event, data, { opens: true })]
  if (COMPLETED.has(event)) return [runtime(event, data, { ends: data.error ? 'here' : 'before' })]
  if (STOPPED.has(event)) return [runtime(event, { text, ...data }, { ends: 'here' })]
  if (event === 'thread_name_updated') suggestTitle(memory, data.thread_name, TITLE.person)
  if (event === 'exec_command_end' && typeof data.call_id === 'string' && typeof data.exit_code === 'number') {
    memory.exits = { ...Object.fromEntries(Object.entries(memory.exits).slice(-EXITS_KEPT)), [callKey(data.call_id)]: data.exit_code }
  }
  return [SHOWN.test(event) ? runtime(event, { text, ...data }) : unknown(payload)]
}

const EXITS_KEPT = 50
