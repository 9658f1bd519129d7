// What a reader makes of a record: events of the log that have no number, turn or id yet.
import type { Content } from '../core/events/event-text.ts'
import type { Author, LogType } from '../core/events/event-types.ts'
import { isObject, textOr, type Json } from './json.ts'

export interface TraceEvent {
  /** Tells the event from all others of the transcript, for formats in which a line number does not. Begins with `/`. */
  key?: string | undefined
  type: LogType
  author: Author
  authorName?: string | undefined
  teamId?: string | undefined
  replyTo?: string | undefined // the key of another event
  to?: string[] | undefined
  expectsReply?: boolean | undefined
  task?: string | undefined // of which it is a part: whatever tells the task from the transcript's others
  content: Content
  at?: unknown
  toolName?: string | undefined
  model?: string | undefined
  originatingModel?: string | undefined
  /** Begins a turn if the one before is over: for records that a program writes before it shows the prompt. */
  opens?: boolean
  /** The turn is over: with this event (`here`); with the answer before it, if there is one (`before`); or with this event, if the prompt
   *  gave the agent nothing to do (`idle`). */
  ends?: 'here' | 'before' | 'idle' | undefined
  /** Another agent's work beside the turn: it neither answers the prompt nor shows that the turn goes on. */
  aside?: boolean | undefined
}

/** A record that no reader understands, kept whole. */
export const unknown = (record: unknown): TraceEvent => ({
  type: 'unknown',
  author: 'agent',
  content: { record },
  at: isObject(record) ? record.timestamp : undefined,
})

/** What a program records about its own state. */
export const runtime = (event: string, { text, ...data }: Json = {}, more: Partial<TraceEvent> = {}): TraceEvent => ({
  type: 'runtime',
  author: 'system',
  content: { event, ...(textOr(text) && { text }), ...(Object.keys(data).length > 0 && { data }) },
  ...more,
})

/** What was put before the model beside the prompts: instructions, surroundings, the output of a person's own commands. */
export const context = (text: string, event = 'context'): TraceEvent => ({ type: 'system', author: 'system', content: { event, text } })

export const prompt = (text: string): TraceEvent => ({ type: 'user_input', author: 'person', authorName: 'User', content: { text } })
