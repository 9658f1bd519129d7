// The turns of a session as the list of its trace page shows them.
import type { TurnItem } from '../../../components/trace/trace-view.ts'
import { shortened, textOf } from '../../core/events/event-text.ts'
import { toPlainText } from '../../markdown/plain-text.ts'
import { eventTypeOf } from '../../core/events/event-types.ts'
import { turnsOf, type TurnFacts } from '../../history/turns.ts'
import { eventsAt, type AuthoredRow, type HistoryRow, type EventGroup, type SessionRow } from '../../stores/history.ts'
import { roster } from '../../stores/members.ts'
import { eventGroupsBetween } from '../../stores/trace.ts'
import type { Queries } from '../../../db/database.ts'
import { teamLookup, type TeamLookup } from '../session/team-lookup.ts'

export interface ListedTurn {
  item: TurnItem
  /** The sequence of the event that ended the turn. */
  terminal: number | undefined
}

/** The page of `size` turns that a turn is on. */
export const pageOfTurns = (ordinal: number, size: number, total: number) => {
  const from = Math.floor((Math.max(1, ordinal) - 1) / size) * size + 1
  return { from, to: Math.min(from + size - 1, total) }
}

const QUOTED = 600 // characters in which the first line is searched for

/** The turns between two ordinals, both included. */
export const turnItems = async (queries: Queries, session: SessionRow, from: number, to: number): Promise<ListedTurn[]> => {
  const runs = to < from ? [] : await eventGroupsBetween(queries, session.id, from, to)
  const byTurn = Map.groupBy(runs, ({ turn }) => turn)
  const turns = turnsOf(session, runs).map((turn) => ({ turn, begins: beginningOf(session, turn, byTurn.get(turn.ordinal)!) }))
  const places = turns.flatMap(({ begins }) => (begins === undefined ? [] : [{ session_id: session.id, sequence: begins }]))
  const quotes = new Map((await eventsAt(queries, places, QUOTED)).map((row) => [row.sequence, row]))
  const lookup = teamLookup(session.source === 'room' && turns.length > 0 ? await roster(queries, session.id) : [])
  return turns.map(({ turn, begins }) => ({ item: itemOf(session, turn, quotes.get(begins ?? 0), lookup), terminal: turn.terminal }))
}

// The event that stands for a turn in the list: the prompt, or in a room the first message.
const beginningOf = ({ source }: SessionRow, { userInput, first }: TurnFacts, runs: EventGroup[]): number | undefined =>
  source === 'room' ? (runs.find(({ kind }) => kind === 'user_input' || kind === 'assistant_response')?.first ?? first) : userInput

const itemOf = (session: SessionRow, turn: TurnFacts, quote: AuthoredRow | undefined, teams: TeamLookup): TurnItem => ({
  ordinal: turn.ordinal,
  line: quote && lineOf(quote),
  team: quote && session.source === 'room' ? speakerOf(quote, teams) : undefined,
  at: turn.startedAt,
  updatedAt: turn.updatedAt,
  events: turn.events,
  tools: turn.tools,
  lacks: session.source === 'room' ? undefined : missing(session, turn),
})

const speakerOf = ({ type, author_name, posted_by_team_id }: AuthoredRow, teams: TeamLookup) =>
  type === 'system' ? undefined : (teams.team(posted_by_team_id) ?? (author_name === null ? undefined : teams.named(author_name)))

// The first line that is more than markup: a text may begin with a code fence.
const lineOf = ({ type, author, content, tool_name }: HistoryRow): string => {
  const lines = textOf(eventTypeOf(type, author), content, tool_name).trimStart().slice(0, QUOTED).split('\n')
  for (const line of lines) {
    const plain = toPlainText(line)
    if (plain !== '') return shortened(plain).text
  }
  return shortened(lines[0]!).text
}

// A turn without a prompt lacks nothing.
const missing = ({ turn: turns }: SessionRow, { ordinal, userInput, terminal, finalResponse }: TurnFacts): string | undefined => {
  if (userInput === undefined || finalResponse !== undefined) return undefined
  return terminal === undefined && ordinal === turns ? 'not ended' : 'no answer'
}
