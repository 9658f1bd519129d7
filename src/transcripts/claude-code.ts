// Claude Code: ~/.claude/projects/<project>/<session>.jsonl, one record a line. A message of the model is spread over several lines.
import { AGENT_NAMES } from '../core/agent-names.ts'
import { containsText, exitCodeIn, mediaMark, textOfBlocks, toolResponse } from './blocks.ts'
import type { Format } from './format.ts'
import { isObject, nameOr, objectOr, shortId, textOr, wordOf, type Json } from './json.ts'
import { TITLE, rememberCall, suggestTitle, summaryOr, takeCall, type Memory } from './memory.ts'
import { context, prompt, runtime, unknown, type TraceEvent } from './trace-event.ts'

export const claudeCode: Format = {
  source: 'claude-code',
  agent: AGENT_NAMES['claude-code'],
  claims: (record) =>
    typeof record.type === 'string' &&
    record.payload === undefined &&
    (typeof record.sessionId === 'string' || (record.type === 'summary' && typeof record.leafUuid === 'string')),
  identity: ({ records, name }) => {
    const first = records.find(({ sessionId }) => textOr(sessionId))
    // The file is named after its session. One that forks or continues another may begin with that one's records, under that one's id.
    const session = /^[0-9a-f-]{36}(?=\.jsonl$)/.exec(name)?.[0] ?? textOr(first?.sessionId)
    // A subagent's records have the session id of the agent that called it.
    return session && [session, ...(first?.isSidechain === true && textOr(first.agentId) ? [first.agentId] : [])].join('/')
  },
  read: (record, memory) => {
    if (!isObject(record)) return [unknown(record)]
    memory.sidechain ??= typeof record.isSidechain === 'boolean' ? record.isSidechain : undefined
    const aside = record.isSidechain === true && memory.sidechain !== true
    if (typeof record.uuid === 'string') memory.leaves = [...(memory.leaves ?? []).slice(1 - LEAVES_KEPT), shortId(record.uuid)]
    return read(record, memory, aside).map((event) => ({ at: record.timestamp, ...event, ...(aside && { aside }) }))
  },
}

const LEAVES_KEPT = 20

const read = (record: Json, memory: Memory, aside: boolean): TraceEvent[] => {
  const { type } = record
  if (type === 'user') return ofUser(record, memory, aside)
  if (type === 'assistant') return ofAssistant(record, memory, aside)
  if (type === 'system') return [ofSystem(record)]
  if (type === 'custom-title') suggestTitle(memory, record.customTitle, TITLE.person)
  if (type === 'ai-title') suggestTitle(memory, record.aiTitle, TITLE.program)
  if (type === 'summary') return [ofSummary(record, memory)]
  if (type === 'attachment') return [ofAttachment(objectOr(record.attachment), memory, aside)]
  return BOOKKEEPING.has(wordOf(type)) ? [runtime(wordOf(type).replaceAll('-', '_'), ownFields(record))] : [unknown(record)]
}

// A file may begin with summaries of other sessions. A summary is this session's if it names one of the records before it.
const ofSummary = ({ summary, leafUuid }: Json, memory: Memory): TraceEvent => {
  if (typeof leafUuid === 'string' && memory.leaves?.includes(shortId(leafUuid))) {
    suggestTitle(memory, summary, TITLE.summary)
    memory.summary = summaryOr(summary)
  }
  return runtime('summary', { text: summary })
}

const BOOKKEEPING = new Set(
  'progress queue-operation file-history-snapshot permission-mode mode agent-name agent-setting agent-color custom-title ai-title last-prompt frame-link pr-link started result relocated worktree-state bridge-session atis-latch tag api-request api-request-shape api-request-blob tools-used cost-state'.split(
    ' ',
  ),
)

// Fields that every line repeats: who and where.
const REPEATED = new Set(
  'type subtype uuid parentUuid logicalParentUuid sessionId session_id timestamp cwd version gitBranch userType isSidechain isMeta entrypoint slug sessionKind'.split(
    ' ',
  ),
)
const ownFields = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).filter(([key, value]) => !REPEATED.has(key) && value !== null && value !== undefined))

const ofUser = (record: Json, memory: Memory, aside: boolean): TraceEvent[] => {
  const message = objectOr(record.message)
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  if (!Array.isArray(blocks) || !blocks.every(isObject)) return [unknown(record)]
  const answers = blocks.filter(({ type }) => type === 'tool_result')
  // `toolUseResult` is kept with the first result alone: repeated with each of 10,000, 500 KB of it became 5 GB.
  const results = answers.map((block, i) => ofResult(block, i === 0 ? objectOr(record.toolUseResult) : {}, memory))
  const text = textOfBlocks(blocks.filter(({ type }) => type !== 'tool_result'))
  return text === '' ? results : [...results, ofText(text, record, memory, aside)]
}

// A slash command stands among the prompts as tags. One that Claude Code answers itself (/model, /clear) begins with its name; one that
// expands to a prompt, as a skill does, begins with its message. The prompt that it expands to follows as a meta record.
const COMMAND = /^\s*<command-(name|message)>/
const LOCAL = /^\s*<(?:local-command|bash)-(?:stdout|stderr)>/
const INJECTED =
  /^\s*(?:Caveat: The messages below|<(?:local-command-caveat|bash-input|system-reminder|task-notification|user-memory-input)>)/
const INTERRUPTED = /^\s*\[Request interrupted by user/

const ofText = (text: string, record: Json, memory: Memory, aside: boolean): TraceEvent => {
  if (record.isCompactSummary === true) return { type: 'compaction', author: 'agent', content: { text } }
  if (INTERRUPTED.test(text)) return runtime('interrupted', { text }, { ends: 'here' })
  if (LOCAL.test(text)) return { ...context(text, 'command_output'), ends: 'idle' }
  if (record.isMeta === true || INJECTED.test(text)) return context(text)
  if (aside) return runtime('subagent_prompt', { text })
  const command = COMMAND.exec(text)?.[1]
  const typed = command === undefined ? text : commandOf(text)
  if (command === 'name') return runtime('command', { text: typed })
  suggestTitle(memory, typed, TITLE.prompt)
  return prompt(typed)
}

// `/name arguments`, as a person typed it.
const commandOf = (text: string) => {
  const part = (name: string) => between(text, `<command-${name}>`, `</command-${name}>`).trim()
  return `${part('name') || part('message')} ${part('args')}`.trim() || text
}

// By indexOf: a regular expression looks for the end again from each beginning, which took 22 s for 1 MB of beginnings.
const between = (text: string, beginning: string, end: string) => {
  const from = text.indexOf(beginning) + beginning.length
  const to = from < beginning.length ? -1 : text.indexOf(end, from)
  return to < 0 ? '' : text.slice(from, to)
}

const ofResult = (block: Json, result: Json, memory: Memory): TraceEvent => {
  const text = [textOfBlocks(block.content), textOr(result.stdout), textOr(result.stderr)].reduce<string>(
    (all, part) => (part === undefined || containsText(all, part.trim()) ? all : `${all}${all && '\n'}${part}`),
    '',
  )
  const exitCode = [result.exitCode, result.exit_code].find((code) => typeof code === 'number')
  return {
    type: 'tool_response',
    author: 'agent',
    toolName: takeCall(memory, block.tool_use_id),
    originatingModel: memory.model,
    content: toolResponse(text, exitCode ?? exitCodeIn(text), block.is_error === true),
  }
}

const ofAssistant = (record: Json, memory: Memory, aside: boolean): TraceEvent[] => {
  const message = objectOr(record.message)
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  if (!Array.isArray(blocks)) return [unknown(record)]
  if (record.isApiErrorMessage === true) return [runtime('api_error', { text: textOfBlocks(blocks) }, { ends: 'here' })]
  const model = message.model === '<synthetic>' ? undefined : nameOr(message.model)
  if (!aside) memory.model = model ?? memory.model
  const events = blocks.flatMap((block) => ofBlock(objectOr(block), model, memory))
  const last = events.at(-1)
  const stopped = typeof message.stop_reason === 'string' && !GOES_ON.has(message.stop_reason)
  if (last?.type === 'assistant_response' && (stopped || record.isAbortedMidStream === true)) last.ends = 'here'
  return events
}

// Reasons to stop after which the turn goes on.
const GOES_ON = new Set(['tool_use', 'pause_turn'])

const ofBlock = (block: Json, model: string | undefined, memory: Memory): TraceEvent[] => {
  const by = { author: 'agent', authorName: claudeCode.agent, originatingModel: model } as const
  if (block.type === 'text') return block.text ? [{ ...by, type: 'assistant_response', model, content: { text: wordOf(block.text) } }] : []
  if (block.type === 'thinking')
    return block.thinking ? [{ ...by, type: 'reasoning', model, content: { text: wordOf(block.thinking) } }] : []
  if (block.type === 'redacted_thinking') return []
  if (block.type === 'tool_use' || block.type === 'server_tool_use' || block.type === 'mcp_tool_use') {
    const toolName = textOr(block.name) ?? 'tool'
    rememberCall(memory, block.id, toolName)
    return [{ ...by, type: 'tool_call', toolName, content: { arguments: block.input ?? {} } }]
  }
  if (typeof block.type === 'string' && block.type.endsWith('_tool_result')) {
    return [{ ...by, type: 'tool_response', toolName: takeCall(memory, block.tool_use_id), content: { text: textOfBlocks(block.content) } }]
  }
  return [{ ...unknown(block), ...by }]
}

const ENDED = new Set(['turn_duration', 'stop_hook_summary'])

const ofSystem = (record: Json): TraceEvent => {
  const subtype = textOr(record.subtype) ?? 'system'
  const { content, ...data } = ownFields(record)
  const text = textOr(content)
  if (subtype === 'compact_boundary') return { type: 'compaction', author: 'system', content: { text: text ?? '', ...data } }
  if (subtype === 'local_command') return context(text ?? '', 'command_output')
  const ends = ENDED.has(subtype) ? 'before' : subtype === 'api_refusal' ? 'here' : undefined
  return runtime(subtype, { text, ...data }, { ends })
}

const ofAttachment = ({ type, ...attachment }: Json, memory: Memory, aside: boolean): TraceEvent => {
  if (type === 'queued_command') return ofQueued(attachment, memory, aside)
  const field = ['content', 'prompt', 'snippet'].find((name) => textOr(attachment[name]))
  const { [field ?? '']: text, ...data } = attachment
  return runtime(`attachment_${wordOf(type ?? 'unknown')}`, { ...withoutBytes(data), text })
}

// A picture or PDF that is attached is what the tool Read answers: its bytes in base64, beside its type.
const withoutBytes = (attachment: Json): Json => {
  const content = objectOr(attachment.content)
  const file = objectOr(content.file)
  if (typeof file.base64 !== 'string') return attachment
  return {
    ...attachment,
    content: { ...content, file: { ...file, base64: mediaMark(textOr(file.type) ?? wordOf(content.type), file.base64) } },
  }
}

// What came while the model worked, and went into its turn: no other record has it.
const ofQueued = ({ prompt: blocks, ...data }: Json, memory: Memory, aside: boolean): TraceEvent => {
  const text = textOfBlocks(blocks)
  return isTyped(data) && text !== '' ? ofText(text, {}, memory, aside) : runtime('attachment_queued_command', { ...data, text })
}

// Other agents' messages have an origin too, the ends of background tasks a mode; older versions wrote no origin.
const isTyped = ({ commandMode, isMeta, origin }: Json) =>
  commandMode === 'prompt' && isMeta !== true && (origin === undefined || objectOr(origin).kind === 'human')
