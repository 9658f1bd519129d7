// Divides a transcript into turns: a turn is a prompt and what it set off, and may have an event that ends it.
import type { TraceEvent } from './trace-event.ts'

/** The open turn. Stored with the import, so its fields keep their names. */
export interface OpenTurn {
  turn: number // 0 before the first event
  ordinal: number // of its newest event
  asked: boolean // it has its prompt
  worked: boolean // the agent has done something
  holder?: string | undefined // who chats
  answer?: string | undefined // the newest event, if it is an answer: it ends the turn if nothing follows
  terminal?: string | undefined // the event that ended it
}

export const NO_TURN: OpenTurn = { turn: 0, ordinal: 0, asked: false, worked: false }

/** The turn after this event, which is at its `turn` and `ordinal`. Calls `mark` for events that have become terminal or no longer are. */
export const nextInTurn = (open: OpenTurn, id: string, event: TraceEvent, mark: (id: string, terminal: boolean) => void): OpenTurn => {
  const turn = opensTurn(open, event) ? nextTurn(open, mark) : { ...open }
  turn.ordinal++
  if (event.type === 'user_input') turn.asked = true
  if (event.type === 'chat') turn.holder = holderOf(event)
  if (WORK.has(event.type) && !event.aside) {
    if (turn.terminal && event.type !== 'tool_response') {
      mark(turn.terminal, false) // the turn goes on after all; only a late tool response does not show that
      turn.terminal = undefined
    }
    turn.worked = true
    turn.answer = event.type === 'assistant_response' || event.type === 'chat' ? id : undefined
  }
  const end = event.aside ? undefined : endOf(turn, id, event.ends)
  if (end === undefined) return turn
  if (turn.terminal && turn.terminal !== end) mark(turn.terminal, false)
  mark(end, true)
  return { ...turn, terminal: end }
}

const WORK = new Set<TraceEvent['type']>(['reasoning', 'tool_call', 'tool_response', 'assistant_response', 'chat'])

const holderOf = ({ teamId, author, authorName }: TraceEvent) => teamId ?? `${author}:${authorName}`

// Events before a prompt, with no work done yet, belong to that prompt's turn.
const opensTurn = (open: OpenTurn, event: TraceEvent) => {
  if (open.turn === 0) return true
  if (event.type === 'user_input') return open.asked || open.worked || open.terminal !== undefined
  if (event.type === 'chat') return open.holder !== undefined && open.holder !== holderOf(event)
  return event.opens === true && open.terminal !== undefined
}

// The turn before is over: if an answer was its newest event, that was its last.
const nextTurn = ({ turn, answer, terminal }: OpenTurn, mark: (id: string, terminal: boolean) => void): OpenTurn => {
  if (answer && !terminal) mark(answer, true)
  return { ...NO_TURN, turn: turn + 1 }
}

const endOf = ({ answer, terminal, asked, worked }: OpenTurn, id: string, ends: TraceEvent['ends']) => {
  if (ends === 'here') return id
  if (ends === 'before') return terminal ?? answer ?? (asked || worked ? id : undefined)
  return ends === 'idle' && asked && !worked ? id : undefined
}
