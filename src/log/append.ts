// The checked append. An event's number is taken under its session's row lock, in the transaction that writes it: with a sequence object
// readers would skip events, since commits do not come in the order of its numbers.
import type { Queries } from '../../db/database.ts'
import type { Author } from '../core/events/event-types.ts'
import { uuid7 } from '../core/ids.ts'
import { utf8Bytes } from '../core/text/text.ts'
import { APPEND_BATCH, NO_LIMIT } from './append-sql.ts'
import { pgArray } from '../../db/arrays.ts'
import { eventOf, type Event } from '../stores/events.ts'

export interface Draft {
  sessionId: string
  type: 'chat' | 'user_input' | 'system' | 'runtime' // runtime: a note in the log, which ends no team's wait
  author: Exclude<Author, 'agent'> // agents' events come from control/tasks/task-log.ts, or are imported
  authorName?: string | undefined // a team's is on its roster row
  teamId?: string | undefined // must be present in the session when the lock is held
  /** The sign-in or key that the post came with, other than a team_id: must not have ended when the lock is held. */
  credentialId?: string | undefined
  doneBy?: string | undefined // of a system event: the handle of the team whose doing it is
  holder?: string | undefined // who takes the turn: the team's handle, person:<name>, or key:<name>
  content: Record<string, unknown>
  replyTo?: string | undefined
  to?: string[] | undefined
  expectsReply?: boolean | undefined // a question to those in `to`
  taskId?: string | undefined // of a prompt: the task that it begins
  evenClosed?: boolean // for what is told of a closed session: its conclusion, its archiving, what became of a proposal or a child
  idempotency?: Idempotency | undefined
  /** Written only if nobody else spoke after this sequence. In a batch no draft of another holder comes before it: a statement does not see
   *  what it writes itself. */
  expectedCursor?: number | undefined
}

export interface Idempotency {
  caller: string
  keyHash: string
  operation: string
  bodyHash: string
}

export type Appended =
  | { outcome: 'appended'; event: Event; turn: number; ordinal: number }
  | { outcome: 'unauthorized' }
  | { outcome: 'closed' }
  | { outcome: 'unread' | 'beyond'; lastSequence: number } // of expectedCursor: others spoke after it, or it is past the end
  | { outcome: 'replayed'; operation: string; bodyHash: string; answer: Record<string, unknown> }

export type Posted = Extract<Appended, { outcome: 'appended' }>

interface AppendRow extends Assigned {
  ord: number
  outcome: Appended['outcome'] | 'moved'
  used_for: string
  used_with: string
  answer: Record<string, unknown>
  last_sequence: number
}

/** Numbers and writes drafts of any sessions in one statement. A draft that is refused leaves no number unused. A system event must be the
 *  only draft: it takes no turn, and the statement could not tell whose turn a draft behind it continues. Returns undefined for a draft
 *  whose session was appended to while the statement waited for its row lock: the statement's snapshot is stale, nothing was decided or
 *  written, and the caller tries again with the lock taken first (a caller that holds it gets no undefined). Past `lockWait` the statement
 *  fails as a whole (isLockTimeout, db/errors.ts). Once it is committed, the caller publishes the events (src/process/publish.ts). */
export const appendEvents = async ({ query }: Queries, drafts: Draft[], lockWait = NO_LIMIT): Promise<(Appended | undefined)[]> => {
  if (drafts.length > 1 && drafts.some(({ holder }) => holder === undefined)) throw new Error('a system event must be appended alone')
  const posts = drafts.map(postOf)
  const rows = await query<AppendRow>(APPEND_BATCH, [...COLUMNS.map((name) => pgArray(posts.map((post) => post[name]))), lockWait])
  const answers: (Appended | undefined)[] = []
  for (const row of rows) answers[row.ord] = appendedOf(row, drafts[row.ord]!)
  return answers
}

// In the order of the statement's parameters.
const COLUMNS = [
  'ord',
  'id',
  'session',
  'team',
  'doneBy',
  'author',
  'authorName',
  'holder',
  'type',
  'content',
  'size',
  'replyTo',
  'to',
  'expectsReply',
  'taskId',
  'evenClosed',
  'expectedCursor',
  'credentialId',
  'caller',
  'keyHash',
  'operation',
  'bodyHash',
] as const

const postOf = (draft: Draft, ord: number) => {
  const { sessionId: session, teamId: team, content: said, to, evenClosed = false, idempotency, ...rest } = draft
  const content = JSON.stringify(said)
  return {
    ...rest,
    ord,
    id: uuid7(),
    session,
    team,
    content,
    size: utf8Bytes(content),
    to: to && pgArray(to),
    evenClosed,
    ...NO_KEY,
    ...idempotency,
  }
}
const NO_KEY = { caller: undefined, keyHash: undefined, operation: undefined, bodyHash: undefined }

const appendedOf = (row: AppendRow, draft: Draft): Appended | undefined => {
  const { outcome } = row
  if (outcome === 'moved') return undefined
  if (outcome === 'replayed') return { outcome, operation: row.used_for, bodyHash: row.used_with, answer: row.answer }
  if (outcome === 'unread' || outcome === 'beyond') return { outcome, lastSequence: row.last_sequence }
  return outcome === 'appended' ? writtenAt(row, draft) : { outcome }
}

interface Assigned {
  id: string
  name: string | null
  sequence: number
  turn: number
  ordinal: number
  at: string
}

/** The answer for a draft that was written: its event as readers get it. */
export const writtenAt = ({ id, name: author_name, sequence, turn, ordinal, at }: Assigned, draft: Draft): Appended => {
  const content = asStored(draft.content)
  const { type, author, teamId: posted_by_team_id = null, replyTo: reply_to = null, to: to_team_ids = null } = draft
  const { expectsReply: expects_reply = null, doneBy: by_team_id = null, taskId: task_id = null } = draft
  const by = { author, author_name, posted_by_team_id, by_team_id }
  const event = eventOf({ id, sequence, type, ...by, content, reply_to, to_team_ids, expects_reply, task_id, turn, at })
  return { outcome: 'appended', event, turn, ordinal }
}

// Puts the fields in the order of jsonb (by length, then by bytes), so that an event has the same bytes from memory as from the table.
const asStored = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.values(value)
  if (fields.length === 1 && typeof fields[0] === 'string') return value // a message, nearly always
  const entries = Object.entries(value).toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, asStored(inner)])) as Value
}
