// The events of a turn as its page shows them: the text of each in full and in one line, and which events belong together.
import { LONGEST_EVENT, type Field, type TraceEvent, type TraceItem } from '../../../components/trace/trace-view.ts'
import { shortened } from '../../core/events/event-text.ts'
import { eventLine, fromBeforeTo, type EventKinds } from '../../core/events/event-kinds.ts'
import { eventTypeOf } from '../../core/events/event-types.ts'
import { mainArgument } from '../../core/events/tool-call.ts'
import { SHOWN, type TraceRow } from '../../stores/trace.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import type { TeamLookup } from '../session/team-lookup.ts'
import { asText } from '../../core/text/as-text.ts'
import { cutAt } from '../../core/text/cut-at.ts'

interface TraceContext {
  teams: TeamLookup
  kinds: EventKinds
  room: boolean
  /** The sequence of the event that ended the turn. */
  terminal: number | undefined
  /** The sequence of the event that the address names. */
  sought: number | undefined
}

/** Events in their order, a tool's response together with its call, and consecutive runtime notes as one item. */
export const traceItems = (rows: TraceRow[], setting: TraceContext): TraceItem[] => {
  const responses = responsesOf(rows)
  const events = new Map(rows.map((row) => [row.sequence, traceEvent(row, setting)]))
  for (const [call, response] of responses) {
    events.get(call)!.response = events.get(response)
    events.delete(response)
  }
  return groupNotes([...events.values()])
}

/** One event as its row shows it; `whole`: with all of its text, as far as a page can show it. */
export const traceEvent = (row: TraceRow, { teams, kinds, room, terminal, sought }: TraceContext, whole = false): TraceEvent => {
  const { sequence, turn, type, author, author_name, posted_by_team_id, tool_name, model, originating_model, characters, at, content } = row
  const kind = eventTypeOf(type, author)
  const open = sequence === sought
  const said = contentOf(row, whole || open ? LONGEST_EVENT : SHOWN)
  const who = author_name ?? undefined
  return {
    sequence,
    turn,
    at,
    kind,
    who,
    team: room ? (teams.team(posted_by_team_id) ?? (who ? teams.named(who) : undefined)) : undefined,
    model: model ?? originating_model ?? undefined,
    tool: tool_name ?? undefined,
    note: noteOf(row),
    icon: room && type === 'system' ? kinds.get(asText(content.event))?.icon : undefined,
    terminal: row.terminal === true || sequence === terminal,
    line: lineOf(row, said, kinds),
    ...said,
    exitCode: typeof content.exit_code === 'number' ? content.exit_code : undefined,
    failed: content.is_error === true || (typeof content.exit_code === 'number' && content.exit_code !== 0),
    characters,
    open,
    response: undefined,
  }
}

/** All of an event, as plain text. */
export const eventAsText = (row: TraceRow): string => {
  const { text, fields } = contentOf(row, Number.POSITIVE_INFINITY)
  return [text, ...fields.map(({ name, value }) => (name ? `${name}:\n${value}` : value))].filter((part) => part !== '').join('\n\n')
}

interface EventContent {
  text: string
  fields: Field[]
  cut: boolean
}

const contentOf = ({ type, content, characters }: TraceRow, most: number): EventContent => {
  const {
    text,
    event: _,
    exit_code: __,
    is_error: ___,
    arguments: given,
    data,
    record,
    ...rest
  } = type === 'system' ? fromBeforeTo(content) : content
  const named = [...fieldsOf(type === 'tool_call' ? given : undefined), ...fieldsOf(rest), ...fieldsOf(data), ...fieldsOf(record)]
  let left = most
  let cut = characters > Math.max(most, 2 * SHOWN) // the query cuts longer events
  const begun = (whole: string) => {
    const part = whole.length <= left ? whole : cutAt(whole, left)
    if (part.length < whole.length) cut = true
    left -= part.length
    return part
  }
  const shownText = typeof text === 'string' ? begun(text) : ''
  const fields = named.map(({ name, value, json }) => ({ name: cutAt(name, 80), value: begun(value), json }))
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

// What kind of note a program wrote. A room's events have their line instead.
const noteOf = ({ type, content: { event, text } }: TraceRow): string | undefined => {
  const named = type === 'runtime' || (type === 'system' && typeof text === 'string')
  if (!named || typeof event !== 'string') return undefined
  const words = event.slice(0, 60).replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const lineOf = ({ type, content, tool_name }: TraceRow, { text, fields }: EventContent, kinds: EventKinds): string => {
  if (type === 'tool_call') return firstLine(mainArgument(content.arguments))
  if (text !== '') return firstLine(text)
  if (type === 'system' && typeof content.event === 'string') return eventLine(kinds, content)
  return shortened(fields.map(({ name, value }) => `${name}: ${value}`).join(', ') || (tool_name ?? '')).text
}

const firstLine = (text: string): string => shortened(/\S.*/.exec(text)?.[0] ?? '').text

// Responses by their calls. Where the log names no call, a response goes to the only call of its tool that waits; while several wait, no
// response can be attributed until all of them are answered.
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

const groupNotes = (events: TraceEvent[]): TraceItem[] => {
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

/** Renders the texts of these items ahead. */
export const prepareTexts = async (items: TraceItem[]): Promise<void> => {
  for (const text of items.flatMap(textsOf)) await prepareMarkdown(text)
}

const textsOf = (item: TraceItem): string[] =>
  'notes' in item ? [] : [item.event, item.event.response].flatMap((event) => (event && event.kind !== 'tool_response' ? [event.text] : []))
