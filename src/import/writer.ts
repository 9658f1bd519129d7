// Puts a transcript's events into the log, a batch in one transaction under the session's lock, and with it how far it was read.
import { createHash } from 'node:crypto'
import type { Queries } from '../../db/database.ts'
import { refuse } from '../core/errors.ts'
import { utf8Bytes } from '../core/text.ts'
import type { Services } from '../process/services.ts'
import { pgArray } from '../../db/arrays.ts'
import { createDocument } from '../stores/documents.ts'
import { isConversation } from '../stores/events.ts'
import { importOf, insertImported, knownEvents, saveImport, setTerminal, type Imported } from '../stores/imports.ts'
import { lockText } from '../../db/advisory-locks.ts'
import { advanceSession, insertSession, lockSession, type Session } from '../stores/sessions.ts'
import { LONGEST_NAME, type Draft, type Format, type Memory } from './draft.ts'
import { readTime, type Recognised } from './formats.ts'
import type { From } from './lines.ts'
import { storable, storableText } from './storable.ts'
import { nextInTurn, NO_TURN, type Turn } from './turns.ts'

/** Where a transcript stands, between two batches and between two imports. */
export interface Standing extends From {
  tail: string
  memory: Memory
  turn: Turn
  batches: number
}

/** A draft with its identity, fit to be stored. */
export interface Ready extends Draft {
  key: string
  id: string
  json: string
}

const BATCH_MAY_TAKE_MS = 30_000

/** Ids follow from whose transcript it is and from the line, so that they are the same at every import. */
export const sessionIdOf = ({ format, identity }: Pick<Recognised, 'format' | 'identity'>) =>
  uuidFrom(`parley\n${format.source}\n${identity}`)
const eventIdOf = (sessionId: string, key: string) => uuidFrom(`${sessionId}\n${key}`)

// Version 8: a UUID made by a rule of one's own.
const uuidFrom = (text: string) => {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const readyOf = (sessionId: string, draft: Draft, key: string): Ready => ({
  ...draft,
  key,
  id: eventIdOf(sessionId, key),
  json: JSON.stringify(storable(draft.content)),
})

export const standingOf = async (queries: Queries, sessionId: string): Promise<Standing> => {
  const row = await importOf(queries, sessionId)
  if (!row) return { bytes: 0, lines: 0, open: false, tail: '', memory: noMemory(), turn: NO_TURN, batches: 0 }
  const { bytes, lines, tail, batches, state } = row
  return { bytes, lines, tail, batches, ...(state as unknown as Pick<Standing, 'open' | 'memory' | 'turn'>) }
}

export const noMemory = (): Memory => ({ calls: {}, exits: {} })

/** Writes one transcript's events, batch after batch, each with how far it was read in the same transaction. */
export class Writer {
  added = 0

  constructor(
    readonly services: Services,
    readonly sessionId: string,
    readonly recognised: Recognised,
    readonly parent: string | undefined,
  ) {}

  /** Writes those events that are not in the log yet, and notes that the transcript has been read up to `read`. */
  async write(drafts: Ready[], read: Standing): Promise<Standing> {
    const { database, grewHere } = this.services
    const written = await database.transaction((tx) => this.#within(tx, drafts, read), BATCH_MAY_TAKE_MS)
    this.added += written.events
    if (written.events > 0) grewHere(this.sessionId, written.newest, written.events)
    return { ...read, turn: written.turn, batches: read.batches + 1 }
  }

  async #within(tx: Queries, drafts: Ready[], read: Standing) {
    if (read.batches === 0) await lockText(tx, this.sessionId) // there may be no row to lock yet
    const session = (await lockSession(tx, this.sessionId)) ?? (await this.#begin(tx, drafts, read.memory))
    const { events, turn, on, off } = numbered(session, await unknownOf(tx, drafts), read.turn)
    const { bytes, lines, tail, batches, open, memory } = read
    const mine = await saveImport(tx, {
      sessionId: this.sessionId,
      bytes,
      lines,
      tail,
      batches,
      state: { open, turn, memory: storable(memory) },
    })
    if (!mine) refuse('conflict', 'This transcript is being imported right now. Try again when that is done; nothing is imported twice.')
    if (events.length > 0) await insertImported(tx, this.sessionId, events)
    if (on.length > 0) await setTerminal(tx, this.sessionId, on, true)
    if (off.length > 0) await setTerminal(tx, this.sessionId, off, false)
    const last = events.at(-1)
    await advanceSession(tx, this.sessionId, {
      ...(session.updatedAt === session.createdAt && this.#named(read.memory)), // unless a person has named it since
      lastSequence: last?.sequence ?? session.lastSequence,
      lastConversationSequence: events.findLast(({ type }) => isConversation(type))?.sequence ?? session.lastConversationSequence,
      turn: last?.turn ?? session.turn,
      turnEvents: last?.ordinal ?? session.turnEvents,
      turnHolder: session.turnHolder ?? 'transcript',
      lastEventAt: last?.at ?? session.lastEventAt,
    })
    return { events: events.length, newest: last?.sequence ?? session.lastSequence, turn }
  }

  #named = (memory: Memory) => ({
    title: titleOf(this.recognised.format, this.recognised.identity, memory),
    description: storableText(memory.summary ?? ''),
  })

  // A transcript is over as far as rooms go: nobody posts into it unless a person reopens it.
  async #begin(tx: Queries, drafts: Ready[], memory: Memory): Promise<Session> {
    const { format, identity, startedAt } = this.recognised
    const at = startedAt ?? drafts.map((draft) => readTime(draft.at)).find((time) => time !== undefined) ?? this.services.clock.nowText()
    const session = await insertSession(tx, {
      id: this.sessionId,
      title: titleOf(format, identity, memory),
      description: '',
      status: 'closed',
      closedAt: at,
      createdAt: at,
      updatedAt: at,
      expectedTeams: 0,
      seriesId: this.sessionId,
      source: format.source,
    })
    await createDocument(tx, this.sessionId, '', { teamId: undefined, name: format.agent })
    return session
  }
}

const titleOf = ({ agent }: Format, identity: string, { title }: Memory) => storableText(title?.text ?? `${agent} ${identity.slice(0, 40)}`)

// An event that is known by its line is new: lines are read once. One that is known by itself may have been read before.
const unknownOf = async (tx: Queries, drafts: Ready[]) => {
  const ids = drafts.flatMap(({ id, key }) => (key.startsWith('/') ? [id] : []))
  if (ids.length === 0) return drafts
  const known = await knownEvents(tx, ids)
  return drafts.filter(({ id }) => !known.has(id) && known.add(id)) // nor twice in one batch
}

// Numbers, turns and times: under the lock, so that they go on from what is in the log.
const numbered = (session: Session, drafts: Ready[], before: Turn) => {
  const terminal = new Map<string, boolean>()
  let turn: Turn = { ...before, turn: session.turn, ordinal: session.turnEvents }
  let [sequence, at] = [session.lastSequence, session.lastEventAt ?? session.createdAt]
  const events = drafts.map((draft): Imported => {
    turn = nextInTurn(turn, draft.id, draft, (id, is) => terminal.set(id, is))
    const told = readTime(draft.at) ?? at
    at = told > at ? told : at // times never run against the sequence
    return { ...columnsOf(draft, session.id), sequence: ++sequence, turn: turn.turn, ordinal: turn.ordinal, terminal: undefined, at }
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
  { id, key, json, type, author, authorName, teamId, replyTo, to, toolName, model, originatingModel }: Ready,
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
  toolName: named(toolName),
  model: named(model),
  originatingModel: named(originatingModel),
  sourceLine: storableText(key),
})

const named = (name: string | undefined) => name && storableText(name.slice(0, LONGEST_NAME))
