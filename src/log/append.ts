// The one way an event comes into the log. Its number is taken under the session's row lock, in the transaction that writes it:
// a sequence object would let readers skip events, since commits do not come in the order of its numbers.
import type { Queries } from '../../db/database.ts'
import { uuid7 } from '../core/ids.ts'
import { utf8Bytes } from '../core/text.ts'
import { APPEND_BATCH, NO_LIMIT } from './append-sql.ts'
import { pgArray } from '../../db/arrays.ts'
import { eventOf, type Event } from '../stores/events.ts'

export interface Draft {
  sessionId: string
  type: 'chat' | 'user_input' | 'system'
  author: 'team' | 'person' | 'system'
  authorName?: string | undefined // a team's is on its roster row
  teamId?: string | undefined // must be present in the session when the lock is held
  holder?: string | undefined // who takes the turn: the team's handle, or person:<name>
  content: Record<string, unknown>
  replyTo?: string | undefined
  to?: string[] | undefined
  evenClosed?: boolean // conclude and reopen write to a session that is closed
  key?: AppendKey | undefined
}

export interface AppendKey {
  caller: string
  keyHash: string
  operation: string
  bodyHash: string
}

export type Appended =
  | { outcome: 'appended'; event: Event; turn: number; ordinal: number }
  | { outcome: 'unauthorized' }
  | { outcome: 'closed' }
  | { outcome: 'replayed'; operation: string; bodyHash: string; answer: Record<string, unknown> }

interface Answered extends Assigned {
  ord: number
  outcome: 'appended' | 'unauthorized' | 'closed' | 'moved' | 'replayed'
  used_for: string
  used_with: string
  answer: Record<string, unknown>
}

/** Numbers and writes all drafts in one statement, whichever sessions they belong to. A draft that may not be written gets that
 *  answer and leaves no number unused. A system event comes alone: it takes no turn, and what follows it in a statement could not see whose
 *  turn it is. Undefined for those of a log that grew while its lock was waited for: of these nothing is decided, and nothing written.
 *  A caller that already holds the lock gets none of that. `lockWait`: past it the whole statement fails (isHeld, db/errors.ts). The
 *  caller wakes the waiters, once it is committed (publish, src/process/publish.ts). */
export const appendEvents = async ({ query }: Queries, drafts: Draft[], lockWait = NO_LIMIT): Promise<(Appended | undefined)[]> => {
  if (drafts.length > 1 && drafts.some(({ holder }) => holder === undefined)) throw new Error('a system event must be appended alone')
  const posts = drafts.map(postOf)
  const rows = await query<Answered>(APPEND_BATCH, [...COLUMNS.map((name) => pgArray(posts.map((post) => post[name]))), lockWait])
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
  'author',
  'authorName',
  'holder',
  'type',
  'content',
  'size',
  'replyTo',
  'to',
  'evenClosed',
  'caller',
  'keyHash',
  'operation',
  'bodyHash',
] as const

const postOf = (draft: Draft, ord: number) => {
  const { sessionId: session, teamId: team, author, authorName, holder, type, replyTo, evenClosed = false, key } = draft
  const content = JSON.stringify(draft.content)
  const to = draft.to && pgArray(draft.to)
  return {
    ord,
    id: uuid7(),
    session,
    team,
    author,
    authorName,
    holder,
    type,
    content,
    size: utf8Bytes(content),
    replyTo,
    to,
    evenClosed,
    ...NO_KEY,
    ...key,
  }
}
const NO_KEY = { caller: undefined, keyHash: undefined, operation: undefined, bodyHash: undefined }

const appendedOf = (row: Answered, draft: Draft): Appended | undefined => {
  const { outcome } = row
  if (outcome === 'moved') return undefined
  if (outcome === 'replayed') return { outcome, operation: row.used_for, bodyHash: row.used_with, answer: row.answer }
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

/** A draft as it stands in the log. */
export const writtenAt = ({ id, name: author_name, sequence, turn, ordinal, at }: Assigned, draft: Draft): Appended => {
  const content = asStored(draft.content)
  const { type, author, teamId: posted_by_team_id = null, replyTo: reply_to = null, to: to_team_ids = null } = draft
  const event = eventOf({ id, sequence, type, author, author_name, posted_by_team_id, content, reply_to, to_team_ids, turn, at })
  return { outcome: 'appended', event, turn, ordinal }
}

// jsonb gives an object's keys back by length, then by bytes: an event has the same bytes whether it comes from memory or from the table.
const asStored = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.values(value)
  if (fields.length === 1 && typeof fields[0] === 'string') return value // a message, nearly always
  const entries = Object.entries(value).toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, asStored(inner)])) as Value
}
