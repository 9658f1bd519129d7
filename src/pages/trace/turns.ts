// The turns of a session as its list shows them.
import type { TurnItem } from '../../../components/trace/trace-view.ts'
import { shortened, textOf } from '../../core/event-text.ts'
import { glance } from '../../markdown/plain-text.ts'
import { kindOf } from '../../core/event-types.ts'
import { turnsOf, type Turn } from '../../history/turns.ts'
import { eventsAt, type AuthoredRow, type EventRow, type Run, type SessionRow } from '../../stores/history.ts'
import { roster } from '../../stores/members.ts'
import { runsBetween } from '../../stores/trace.ts'
import { castOf, type Cast, type Queries } from '../session/feed.tsx'

export interface ListedTurn {
  item: TurnItem
  /** The event that ended it. */
  terminal: number | undefined
}

/** The page of `size` turns on which one is. */
export const pageOfTurns = (ordinal: number, size: number, total: number) => {
  const from = Math.floor((Math.max(1, ordinal) - 1) / size) * size + 1
  return { from, to: Math.min(from + size - 1, total) }
}

const QUOTED = 600 // characters of which the first line is looked for

/** The turns from one to another. */
export const turnItems = async (queries: Queries, session: SessionRow, from: number, to: number): Promise<ListedTurn[]> => {
  const runs = to < from ? [] : await runsBetween(queries, session.id, from, to)
  const byTurn = Map.groupBy(runs, ({ turn }) => turn)
  const turns = turnsOf(session, runs).map((turn) => ({ turn, begins: beginningOf(session, turn, byTurn.get(turn.ordinal)!) }))
  const places = turns.flatMap(({ begins }) => (begins === undefined ? [] : [{ session_id: session.id, sequence: begins }]))
  const quotes = new Map((await eventsAt(queries, places, QUOTED)).map((row) => [row.sequence, row]))
  const cast = castOf(session.source === 'room' && turns.length > 0 ? await roster(queries, session.id) : [])
  return turns.map(({ turn, begins }) => ({ item: itemOf(session, turn, quotes.get(begins ?? 0), cast), terminal: turn.terminal }))
}

// What a turn is known by: its prompt, and in a room what was said first.
const beginningOf = ({ source }: SessionRow, { userInput, first }: Turn, runs: Run[]): number | undefined =>
  source === 'room' ? (runs.find(({ kind }) => kind === 'user_input' || kind === 'assistant_response')?.first ?? first) : userInput

const itemOf = (session: SessionRow, turn: Turn, quote: AuthoredRow | undefined, cast: Cast): TurnItem => ({
  ordinal: turn.ordinal,
  line: quote && lineOf(quote),
  team: quote && session.source === 'room' ? speakerOf(quote, cast) : undefined,
  at: turn.startedAt,
  updatedAt: turn.updatedAt,
  events: turn.events,
  tools: turn.tools,
  lacks: session.source === 'room' ? undefined : missing(session, turn),
})

const speakerOf = ({ type, author_name, posted_by_team_id }: AuthoredRow, cast: Cast) =>
  type === 'system' ? undefined : (cast.team(posted_by_team_id) ?? (author_name === null ? undefined : cast.named(author_name)))

// The first line of which a glance leaves something: a text may begin with a code fence.
const lineOf = ({ type, author, content, tool_name }: EventRow): string => {
  const lines = textOf(kindOf(type, author), content, tool_name).trimStart().slice(0, QUOTED).split('\n')
  for (const line of lines) {
    const seen = glance(line)
    if (seen !== '') return shortened(seen).text
  }
  return shortened(lines[0]!).text
}

// Turns in which nothing was asked lack nothing.
const missing = ({ turn: turns }: SessionRow, { ordinal, userInput, terminal, finalResponse }: Turn): string | undefined => {
  if (userInput === undefined || finalResponse !== undefined) return undefined
  return terminal === undefined && ordinal === turns ? 'not ended' : 'no answer'
}
