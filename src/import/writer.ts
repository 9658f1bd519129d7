// Writes a transcript's events into the log: a batch is one transaction under the session's lock, and records how far the transcript was read.
import type { Queries } from '../../db/database.ts'
import { isAway } from '../../db/errors.ts'
import { refuse } from '../core/errors.ts'
import { uuidOf } from '../core/ids.ts'
import { cutAt } from '../core/text/cut-at.ts'
import { utf8Bytes } from '../core/text/text.ts'
import type { Services } from '../process/services.ts'
import { pgArray } from '../../db/arrays.ts'
import { createDocument } from '../stores/documents.ts'
import { isConversation } from '../stores/events.ts'
import { importOf, saveImport, setTerminal } from '../stores/imports.ts'
import { insertNumbered, knownEvents, type NumberedEvent } from '../stores/numbered-events.ts'
import { lockText } from '../../db/advisory-locks.ts'
import { advanceSession, insertSession, lockSession, type Session } from '../stores/sessions.ts'
import { refillSession } from '../stores/purge.ts'
import type { Format } from '../transcripts/format.ts'
import { LONGEST_TOOL_NAME } from '../transcripts/json.ts'
import { newMemory, type Memory } from '../transcripts/memory.ts'
import type { TraceEvent } from '../transcripts/trace-event.ts'
import { readTime, type Recognised } from '../transcripts/recognise.ts'
import type { LinePosition } from '../transcripts/lines.ts'
import { storable, storableText } from '../transcripts/storable.ts'
import { nextInTurn, NO_TURN, type OpenTurn } from '../transcripts/turns.ts'

/** How far a transcript was imported, between two batches and between two imports. */
export interface ImportProgress extends LinePosition {
  tail: string
  memory: Memory
  turn: OpenTurn
  batches: number
  /** The log may have events of what is read: the transcript was imported before, and is read from its beginning again. */
  again: boolean
  /** The newest event of the conversation in the log, until it has been read again, where each transcript has the whole conversation:
   *  what is new belongs behind it. */
  awaited?: string | undefined
}

/** An event with its id, fit to be stored. */
export interface IdentifiedEvent extends TraceEvent {
  key: string
  id: string
  json: string
}

/** Refuses to go on once the sign-in or key that the import came with has ended. */
export type RefuseEnded = (queries: Queries) => Promise<void>

const BATCH_MAY_TAKE_MS = 30_000

/** The session that a transcript is imported into: the one that it was imported into before, if there is one. */
export const sessionIdOf = async (queries: Queries, { format, identity, formerIdentity }: Recognised): Promise<string> => {
  const id = hashedId(format, identity)
  if (formerIdentity === undefined || (await importOf(queries, id))) return id
  const former = hashedId(format, formerIdentity)
  return (await importOf(queries, former)) ? former : id
}

// Ids are hashes of the transcript's identity and the event's key, so that they are the same at every import.
const hashedId = ({ source }: Format, identity: string) => uuidOf(`parley\n${source}\n${identity}`)
const eventIdOf = (sessionId: string, key: string) => uuidOf(`${sessionId}\n${key}`)
// A task's id is hashed, too, so that no transcript names a task of this server.
const taskIdOf = (sessionId: string, task: string) => uuidOf(`${sessionId}\ntask ${task}`)

export const identified = (sessionId: string, event: TraceEvent, key: string): IdentifiedEvent => ({
  ...event,
  key,
  id: eventIdOf(sessionId, key),
  json: JSON.stringify(storable(event.content)),
})

export const importProgressOf = async (queries: Queries, sessionId: string): Promise<ImportProgress> => {
  const row = await importOf(queries, sessionId)
  if (!row) return { bytes: 0, lines: 0, open: false, tail: '', memory: newMemory(), turn: NO_TURN, batches: 0, again: false }
  const { bytes, lines, tail, batches, state } = row
  const { open, memory, turn, again } = state as unknown as Pick<ImportProgress, 'open' | 'memory' | 'turn'> & { again?: boolean }
  // A document leaves no place from which its lines go on: Gemini CLI may have written both.
  return { bytes, lines, tail, batches, open, memory, turn, again: again || bytes === 0 }
}

/** Writes one transcript's events, batch after batch. */
export class Writer {
  added = 0

  constructor(
    readonly services: Services,
    readonly sessionId: string,
    readonly recognised: Recognised,
    readonly parent: string | undefined,
    readonly refuseEnded: RefuseEnded,
  ) {}

  /** Writes the events that are not in the log yet, and saves that the transcript has been read up to `read`. */
  async write(batch: IdentifiedEvent[], read: ImportProgress): Promise<ImportProgress> {
    const { database, grewHere, outcomeUnknown } = this.services
    const written = await database
      .transaction((tx) => this.#within(tx, batch, read), BATCH_MAY_TAKE_MS)
      .catch((error) => {
        if (isAway(error)) outcomeUnknown()
        throw error
      })
    this.added += written.events
    if (written.events > 0) grewHere(this.sessionId, written.newest, written.events)
    return { ...read, turn: written.turn, awaited: written.awaited, batches: read.batches + 1 }
  }

  async #within(tx: Queries, batch: IdentifiedEvent[], read: ImportProgress) {
    if (read.batches === 0) await lockText(tx, this.sessionId) // there may be no row to lock yet
    const found = await lockSession(tx, this.sessionId)
    await this.refuseEnded(tx)
    const session = found?.purgedAt === null ? found : await this.#begin(tx, batch, read.memory, found)
    const added = await unknownOf(tx, batch, read.again)
    const awaited = this.#awaitedAfter(batch, added, read.awaited)
    const { events, turn, on, off } = numbered(session, added, read.turn)
    const { bytes, lines, tail, batches, open, memory, again } = read
    const mine = await saveImport(tx, {
      sessionId: this.sessionId,
      bytes,
      lines,
      tail,
      batches,
      state: { open, turn, memory: storable(memory), again },
    })
    if (!mine) refuse('conflict', 'This transcript is being imported right now. Try again when that is done; nothing is imported twice.')
    if (events.length > 0) await insertNumbered(tx, this.sessionId, events)
    if (on.length > 0) await setTerminal(tx, this.sessionId, on, true)
    if (off.length > 0) await setTerminal(tx, this.sessionId, off, false)
    const last = events.at(-1)
    await advanceSession(tx, this.sessionId, {
      ...(this.#names(session, events.length) && this.#named(read.memory)),
      lastSequence: last?.sequence ?? session.lastSequence,
      lastConversationSequence: events.findLast(({ type }) => isConversation(type))?.sequence ?? session.lastConversationSequence,
      turn: last?.turn ?? session.turn,
      turnEvents: last?.ordinal ?? session.turnEvents,
      turnHolder: session.turnHolder ?? 'transcript',
      lastEventAt: last?.at ?? session.lastEventAt,
      closedAt: closedAtWith(session, last?.at),
    })
    return { events: events.length, newest: last?.sequence ?? session.lastSequence, turn, awaited }
  }

  // The log only grows: what an export without its trace has left out ahead of a prompt would stand in the newest turn, with its time.
  #awaitedAfter(batch: IdentifiedEvent[], added: IdentifiedEvent[], awaited: string | undefined) {
    const place = batch.findIndex(({ id }) => id === awaited)
    const ahead = place < 0 ? batch : batch.slice(0, place)
    const first = added.find(({ key }) => key.startsWith('/'))
    if (awaited !== undefined && first !== undefined && ahead.includes(first))
      refuse(
        'conflict',
        `This export has events that belong ahead of some imported earlier, from an export without its trace. Nothing was added. To have them all, purge the earlier one on the server's machine (bun run purge ${this.sessionId}), then import this one again.`,
        { session_id: this.sessionId },
      )
    return place < 0 ? awaited : undefined
  }

  // Unless a person has named it since. An older export, which adds nothing, does not take its title back.
  #names = ({ updatedAt, createdAt }: Session, added: number) => updatedAt === createdAt && (added > 0 || !this.recognised.format.ownIds)

  #named = (memory: Memory) => ({
    title: titleOf(this.recognised.format, this.recognised.identity, memory),
    description: storableText(memory.summary ?? ''),
  })

  // The session is closed: nobody posts into a transcript unless a person reopens it. One that was purged may have kept its row.
  async #begin(tx: Queries, batch: IdentifiedEvent[], memory: Memory, purged: Session | undefined): Promise<Session> {
    const { format, identity } = this.recognised
    const [title, source] = [titleOf(format, identity, memory), format.source]
    const session = purged ? await refillSession(tx, purged.id, { title, source }) : await this.#insert(tx, batch, { title, source })
    await createDocument(tx, this.sessionId, '', { teamId: undefined, name: format.agent })
    return session
  }

  #insert(tx: Queries, batch: IdentifiedEvent[], named: { title: string; source: string }): Promise<Session> {
    const { startedAt } = this.recognised
    const at = startedAt ?? batch.map((event) => readTime(event.at)).find((time) => time !== undefined) ?? this.services.clock.nowText()
    return insertSession(tx, {
      id: this.sessionId,
      ...named,
      description: '',
      status: 'closed',
      closedAt: at,
      createdAt: at,
      updatedAt: at,
      expectedTeams: 0,
      seriesId: this.sessionId,
    })
  }
}

// A transcript ends with its last event, unless a person has reopened it, or concluded it later.
const closedAtWith = ({ closedAt }: Session, last: string | undefined): string | null =>
  closedAt !== null && last !== undefined && Date.parse(last) > Date.parse(closedAt) ? last : closedAt

const titleOf = ({ agent }: Format, identity: string, { title }: Memory) => storableText(title?.text ?? `${agent} ${cutAt(identity, 40)}`)

// Events keyed by their line are new, since each line is read once, unless it is read again. Events with keys of their own may have been
// read before.
const unknownOf = async (tx: Queries, batch: IdentifiedEvent[], again: boolean) => {
  const ids = batch.flatMap(({ id, key }) => (again || key.startsWith('/') ? [id] : []))
  if (ids.length === 0) return batch
  const known = await knownEvents(tx, ids)
  return batch.filter(({ id }) => !known.has(id) && known.add(id)) // nor twice in one batch
}

// Numbers, turns and times: under the lock, so that they go on from what is in the log.
const numbered = (session: Session, batch: IdentifiedEvent[], before: OpenTurn) => {
  const terminal = new Map<string, boolean>()
  let turn: OpenTurn = { ...before, turn: session.turn, ordinal: session.turnEvents }
  let [sequence, at] = [session.lastSequence, session.lastEventAt ?? session.createdAt]
  const events = batch.map((event): NumberedEvent => {
    turn = nextInTurn(turn, event.id, event, (id, is) => terminal.set(id, is))
    const own = readTime(event.at) ?? at
    at = own > at ? own : at // times never run against the sequence
    return { ...columnsOf(event, session.id), sequence: ++sequence, turn: turn.turn, ordinal: turn.ordinal, terminal: undefined, at }
  })
  for (const event of events) {
    event.terminal = terminal.get(event.id) || undefined
    terminal.delete(event.id)
  }
  const marked = [...terminal] // events of earlier batches
  return { events, turn, on: idsOf(marked, true), off: idsOf(marked, false) }
}

const idsOf = (marked: [string, boolean][], wanted: boolean) => marked.flatMap(([id, is]) => (is === wanted ? [id] : []))

const columnsOf = (
  { id, key, json, type, author, authorName, teamId, replyTo, to, expectsReply, task, toolName, model, originatingModel }: IdentifiedEvent,
  session: string,
) => ({
  id,
  type,
  author,
  authorName: named(authorName),
  teamId,
  content: json,
  size: utf8Bytes(json),
  replyTo: replyTo && eventIdOf(session, replyTo),
  to: to && pgArray(to),
  expectsReply,
  taskId: task && taskIdOf(session, task),
  toolName: named(toolName),
  model: named(model),
  originatingModel: named(originatingModel),
  sourceLine: storableText(key),
})

const named = (name: string | undefined) => name && storableText(cutAt(name, LONGEST_TOOL_NAME))
