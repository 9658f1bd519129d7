// Reading by id: a session with its turns, a turn with its events, an event with its whole content, and each with the ids around it.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { eventTypeOf } from '../core/events/event-types.ts'
import { pause } from '../core/runtime/pause.ts'
import type { Context } from '../operations/context.ts'
import type { Queries } from '../../db/database.ts'
import {
  eventsBeside,
  eventsOfTurn,
  historyEvent,
  sessionsBeside,
  quotedEvents,
  eventGroupsOf,
  sessionsByIds,
  type HistoryRow,
  type SessionRow,
} from '../stores/history.ts'
import { eventRef, parseRef, sessionRef, turnRef, type Ref } from './ids.ts'
import { sessionBrief, factsOf } from './session-facts.ts'
import { nonEmptyText, tool } from './tool.ts'
import { contentText, turnHead, idAt, isTerminal, quotedPlaces, quotesOf, shortOf, turnSummary, turnsOf, type TurnFacts } from './turns.ts'

interface OpenResult {
  data: object
  target: number
}

/** An event comes whole, whatever its size. 400 `invalid_id` for a text that is no id, 404 for an id of nothing; due within 200 to 1,500 ms, by
 *  what is opened. */
export const open = tool({
  name: 'open',
  summary:
    'Read a session, turn or event by an id that search_sessions, list_sessions or open gave: a session shows its turns, a turn its events, an event its whole content. Each names the ids around it.',
  searchHint: 'read a found event, turn or session',
  input: z.strictObject({ id: nonEmptyText('id').describe('The id of a session, turn or event.') }),
  data: z.looseObject({ kind: z.enum(['session', 'turn', 'event']) }),
  refuses: ['invalid_id', 'not_found'],
  target: 200,
  deadlineMs: 4_500,
  async run(context, { id }) {
    const name = parseRef(id)
    if (!name) return refuse('invalid_id', 'id is not a valid Moraine MCP ID', { field: 'id' })
    const opened = await openNamed(context, name)
    if (!opened) return refuse('not_found', `${name.kind} not found`, { id })
    return { request: { id }, data: { kind: name.kind, ...opened.data }, target: opened.target }
  },
})

const openNamed = async (context: Context, name: Ref): Promise<OpenResult | undefined> => {
  if ('unknown' in name) return undefined
  if (name.kind === 'event') return openEvent(context, name.event)
  const [session] = await sessionsByIds(context.queries, [name.session])
  if (!session) return undefined
  return name.kind === 'session' ? openSession(context, session) : openTurn(context, session, name.turn)
}

const openSession = async ({ queries }: Context, session: SessionRow): Promise<OpenResult> => {
  const [runs, beside] = await Promise.all([
    eventGroupsOf(queries, [{ session_id: session.id, turn: null }]),
    sessionsBeside(queries, session.id),
  ])
  const turns = turnsOf(session, runs)
  const data = {
    session: {
      ...factsOf(session),
      turn_count: turns.length,
      event_count: turns.reduce((sum, { events }) => sum + events, 0),
    },
    turns: await openableTurns(queries, turns),
    traversal: {
      previous_session_id: beside.previous && sessionRef(beside.previous),
      next_session_id: beside.next && sessionRef(beside.next),
    },
  }
  return { data, target: turns.length <= 100 ? 500 : 1_500 }
}

const TURNS_AT_ONCE = 500

// A session may have tens of thousands of turns: between some of them other calls have their turn.
const openableTurns = async (queries: Queries, turns: TurnFacts[]) => {
  const made: object[] = []
  while (made.length < turns.length) {
    if (made.length > 0) await pause()
    const some = turns.slice(made.length, made.length + TURNS_AT_ONCE)
    const quotes = quotesOf(await quotedEvents(queries, some.flatMap(quotedPlaces)))
    for (const turn of some) {
      const head = turnHead(turn, quotes)
      made.push({ ...head, ...turnSummary(turn, quotes), open: { turn_id: head.id, terminal_event_id: head.terminal_event_id } })
    }
  }
  return made
}

const openTurn = async ({ queries }: Context, session: SessionRow, ordinal: number): Promise<OpenResult | undefined> => {
  const position = { session_id: session.id, turn: ordinal }
  const [runs, events] = await Promise.all([eventGroupsOf(queries, [position]), eventsOfTurn(queries, position)])
  const [turn] = turnsOf(session, runs)
  if (!turn) return undefined
  const quotes = quotesOf(events)
  const { id, ...head } = turnHead(turn, quotes)
  const data = {
    turn: { id, session_id: sessionRef(session.id), ...head },
    session: sessionBrief(session),
    summary: turnSummary(turn, quotes),
    events: events.map((event) => {
      const { text: summary, truncated } = shortOf(event)
      const { tool_name, model } = event
      return {
        id: eventRef(event.id),
        ...eventFacts(turn, event),
        tool_name,
        model,
        summary,
        truncated,
      }
    }),
    traversal: {
      session_id: sessionRef(session.id),
      ...turnsBeside(session, ordinal),
      first_event_id: idAt(turn, quotes, turn.first),
      last_event_id: idAt(turn, quotes, turn.last),
    },
  }
  return { data, target: 300 }
}

const openEvent = async ({ queries }: Context, id: string): Promise<OpenResult | undefined> => {
  const event = await historyEvent(queries, id)
  if (!event) return undefined
  const [[session], runs, beside] = await Promise.all([
    sessionsByIds(queries, [event.session_id]),
    eventGroupsOf(queries, [event]),
    eventsBeside(queries, event),
  ])
  const [turn] = session ? turnsOf(session, runs) : []
  if (!session || !turn) return undefined
  const { model, originating_model, tool_name } = event
  const [session_id, turn_id] = [sessionRef(session.id), turnRef(session.id, turn.ordinal)]
  const data = {
    event: {
      id: eventRef(id),
      session_id,
      turn_id,
      ...eventFacts(turn, event),
      model,
      originating_model: originating_model ?? model,
      tool_name,
    },
    content: contentOf(event),
    session: sessionBrief(session),
    turn: { id: turn_id, ordinal: turn.ordinal, completed: turn.terminal !== undefined },
    traversal: {
      session_id,
      turn_id,
      previous_event_id: beside.previous && eventRef(beside.previous),
      next_event_id: beside.next && eventRef(beside.next),
      ...turnsBeside(session, turn.ordinal),
    },
  }
  return { data, target: 200 }
}

const eventFacts = (turn: TurnFacts, event: HistoryRow) => ({
  ordinal: event.ordinal,
  type: eventTypeOf(event.type, event.author),
  timestamp: event.at,
  terminal: isTerminal(turn, event),
})

// The whole text, and beside it the parts of a tool call or response.
const contentOf = (event: HistoryRow) => {
  const { type, tool_name, content } = event
  const whole = { text: contentText(event), truncated: false }
  if (type === 'tool_call') return { format: 'tool_call', tool_name, arguments: content.arguments ?? null, ...whole }
  if (type === 'tool_response') return { format: 'tool_response', tool_name, exit_code: content.exit_code ?? null, ...whole }
  return { format: 'text', ...whole }
}

const turnsBeside = ({ id, turn: turns }: SessionRow, ordinal: number) => ({
  previous_turn_id: ordinal > 1 ? turnRef(id, ordinal - 1) : null,
  next_turn_id: ordinal < turns ? turnRef(id, ordinal + 1) : null,
})
