// The tables. One log, `events`, serves rooms, traces, tasks and records alike; everything else hangs on a session.
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

// Times are RFC 3339 strings in UTC with milliseconds all the way from the driver (`rfc3339` in db/database.ts) to the wire.
export const at = () => timestamp({ withTimezone: true, mode: 'string', precision: 3 })

/** What an event can be: the conversation's three types first, then the trace's. Specification 2 has the same words. */
export const CONVERSATION_TYPES = ['chat', 'system', 'user_input'] as const
export const TRACE_TYPES = ['assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction', 'runtime', 'unknown'] as const
const listed = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))

// Every post updates its session's row: narrow, half-filled pages and no index on a counter keep those updates in place (HOT).
// Set by hand in the first migration: fillfactor = 50.
// archivedAt, forkedAtSequence, agenticTool, agentStatus, permissionMode, worktreeId (and an event's taskId) belong to operations to come:
// they are in the model from the first migration on, and nothing uses them yet.
export const sessions = pgTable(
  'sessions',
  {
    id: uuid().primaryKey(),
    title: text().notNull(),
    description: text().notNull(),
    status: text({ enum: ['active', 'closed'] })
      .notNull()
      .default('active'),
    createdByTeamId: uuid(),
    convenerTeamId: uuid(), // who created it, until it is handed over; null: a person created it and has named nobody yet
    createdAt: at().notNull().defaultNow(),
    updatedAt: at().notNull().defaultNow(), // of title and description
    closedAt: at(),
    archivedAt: at(),
    expectedTeams: integer().notNull().default(2),
    lastSequence: bigint({ mode: 'number' }).notNull().default(0),
    lastConversationSequence: bigint({ mode: 'number' }).notNull().default(0), // what waiters are woken for
    lastEventAt: at(),
    turn: integer().notNull().default(0), // the open turn of the conversation
    turnHolder: text(), // the author who holds it: a team's handle, or person:<name>
    turnEvents: integer().notNull().default(0),
    parentSessionId: uuid(),
    forkedFromSessionId: uuid(),
    forkedAtSequence: bigint({ mode: 'number' }),
    resumedFromSessionId: uuid(),
    seriesId: uuid().notNull(), // the first session of a chain of resumed ones
    agenticTool: text(),
    agentStatus: text(),
    permissionMode: text(),
    worktreeId: uuid(),
    source: text().notNull().default('room'), // or the transcript format that it was imported from
  },
  (t) => [
    index('sessions_created').on(t.createdAt, t.id),
    index('sessions_series').on(t.seriesId, t.createdAt),
    index('sessions_parent').on(t.parentSessionId),
    check('sessions_status', sql`${t.status} in ('active', 'closed')`),
  ],
)

export const participants = pgTable(
  'participants',
  {
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    teamId: uuid().notNull(), // the public handle; the secret half of the token is stored as a hash alone
    tokenHash: text().notNull(),
    teamName: text().notNull(),
    hue: smallint().notNull(),
    joinedAt: at().notNull().defaultNow(),
    leftAt: at(),
    lastSeenAt: at().notNull().defaultNow(),
    pollingUntil: at(), // a wait is in flight until then
    lastSeenCursor: bigint({ mode: 'number' }).notNull(), // what the team said it has read
    deliveredCursor: bigint({ mode: 'number' }).notNull(), // what a wait has handed to it
    addressedCursor: bigint({ mode: 'number' }).notNull().default(0), // what a wait for addressed messages alone has handed to it
  },
  (t) => [primaryKey({ columns: [t.sessionId, t.teamId] }), index('participants_name').on(t.teamName, t.joinedAt)],
)

// No foreign key to sessions: a row is only ever inserted under its session's row lock, and the check would cost a lock per event.
export const events = pgTable(
  'events',
  {
    sessionId: uuid().notNull(),
    sequence: bigint({ mode: 'number' }).notNull(),
    id: uuid().notNull(),
    turn: integer().notNull(),
    ordinal: integer().notNull(), // one-based, in its turn
    type: text().notNull(),
    author: text().notNull(), // team, person, system or agent
    authorName: text(),
    postedByTeamId: uuid(),
    content: jsonb().$type<Record<string, unknown>>().notNull(),
    size: integer().notNull(), // UTF-8 bytes of the content: pages end by it
    replyTo: uuid(),
    toTeamIds: uuid().array(),
    taskId: uuid(),
    terminal: boolean(), // of tasks and traces; a conversation's is derived
    toolName: text(),
    model: text(),
    originatingModel: text(),
    sourceLine: text(), // an imported event's identity in its transcript
    at: at().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.sequence] }),
    uniqueIndex('events_id').on(t.id),
    index('events_terminal')
      .on(t.sessionId, t.turn, t.sequence)
      .where(sql`${t.terminal}`),
    index('events_addressed')
      .on(t.sessionId, t.sequence)
      .where(sql`${t.toTeamIds} is not null or ${t.replyTo} is not null`),
    index('events_named') // in which sessions somebody spoke: people, and teams of imported feeds; of the others the roster tells
      .on(t.authorName, t.sessionId)
      .where(sql`${t.authorName} is not null and ${t.author} <> 'agent' and (${t.author} <> 'team' or ${t.sourceLine} is not null)`),
    check('events_type', sql`${t.type} in (${listed([...CONVERSATION_TYPES, ...TRACE_TYPES])})`),
  ],
)

export const sessionDocs = pgTable('session_docs', {
  sessionId: uuid()
    .primaryKey()
    .references(() => sessions.id, { onDelete: 'cascade' }),
  content: text().notNull().default(''),
  version: integer().notNull().default(0),
})

export const sessionDocHistory = pgTable(
  'session_doc_history',
  {
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    version: integer().notNull(),
    content: text().notNull(),
    writtenByTeamId: uuid(),
    writtenBy: text().notNull(),
    writtenAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.sessionId, t.version] })],
)

// Written in the same transaction as the write it remembers. No key and no credential is stored in clear.
export const idempotency = pgTable(
  'idempotency',
  {
    scope: text().notNull(), // the session, or 'open'
    caller: text().notNull(), // a team's handle, person:<name>, or '' where the key itself is the secret
    keyHash: text().notNull(),
    operation: text().notNull(),
    bodyHash: text().notNull(),
    answer: jsonb().$type<Record<string, unknown>>().notNull(),
    at: at().notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.caller, t.keyHash] })],
)

export const acks = pgTable(
  'acks',
  {
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    teamId: uuid().notNull(),
    cursor: bigint({ mode: 'number' }).notNull(),
    at: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.sessionId, t.teamId] })],
)

// Whether a session looks like a loop (src/loops/guard.ts). A row only once it did.
export const loops = pgTable('loops', {
  sessionId: uuid()
    .primaryKey()
    .references(() => sessions.id, { onDelete: 'cascade' }),
  suspectedAt: at(), // null: a person released it, or the teams went on to something else
  releasedThrough: bigint({ mode: 'number' }).notNull().default(0), // what was said up to here no longer counts
})

// The read-only link of a session. Only a hash of its secret is stored.
export const shares = pgTable('shares', {
  sessionId: uuid()
    .primaryKey()
    .references(() => sessions.id, { onDelete: 'cascade' }),
  id: uuid().notNull().unique(),
  tokenHash: text().notNull(),
  sharedBy: text().notNull(),
  sharedAt: at().notNull().defaultNow(),
})

// How far an imported transcript has been read (src/import/): a file that grew is read on from there.
export const imports = pgTable('imports', {
  sessionId: uuid()
    .primaryKey()
    .references(() => sessions.id, { onDelete: 'cascade' }),
  bytes: bigint({ mode: 'number' }).notNull(),
  lines: integer().notNull(),
  tail: text().notNull(), // of the last bytes read, as a hash: a transcript that was rewritten is not read on
  state: jsonb().$type<Record<string, unknown>>().notNull(), // what its reader must remember of the lines before
  batches: integer().notNull(), // a different number than expected: somebody else is importing the same transcript
})

export const settings = pgTable('settings', { name: text().primaryKey(), value: text().notNull(), updatedAt: at().notNull().defaultNow() })
