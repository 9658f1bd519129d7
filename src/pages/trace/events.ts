// The events of a turn as its page shows them: what each says, in parts and in one line, and which belong together.
import { eventLine } from '../../../components/session/event-words.ts'
import { LONGEST, type Field, type TraceEvent, type TraceItem } from '../../../components/trace/trace-view.ts'
import { shortened } from '../../core/event-text.ts'
import { kindOf } from '../../core/event-types.ts'
import { SHOWN, type TraceRow } from '../../stores/trace.ts'
import type { Cast } from '../session/feed.tsx'

interface Setting {
  cast: Cast
  room: boolean
  /** The event that ended the turn. */
  terminal: number | undefined
  /** The event that was asked for. */
  sought: number | undefined
}

/** Events in their order: a tool's response with its call, and what programs note for themselves gathered. */
export const traceItems = (rows: TraceRow[], setting: Setting): TraceItem[] => {
  const responses = responsesOf(rows)
  const events = new Map(rows.map((row) => [row.sequence, traceEvent(row, setting)]))
  for (const [call, response] of responses) {
    events.get(call)!.response = events.get(response)
    events.delete(response)
  }
  return gathered([...events.values()])
}

/** One event; `whole`: with all that it says, as far as a page can show it. */
export const traceEvent = (row: TraceRow, { cast, room, terminal, sought }: Setting, whole = false): TraceEvent => {
  const { sequence, turn, type, author, author_name, posted_by_team_id, tool_name, model, originating_model, characters, at, content } = row
  const kind = kindOf(type, author)
  const open = sequence === sought
  const parts = partsOf(row, whole || open ? LONGEST : SHOWN)
  const who = author_name ?? undefined
  return {
    sequence,
    turn,
    at,
    kind,
    who,
    team: room ? (cast.team(posted_by_team_id) ?? (who ? cast.named(who) : undefined)) : undefined,
    model: model ?? originating_model ?? undefined,
    tool: tool_name ?? undefined,
    note: noteOf(row),
    event: room && type === 'system' && typeof content.event === 'string' ? content.event : undefined,
    terminal: row.terminal === true || sequence === terminal,
    line: lineOf(row, parts),
    ...parts,
    exitCode: typeof content.exit_code === 'number' ? content.exit_code : undefined,
    failed: content.is_error === true || (typeof content.exit_code === 'number' && content.exit_code !== 0),
    characters,
    open,
    response: undefined,
  }
}

/** All that an event says, as plain text. */
export const plainText = (row: TraceRow): string => {
  const { text, fields } = partsOf(row, Number.POSITIVE_INFINITY)
  return [text, ...fields.map(({ name, value }) => (name ? `${name}:\n${value}` : value))].filter((part) => part !== '').join('\n\n')
}

interface Parts {
  text: string
  fields: Field[]
  cut: boolean
}

const partsOf = ({ type, content, characters }: TraceRow, most: number): Parts => {
  const { text, event: _, exit_code: __, is_error: ___, arguments: given, data, record, ...rest } = content
  const named = [...fieldsOf(type === 'tool_call' ? given : undefined), ...fieldsOf(rest), ...fieldsOf(data), ...fieldsOf(record)]
  let left = most
  let cut = characters > Math.max(most, 2 * SHOWN) // the database may have cut it already
  const begun = (whole: string) => {
    const part = whole.length <= left ? whole : whole.slice(0, left).toWellFormed()
    if (part.length < whole.length) cut = true
    left -= part.length
    return part
  }
  const shownText = typeof text === 'string' ? begun(text) : ''
  const fields = named.map(({ name, value, json }) => ({ name: name.slice(0, 80), value: begun(value), json }))
  return { text: shownText, fields: fields.filter(({ value }) => value !== ''), cut }
}

const fieldsOf = (value: unknown): Field[] => {
  if (value === undefined || value === null) return []
  if (typeof value !== 'object' || Array.isArray(value)) return [fieldOf('', value)]
  return Object.entries(value).map(([name, part]) => fieldOf(name, part))
}

const fieldOf = (name: string, value: unknown): Field => {
  const json = typeof value !== 'string'
  return { name, value: json ? JSON.stringify(value, null, 2) : value, json }
}

// An event of a room is told by its line.
const noteOf = ({ type, content: { event, text } }: TraceRow): string | undefined => {
  const named = type === 'runtime' || (type === 'system' && typeof text === 'string')
  if (!named || typeof event !== 'string') return undefined
  const words = event.slice(0, 60).replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const lineOf = ({ type, content, tool_name }: TraceRow, { text, fields }: Parts): string => {
  if (type === 'tool_call') return firstLine(telling(content.arguments))
  if (text !== '') return firstLine(text)
  if (type === 'system' && typeof content.event === 'string') return eventLine(content)
  return shortened(fields.map(({ name, value }) => `${name}: ${value}`).join(', ') || (tool_name ?? '')).text
}

const firstLine = (text: string): string => shortened(/\S.*/.exec(text)?.[0] ?? '').text

const TELLING = ['command', 'cmd', 'pattern', 'query', 'file_path', 'notebook_path', 'path', 'url', 'description', 'prompt', 'input']

/** The argument that tells most of a call, in the order above; else the first that is a text. */
export const telling = (given: unknown): string => {
  if (typeof given !== 'object' || given === null) return String(given ?? '')
  const named = given as Record<string, unknown>
  const name = TELLING.find((candidate) => textIn(named[candidate]) !== '') ?? Object.keys(named).find((key) => textIn(named[key]) !== '')
  return name === undefined ? '' : textIn(named[name])
}

// Codex calls a shell with a list: what the shell is given is the command.
const textIn = (value: unknown): string => {
  if (typeof value === 'string') return value.trim()
  if (!Array.isArray(value) || !value.every((part) => typeof part === 'string')) return ''
  return /^(?:\S*\/)?(?:ba|z|da)?sh$/.test(value[0] ?? '') ? value.at(-1)!.trim() : value.join(' ')
}

// By id where the log tells it. Otherwise only where there is no doubt: the one call of that tool that waits. Of several at the same time
// nobody knows whose a response is, until all of them have theirs.
const responsesOf = (rows: TraceRow[]): Map<number, number> => {
  const pairs = new Map<number, number>()
  const calls = new Map(rows.flatMap((row) => (row.type === 'tool_call' ? [[row.id, row.sequence]] : [])))
  const waiting = new Map<string, { calls: number[]; open: number }>()
  for (const { type, tool_name, sequence, reply_to } of rows) {
    const tool = tool_name ?? ''
    const own = waiting.get(tool) ?? { calls: [], open: 0 }
    if (type === 'tool_call') waiting.set(tool, { calls: [...own.calls, sequence], open: own.open + 1 })
    if (type !== 'tool_response') continue
    const call = calls.get(reply_to ?? '') ?? (own.calls.length === 1 ? own.calls[0] : undefined)
    if (call !== undefined && !pairs.has(call)) pairs.set(call, sequence)
    if (own.open <= 1) waiting.delete(tool)
    else waiting.set(tool, { calls: own.calls, open: own.open - 1 })
  }
  return pairs
}

const gathered = (events: TraceEvent[]): TraceItem[] => {
  const items: TraceItem[] = []
  for (const event of events) {
    const last = items.at(-1)
    const quiet = (event.kind === 'runtime' || event.kind === 'unknown') && !event.terminal
    if (!quiet) items.push({ event })
    else if (last && 'notes' in last) last.notes.push(event)
    else items.push({ notes: [event] })
  }
  return items
}
