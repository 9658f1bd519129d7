// The turns of a transcript: where each begins, and which event ends it. A turn is an input and what it set off.
import type { Draft } from './draft.ts'

/** What is known of the turn that is open, from batch to batch. */
export interface Turn {
  turn: number // 0 before the first event
  ordinal: number // of its newest event
  asked: boolean // it has its prompt
  worked: boolean // the agent has done something
  holder?: string | undefined // who chats
  answer?: string | undefined // the newest event, if it is an answer: perhaps the last
  terminal?: string | undefined // the event that ended it
}

export const NO_TURN: Turn = { turn: 0, ordinal: 0, asked: false, worked: false }

/** Gives the next event its place, and says by `mark` which events are terminal and which are no longer. */
export const nextInTurn = (open: Turn, id: string, draft: Draft, mark: (id: string, terminal: boolean) => void): Turn => {
  const turn = opensTurn(open, draft) ? opened(open, mark) : { ...open }
  turn.ordinal++
  if (draft.type === 'user_input') turn.asked = true
  if (draft.type === 'chat') turn.holder = holderOf(draft)
  if (WORK.has(draft.type) && !draft.aside) {
    if (turn.terminal && draft.type !== 'tool_response') {
      mark(turn.terminal, false) // it went on after all; a response that comes late does not make it so
      turn.terminal = undefined
    }
    turn.worked = true
    turn.answer = draft.type === 'assistant_response' || draft.type === 'chat' ? id : undefined
  }
  const end = draft.aside ? undefined : endOf(turn, id, draft.ends)
  if (end === undefined) return turn
  if (turn.terminal && turn.terminal !== end) mark(turn.terminal, false)
  mark(end, true)
  return { ...turn, terminal: end }
}

const WORK = new Set<Draft['type']>(['reasoning', 'tool_call', 'tool_response', 'assistant_response', 'chat'])

const holderOf = ({ teamId, author, authorName }: Draft) => teamId ?? `${author}:${authorName}`

// What stands before a prompt, with no work done yet, belongs to that prompt's turn.
const opensTurn = (open: Turn, draft: Draft) => {
  if (open.turn === 0) return true
  if (draft.type === 'user_input') return open.asked || open.worked || open.terminal !== undefined
  if (draft.type === 'chat') return open.holder !== undefined && open.holder !== holderOf(draft)
  return draft.opens === true && open.terminal !== undefined
}

// Nothing more was asked of the turn before: its answer, if that came last, was the last one.
const opened = ({ turn, answer, terminal }: Turn, mark: (id: string, terminal: boolean) => void): Turn => {
  if (answer && !terminal) mark(answer, true)
  return { ...NO_TURN, turn: turn + 1 }
}

const endOf = ({ answer, terminal, asked, worked }: Turn, id: string, ends: Draft['ends']) => {
  if (ends === 'here') return id
  if (ends === 'before') return terminal ?? answer ?? (asked || worked ? id : undefined)
  return ends === 'idle' && !worked ? id : undefined
}
