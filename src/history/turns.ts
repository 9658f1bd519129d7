// Derives a turn from its events: its prompt, its answer, its end, the tools it called. A turn is no row of the database.
import { eventTypeOf } from '../core/events/event-types.ts'
import { excerpt, shortened, textOf, type Short } from '../core/events/event-text.ts'
import type { HistoryRow, EventPosition, QuotedEvent, EventGroup, SessionRow } from '../stores/history.ts'
import { eventRef, turnRef } from './ids.ts'

export interface TurnFacts {
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
export const turnsOf = (session: SessionRow, runs: EventGroup[]): TurnFacts[] =>
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

// The event that ended the turn. In a transcript it is marked. In a room a turn is over when the next one has opened or the session is closed:
// then its last chat ended it, or, if nobody spoke, its last event, unless a prompt still waits for its answer. The rule for rooms holds for
// turns that were added to a transcript here, too.
const terminalOf = ({ status, turn: turns }: SessionRow, ordinal: number, runs: EventGroup[]): number | undefined => {
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

/** Where the events are that a turn's head and summary quote. */
export const quotedPlaces = ({ session: session_id, terminal, userInput, finalResponse }: TurnFacts): EventPosition[] =>
  [...new Set([terminal, userInput, finalResponse])].flatMap((sequence) => (sequence === undefined ? [] : { session_id, sequence }))

export type Quotes = Map<string, QuotedEvent>
const keyOf = ({ session_id, sequence }: EventPosition) => `${session_id}/${sequence}`
export const quotesOf = (rows: QuotedEvent[]): Quotes => new Map(rows.map((row) => [keyOf(row), row]))

const quoted = ({ session: session_id }: TurnFacts, quotes: Quotes, sequence: number | undefined) =>
  sequence === undefined ? undefined : quotes.get(keyOf({ session_id, sequence }))

/** The id of one of the turn's quoted events. */
export const idAt = (turn: TurnFacts, quotes: Quotes, sequence: number | undefined): string | null => {
  const row = quoted(turn, quotes, sequence)
  return row ? eventRef(row.id) : null
}

export const turnSummary = (turn: TurnFacts, quotes: Quotes) => ({
  user_input: quote(turn, quotes, turn.userInput),
  final_response: quote(turn, quotes, turn.finalResponse),
  tools_called: turn.tools,
  event_types: turn.kinds,
})

const quote = (turn: TurnFacts, quotes: Quotes, sequence: number | undefined) => {
  const row = quoted(turn, quotes, sequence)
  return row ? { event_id: eventRef(row.id), ...shortOf(row) } : null
}

export const turnHead = (turn: TurnFacts, quotes: Quotes) => ({
  id: turnRef(turn.session, turn.ordinal),
  ordinal: turn.ordinal,
  completed: turn.terminal !== undefined,
  terminal_event_id: idAt(turn, quotes, turn.terminal),
  event_count: turn.events,
  started_at: turn.startedAt,
  updated_at: turn.updatedAt,
})

export const contentText = ({ type, author, content, tool_name }: QuotedEvent) => textOf(eventTypeOf(type, author), content, tool_name)

/** A line of an event's text: around one of the terms, if any are given, else its beginning. */
export const shortOf = (row: QuotedEvent, terms: string[] = []): Short =>
  terms.length > 0 ? excerpt(contentText(row), terms, row.cut) : shortened(contentText(row), row.cut)

export const isTerminal = (turn: TurnFacts, { sequence, terminal }: HistoryRow) => terminal === true || sequence === turn.terminal
