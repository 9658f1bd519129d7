// What a turn is, from its events: when it ended and with what, who asked, which tools it called.
import { kindOf } from '../core/event-types.ts'
import { excerpt, shortened, textOf, type Short } from '../core/event-text.ts'
import type { EventRow, Place, Quoted, Run, SessionRow } from '../stores/history.ts'
import { eventName, turnName } from './ids.ts'

export interface Turn {
  session: string
  ordinal: number
  events: number
  startedAt: string
  updatedAt: string
  first: number // sequences, as all below
  last: number
  terminal: number | undefined
  userInput: number | undefined
  finalResponse: number | undefined
  tools: string[]
  kinds: string[]
}

/** The turns of one session from the runs of their events. */
export const turnsOf = (session: SessionRow, runs: Run[]): Turn[] =>
  [...Map.groupBy(runs, ({ turn }) => turn)].map(([ordinal, own]) => {
    const terminal = terminalOf(session, ordinal, own)
    const ending = own.find(({ last, last_chat, terminal: marked }) => [last, last_chat, marked].includes(terminal ?? null))
    return {
      session: session.id,
      ordinal,
      events: own.reduce((sum, { events }) => sum + events, 0),
      startedAt: own.map(({ started_at }) => started_at).reduce((a, b) => (a < b ? a : b)),
      updatedAt: own.map(({ updated_at }) => updated_at).reduce((a, b) => (a > b ? a : b)),
      first: Math.min(...own.map(({ first }) => first)),
      last: Math.max(...own.map(({ last }) => last)),
      terminal,
      userInput: own.find(({ kind }) => kind === 'user_input')?.first,
      finalResponse: terminal !== undefined && ending?.kind === 'assistant_response' ? terminal : undefined,
      tools: [...new Set(own.flatMap(({ tool_name }) => tool_name ?? []))],
      kinds: [...new Set(own.map(({ kind }) => kind))],
    }
  })

// Marked by an event of its own (a task's, a trace's), or it follows from the room: another turn has opened or the session is closed.
// Then its last chat ended it; where nobody spoke, what came last, unless a prompt still waits for its answer. Of a transcript this holds
// for the turns of those who went on with it here.
const terminalOf = ({ status, turn: turns }: SessionRow, ordinal: number, runs: Run[]): number | undefined => {
  const marked = greatest(runs.map(({ terminal }) => terminal))
  const closed = status === 'closed' && ordinal >= turns
  if (marked !== undefined || !runs.some(({ here }) => here) || (ordinal >= turns && !closed)) return marked
  const spoken = greatest(runs.map(({ last_chat }) => last_chat))
  return spoken ?? (closed || runs.every(({ kind }) => kind === 'system') ? greatest(runs.map(({ last }) => last)) : undefined)
}

const greatest = (numbers: (number | null)[]): number | undefined => {
  const known = numbers.filter((number) => number !== null)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** The events that a turn's head and summary name and quote. */
export const quotedPlaces = ({ session: session_id, terminal, userInput, finalResponse }: Turn): Place[] =>
  [...new Set([terminal, userInput, finalResponse])].flatMap((sequence) => (sequence === undefined ? [] : { session_id, sequence }))

export type Quotes = Map<string, Quoted>
const keyOf = ({ session_id, sequence }: Place) => `${session_id}/${sequence}`
export const quotesOf = (rows: Quoted[]): Quotes => new Map(rows.map((row) => [keyOf(row), row]))

const quoted = ({ session: session_id }: Turn, quotes: Quotes, sequence: number | undefined) =>
  sequence === undefined ? undefined : quotes.get(keyOf({ session_id, sequence }))

/** The id of one of the turn's quoted events. */
export const idAt = (turn: Turn, quotes: Quotes, sequence: number | undefined): string | null => {
  const row = quoted(turn, quotes, sequence)
  return row ? eventName(row.id) : null
}

export const summaryOf = (turn: Turn, quotes: Quotes) => ({
  user_input: quote(turn, quotes, turn.userInput),
  final_response: quote(turn, quotes, turn.finalResponse),
  tools_called: turn.tools,
  event_types: turn.kinds,
})

const quote = (turn: Turn, quotes: Quotes, sequence: number | undefined) => {
  const row = quoted(turn, quotes, sequence)
  return row ? { event_id: eventName(row.id), ...shortOf(row) } : null
}

export const headOf = (turn: Turn, quotes: Quotes) => ({
  id: turnName(turn.session, turn.ordinal),
  ordinal: turn.ordinal,
  completed: turn.terminal !== undefined,
  terminal_event_id: idAt(turn, quotes, turn.terminal),
  event_count: turn.events,
  started_at: turn.startedAt,
  updated_at: turn.updatedAt,
})

export const contentText = ({ type, author, content, tool_name }: Quoted) => textOf(kindOf(type, author), content, tool_name)

/** A line of an event; around one of the terms, if any are given. */
export const shortOf = (row: Quoted, terms: string[] = []): Short =>
  terms.length > 0 ? excerpt(contentText(row), terms, row.cut) : shortened(contentText(row), row.cut)

export const isTerminal = (turn: Turn, { sequence, terminal }: EventRow) => terminal === true || sequence === turn.terminal
