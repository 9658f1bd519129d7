// Gemini CLI: ~/.gemini/tmp/<project>/chats/session-<time>-<id>.json, one document, or .jsonl, where a message is written again as it
// grows; and logs.json, the prompts alone. A message is known by its id, so what was read of it before is not read again.
import { argumentsOf, exitCodeIn, responded, textOfBlocks } from './blocks.ts'
import {
  isObject,
  listOr,
  nameOr,
  objectOr,
  prompt,
  runtime,
  shortId,
  summaryOr,
  textOr,
  TITLE,
  titled,
  unknown,
  wordOf,
  type Draft,
  type Format,
  type Json,
  type Memory,
} from './draft.ts'

export const gemini: Format = {
  source: 'gemini',
  agent: 'Gemini CLI',
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

const ofHead = ({ messages, ...head }: Json, memory: Memory): Draft[] => {
  titled(memory, head.summary, TITLE.program)
  memory.summary = summaryOr(head.summary) ?? memory.summary
  const begun = isHead(head) ? [runtime('session_meta', head, { key: '/head', at: head.startTime })] : []
  return [...begun, ...listOr(messages).flatMap((message) => (isObject(message) ? ofMessage(message, memory) : []))]
}

const ofLog = ({ messageId, message, timestamp, type }: Json, memory: Memory): Draft[] => {
  const text = String(message)
  titled(memory, text, TITLE.prompt)
  const draft = type === 'user' ? prompt(text) : runtime('log', { text, type })
  return [{ ...draft, key: `/${wordOf(messageId)}/${wordOf(timestamp)}`, at: timestamp }]
}

const ofMessage = (message: Json, memory: Memory): Draft[] => {
  const parts =
    message.type === 'user'
      ? ofUser(message, memory)
      : message.type === 'gemini'
        ? ofModel(message, memory)
        : /^(?:info|warning|error)$/.test(wordOf(message.type))
          ? [ofNotice(message)]
          : [{ ...unknown(message), key: 'record' }]
  const id = shortId(wordOf(message.id))
  return parts.map((draft) => ({ at: message.timestamp, ...draft, key: `/${id}/${draft.key}` }))
}

const ofUser = ({ content, displayContent }: Json, memory: Memory): Draft[] => {
  const text = textOfBlocks(displayContent ?? content)
  if (text === '') return []
  titled(memory, text, TITLE.prompt)
  return [{ ...prompt(text), key: 'text' }]
}

const ofModel = (message: Json, memory: Memory): Draft[] => {
  const model = (memory.model = nameOr(message.model) ?? memory.model)
  const by = { author: 'agent', authorName: 'Gemini CLI', originatingModel: model } as const
  const calls = listOr(message.toolCalls).map(objectOr)
  const thoughts = listOr(message.thoughts).map(objectOr)
  const text = textOfBlocks(message.content)
  const reasoning = thoughts.map(({ subject, description, timestamp }, i): Draft => ({
    ...by,
    key: `thought/${i}`,
    type: 'reasoning',
    model,
    content: { text: [textOr(subject), textOr(description)].filter(Boolean).join('\n\n') },
    ...(timestamp !== undefined && { at: timestamp }),
  }))
  // The loop ends with the message that calls no tool. One that does so later is written again, and the turn goes on.
  const response: Draft = {
    ...by,
    key: 'text',
    type: 'assistant_response',
    model,
    content: { text },
    ends: calls.length ? undefined : 'here',
  }
  return [...reasoning, ...(text === '' ? [] : [response]), ...calls.flatMap((call, i) => ofCall(call, i, by))]
}

type By = Pick<Draft, 'author' | 'authorName' | 'originatingModel'>

const ofCall = (call: Json, i: number, by: By): Draft[] => {
  const id = textOr(call.id) ?? String(i)
  const toolName = textOr(call.name) ?? 'tool'
  const at = call.timestamp === undefined ? {} : { at: call.timestamp }
  const asked: Draft = { ...by, ...at, key: `call/${id}`, type: 'tool_call', toolName, content: { arguments: argumentsOf(call.args) } }
  const text = textOfBlocks(call.result) || textOr(call.resultDisplay)
  const failed = call.status === 'error' || call.status === 'cancelled'
  if (text === undefined && !failed) return [asked]
  const content = responded(text ?? wordOf(call.status), exitCodeOf(text ?? ''), failed)
  return [asked, { ...by, ...at, key: `result/${id}`, type: 'tool_response', toolName, content }]
}

const exitCodeOf = (text: string) => {
  const last = /\nExit Code: (\d+)/.exec(text)?.[1]
  return exitCodeIn(text) ?? (last === undefined ? undefined : Number(last))
}

const ofNotice = ({ type, content }: Json): Draft => {
  const text = textOfBlocks(content)
  const stopped = type === 'error' || /^request cancelled/i.test(text)
  return runtime(wordOf(type), { text }, { key: 'text', ends: stopped ? 'here' : undefined })
}
