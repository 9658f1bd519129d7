// Gemini CLI: ~/.gemini/tmp/<project>/chats/session-<time>-<id>.json, one document, or .jsonl, where a message is written again as it
// grows; and logs.json, which has the prompts alone. Events are keyed by their message's id, so that a message read again adds only what
// is new in it.
import { AGENT_NAMES } from '../core/agent-names.ts'
import { argumentsOf, exitCodeIn, textOfBlocks, toolResponse } from './blocks.ts'
import type { Format } from './format.ts'
import { isObject, listOr, nameOr, objectOr, shortId, textOr, wordOf, type Json } from './json.ts'
import { TITLE, suggestTitle, summaryOr, type Memory } from './memory.ts'
import { prompt, runtime, unknown, type TraceEvent } from './trace-event.ts'

export const gemini: Format = {
  source: 'gemini',
  agent: AGENT_NAMES.gemini,
  claims: (record) => typeof record.sessionId === 'string' && (isHead(record) || isLog(record)),
  identity: ({ records, name }) => {
    const first = records.find(({ sessionId }) => textOr(sessionId)) ?? {}
    const session = textOr(first.sessionId)
    if (isLog(first)) return `logs/${session}`
    return first.kind === 'subagent' ? `${session}/${name}` : session
  },
  read: (record, memory) => {
    if (!isObject(record)) return [unknown(record)]
    if (isLog(record)) return ofLog(record, memory)
    if (isHead(record)) return ofHead(record, memory)
    if (isObject(record.$set)) return ofHead(record.$set, memory)
    if (typeof record.$rewindTo === 'string') return [runtime('rewound', { to: record.$rewindTo })]
    if (typeof record.id === 'string' && typeof record.type === 'string') return ofMessage(record, memory)
    return [unknown(record)]
  },
}

const isHead = (record: Json) => record.type === undefined && (record.projectHash !== undefined || record.startTime !== undefined)
const isLog = (record: Json) => record.messageId !== undefined && typeof record.message === 'string'

const ofHead = ({ messages, ...head }: Json, memory: Memory): TraceEvent[] => {
  suggestTitle(memory, head.summary, TITLE.program)
  memory.summary = summaryOr(head.summary) ?? memory.summary
  const begun = isHead(head) ? [runtime('session_meta', head, { key: '/head', at: head.startTime })] : []
  return [...begun, ...listOr(messages).flatMap((message) => (isObject(message) ? ofMessage(message, memory) : []))]
}

const ofLog = ({ messageId, message, timestamp, type }: Json, memory: Memory): TraceEvent[] => {
  const text = String(message)
  suggestTitle(memory, text, TITLE.prompt)
  const event = type === 'user' ? prompt(text) : runtime('log', { text, type })
  return [{ ...event, key: `/${wordOf(messageId)}/${wordOf(timestamp)}`, at: timestamp }]
}

const ofMessage = (message: Json, memory: Memory): TraceEvent[] => {
  const parts =
    message.type === 'user'
      ? ofUser(message, memory)
      : message.type === 'gemini'
        ? ofModel(message, memory)
        : /^(?:info|warning|error)$/.test(wordOf(message.type))
          ? [ofNotice(message)]
          : [{ ...unknown(message), key: 'record' }]
  const id = shortId(wordOf(message.id))
  return parts.map((event) => ({ at: message.timestamp, ...event, key: `/${id}/${event.key}` }))
}

const ofUser = ({ content, displayContent }: Json, memory: Memory): TraceEvent[] => {
  const text = textOfBlocks(displayContent ?? content)
  if (text === '') return []
  suggestTitle(memory, text, TITLE.prompt)
  return [{ ...prompt(text), key: 'text' }]
}

const ofModel = (message: Json, memory: Memory): TraceEvent[] => {
  const model = (memory.model = nameOr(message.model) ?? memory.model)
  const by = { author: 'agent', authorName: gemini.agent, originatingModel: model } as const
  const calls = listOr(message.toolCalls).map(objectOr)
  const thoughts = listOr(message.thoughts).map(objectOr)
  const text = textOfBlocks(message.content)
  const reasoning = thoughts.map(({ subject, description, timestamp }, i): TraceEvent => ({
    ...by,
    key: `thought/${i}`,
    type: 'reasoning',
    model,
    content: { text: [textOr(subject), textOr(description)].filter(Boolean).join('\n\n') },
    ...(timestamp !== undefined && { at: timestamp }),
  }))
  // A message without tool calls ends the turn. If it gets some later, it is written again with them, and the turn goes on.
  const response: TraceEvent = {
    ...by,
    key: 'text',
    type: 'assistant_response',
    model,
    content: { text },
    ends: calls.length ? undefined : 'here',
  }
  return [...reasoning, ...(text === '' ? [] : [response]), ...calls.flatMap((call, i) => ofCall(call, i, by))]
}

type By = Pick<TraceEvent, 'author' | 'authorName' | 'originatingModel'>

const ofCall = (call: Json, i: number, by: By): TraceEvent[] => {
  const id = textOr(call.id) ?? String(i)
  const toolName = textOr(call.name) ?? 'tool'
  const at = call.timestamp === undefined ? {} : { at: call.timestamp }
  const toolCall: TraceEvent = {
    ...by,
    ...at,
    key: `call/${id}`,
    type: 'tool_call',
    toolName,
    content: { arguments: argumentsOf(call.args) },
  }
  const text = textOfBlocks(call.result) || textOr(call.resultDisplay)
  const failed = call.status === 'error' || call.status === 'cancelled'
  if (text === undefined && !failed) return [toolCall]
  const content = toolResponse(text ?? wordOf(call.status), exitCodeOf(text ?? ''), failed)
  return [toolCall, { ...by, ...at, key: `result/${id}`, type: 'tool_response', toolName, content }]
}

const exitCodeOf = (text: string) => {
  const last = /\nExit Code: (\d+)/.exec(text)?.[1]
  return exitCodeIn(text) ?? (last === undefined ? undefined : Number(last))
}

const ofNotice = ({ type, content }: Json): TraceEvent => {
  const text = textOfBlocks(content)
  const stopped = type === 'error' || /^request cancelled/i.test(text)
  return runtime(wordOf(type), { text }, { key: 'text', ends: stopped ? 'here' : undefined })
}
