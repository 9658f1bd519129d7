// What a task leaves in its session's log. All of it belongs to the turn that the task's prompt opened, whatever else is said meanwhile, so
// it is numbered here and not as posts are.
import type { Context } from '../../operations/context.ts'
import { uuid7, uuidOf } from '../../core/ids.ts'
import { utf8Bytes } from '../../core/text/text.ts'
import { LONGEST_TOOL_NAME } from '../../transcripts/json.ts'
import { storable, storableText } from '../../transcripts/storable.ts'
import { insertNumbered, knownEvents, type NumberedEvent } from '../../stores/numbered-events.ts'
import { eventOrdinalsEnd } from '../../stores/control/turns.ts'
import { setTask, type Task } from '../../stores/control/tasks.ts'
import { isConversation } from '../../stores/events.ts'
import { advanceSession, type Session } from '../../stores/sessions.ts'

/** An event of a task that has no number yet. */
export interface TaskEvent {
  /** The same event has the same id however often it is told. */
  id: string
  type: NumberedEvent['type']
  author: 'agent' | 'system' | 'team'
  authorName?: string | undefined
  teamId?: string | undefined
  content: Record<string, unknown>
  replyTo?: string | undefined
  toolName?: string | undefined
  model?: string | undefined
  /** Ends the turn. */
  terminal?: boolean
}

export const newEventId = uuid7

/** The fields that locate a task's turn. */
type Turn = Pick<Task, 'id' | 'turn' | 'turnEvents' | 'startSequence'>

/** The event id for a runner's key within a task. It is always the same, so that an event that is sent again adds nothing. */
export const eventIdIn = (taskId: string, key: string): string => uuidOf(`task\n${taskId}\n${key}`)

/** Writes events of a task behind the log's end; those that are there already add nothing. The caller has locked the session and then the
 *  task. Returns the log's end. */
export const appendToTask = async (context: Context, session: Session, task: Turn, reported: readonly TaskEvent[]): Promise<number> => {
  const known = await knownEvents(
    context.queries,
    reported.map(({ id }) => id),
  )
  const fresh = reported.filter(({ id }) => !known.has(id) && known.add(id))
  if (fresh.length === 0) return session.lastSequence
  const before = await eventsInTurn(context, session, task)
  const at = laterOf(context.services.clock.nowText(), session.lastEventAt)
  const events = fresh.map((event, i) => numbered(event, { task, sequence: session.lastSequence + 1 + i, ordinal: before + 1 + i, at }))
  await insertNumbered(context.queries, session.id, events)
  const last = events.at(-1)!
  const isOpen = session.turn === task.turn
  const moved = {
    lastSequence: last.sequence,
    lastConversationSequence: events.findLast(({ type }) => isConversation(type))?.sequence ?? session.lastConversationSequence,
    turn: session.turn,
    turnEvents: isOpen ? last.ordinal : session.turnEvents,
    lastEventAt: at,
  }
  await advanceSession(context.queries, session.id, moved)
  if (!isOpen) await setTask(context.queries, task.id, { turnEvents: last.ordinal })
  Object.assign(session, moved) // what else this transaction writes goes on from here
  if (!isOpen) task.turnEvents = last.ordinal
  context.grew(session.id, last.sequence, events.length)
  return last.sequence
}

// The number of events in the task's turn, which goes on after the log has opened another one. Until then the session's row has it; from
// then on the task's row does, once the events that fell into the turn in between have been counted.
const eventsInTurn = async ({ queries }: Context, session: Session, task: Turn): Promise<number> => {
  if (session.turn === task.turn) return session.turnEvents
  return task.turnEvents ?? (await eventOrdinalsEnd(queries, session.id, task.turn, task.startSequence))
}

interface LogPlace {
  task: Pick<Task, 'id' | 'turn'>
  sequence: number
  ordinal: number
  at: string
}

// An event at its place in the log.
const numbered = (event: TaskEvent, { task, sequence, ordinal, at }: LogPlace): NumberedEvent => {
  const content = JSON.stringify(storable(event.content))
  return {
    sequence,
    id: event.id,
    turn: task.turn,
    ordinal,
    type: event.type,
    author: event.author,
    authorName: event.authorName,
    teamId: event.teamId,
    content,
    size: utf8Bytes(content),
    replyTo: event.replyTo,
    to: undefined,
    expectsReply: undefined,
    terminal: event.terminal || undefined,
    toolName: event.toolName && storableText(event.toolName.slice(0, LONGEST_TOOL_NAME)),
    model: event.model && storableText(event.model.slice(0, LONGEST_TOOL_NAME)),
    originatingModel: event.model && storableText(event.model.slice(0, LONGEST_TOOL_NAME)),
    sourceLine: undefined,
    taskId: task.id,
    at,
  }
}

// No event is older than the one before it.
const laterOf = (now: string, before: string | null): string => (before !== null && before > now ? before : now)
