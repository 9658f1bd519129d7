// Reading by id: a session shows its turns, a turn its events, an event all of it, and each the ids around it.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { kindOf } from '../core/event-types.ts'
import type { Context } from '../operations/context.ts'
import {
  besides,
  eventsOfTurn,
  eventWhole,
  neighbours,
  quotedAt,
  runsOf,
  sessionsByIds,
  type EventRow,
  type SessionRow,
} from '../stores/history.ts'
import { eventName, named, sessionName, turnName, type Named } from './ids.ts'
import { briefly, factsOf } from './session-facts.ts'
import { said, tool } from './tool.ts'
import { contentText, headOf, idAt, isTerminal, quotedPlaces, quotesOf, shortOf, summaryOf, turnsOf, type Turn } from './turns.ts'

interface Opened {
  data: object
  target: number
}

/** Specification 2, "open": an event comes whole, whatever its size. 400 `invalid_id` for what is no id of ours, 404 for what is not
 *  there; within 200 to 1,500 ms, by what is opened. */
export const open = tool({
  name: 'open',
  summary:
    'Read a session, turn or event by an id that search_sessions, list_sessions or open gave: a session shows its turns, a turn its events, an event its whole content. Each names the ids around it.',
  input: z.strictObject({ id: said('id').describe('The id of a session, turn or event.') }),
  data: z.looseObject({ kind: z.enum(['session', 'turn', 'event']) }),
  refuses: ['invalid_id', 'not_found'],
  target: 200,
  deadlineMs: 4_500,
  async run(context, { id }) {
    const name = named(id)
    if (!name) return refuse('invalid_id', 'id is not a valid Moraine MCP ID', { field: 'id' })
    const opened = await openNamed(context, name)
    if (!opened) return refuse('not_found', `${name.kind} not found`, { id })
    return { request: { id }, data: { kind: name.kind, ...opened.data }, target: opened.target }
  },
})

const openNamed = async (context: Context, name: Named): Promise<Opened | undefined> => {
  if ('unknown' in name) return undefined
  if (name.kind === 'event') return openEvent(context, name.event)
  const [session] = await sessionsByIds(context.queries, [name.session])
  if (!session) return undefined
  return name.kind === 'session' ? openSession(context, session) : openTurn(context, session, name.turn)
}

const openSession = async ({ queries }: Context, session: SessionRow): Promise<Opened> => {
  const [runs, beside] = await Promise.all([runsOf(queries, [{ session_id: session.id, turn: null }]), neighbours(queries, session.id)])
  const turns = turnsOf(session, runs)
  const quotes = quotesOf(await quotedAt(queries, turns.flatMap(quotedPlaces)))
  const data = {
    session: {
      ...factsOf(session),
      turn_count: turns.length,
      event_count: turns.reduce((sum, { events }) => sum + events, 0),
    },
    turns: turns.map((turn) => {
      const head = headOf(turn, quotes)
      return { ...head, ...summaryOf(turn, quotes), open: { turn_id: head.id, terminal_event_id: head.terminal_event_id } }
    }),
    traversal: {
      previous_session_id: beside.previous && sessionName(beside.previous),
      next_session_id: beside.next && sessionName(beside.next),
    },
  }
  return { data, target: turns.length <= 100 ? 500 : 1_500 }
}

const openTurn = async ({ queries }: Context, session: SessionRow, ordinal: number): Promise<Opened | undefined> => {
  const wanted = { session_id: session.id, turn: ordinal }
  const [runs, events] = await Promise.all([runsOf(queries, [wanted]), eventsOfTurn(queries, wanted)])
  const [turn] = turnsOf(session, runs)
  if (!turn) return undefined
  const quotes = quotesOf(events)
  const { id, ...head } = headOf(turn, quotes)
  const data = {
    turn: { id, session_id: sessionName(session.id), ...head },
    session: briefly(session),
    summary: summaryOf(turn, quotes),
    events: events.map((event) => {
      const { text: summary, truncated } = shortOf(event)
      const { tool_name, model } = event
      return {
        id: eventName(event.id),
        ...eventFacts(turn, event),
        tool_name,
        model,
        summary,
        truncated,
      }
    }),
    traversal: {
      session_id: sessionName(session.id),
      ...turnsBeside(session, ordinal),
      first_event_id: idAt(turn, quotes, turn.first),
      last_event_id: idAt(turn, quotes, turn.last),
    },
  }
  return { data, target: 300 }
}

const openEvent = async ({ queries }: Context, id: string): Promise<Opened | undefined> => {
  const event = await eventWhole(queries, id)
  if (!event) return undefined
  const [[session], runs, beside] = await Promise.all([
    sessionsByIds(queries, [event.session_id]),
    runsOf(queries, [event]),
    besides(queries, event),
  ])
  const [turn] = session ? turnsOf(session, runs) : []
  if (!session || !turn) return undefined
  const { model, originating_model, tool_name } = event
  const [session_id, turn_id] = [sessionName(session.id), turnName(session.id, turn.ordinal)]
  const data = {
    event: {
      id: eventName(id),
      session_id,
      turn_id,
      ...eventFacts(turn, event),
      model,
      originating_model: originating_model ?? model,
      tool_name,
    },
    content: contentOf(event),
    session: briefly(session),
    turn: { id: turn_id, ordinal: turn.ordinal, completed: turn.terminal !== undefined },
    traversal: {
      session_id,
      turn_id,
      previous_event_id: beside.previous && eventName(beside.previous),
      next_event_id: beside.next && eventName(beside.next),
      ...turnsBeside(session, turn.ordinal),
    },
  }
  return { data, target: 200 }
}

const eventFacts = (turn: Turn, event: EventRow) => ({
  ordinal: event.ordinal,
  type: kindOf(event.type, event.author),
  timestamp: event.at,
  terminal: isTerminal(turn, event),
})

// Whole, with what is structured beside the text.
const contentOf = (event: EventRow) => {
  const { type, tool_name, content } = event
  const whole = { text: contentText(event), truncated: false }
  if (type === 'tool_call') return { format: 'tool_call', tool_name, arguments: content.arguments ?? null, ...whole }
  if (type === 'tool_response') return { format: 'tool_response', tool_name, exit_code: content.exit_code ?? null, ...whole }
  return { format: 'text', ...whole }
}

const turnsBeside = ({ id, turn: turns }: SessionRow, ordinal: number) => ({
  previous_turn_id: ordinal > 1 ? turnName(id, ordinal - 1) : null,
  next_turn_id: ordinal < turns ? turnName(id, ordinal + 1) : null,
})
