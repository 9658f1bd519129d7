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
import { AUTHORS } from '../src/core/events/event-types.ts'
import { PERMISSION_MODES } from '../src/core/permission-modes.ts'

// Times are RFC 3339 strings (UTC, milliseconds) all the way from the driver (`rfc3339` in db/database.ts) to the wire.
export const at = () => timestamp({ withTimezone: true, mode: 'string', precision: 3 })

/** The types of events: the three of a conversation first, then those of a trace. They are names on the wire. */
export const CONVERSATION_TYPES = ['chat', 'system', 'user_input'] as const
export const TRACE_TYPES = ['assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction', 'runtime', 'unknown'] as const
export const AGENT_STATUSES = ['creating', 'idle', 'running', 'completed', 'failed'] as const

/** The hour of a time, as a column that an index can have: what is later than a time has an hour later than that time less an hour. */
const hourOf = (time: string) => sql.raw(`date_trunc('hour', ${time} at time zone 'UTC') at time zone 'UTC'`)
const listed = (words: readonly string[]) => sql.raw(words.map((word) => `'${word}'`).join(', '))

// What decides about a post here is status and archivedAt, and for a post with expected_cursor that title and description did not change;
// turn, turnHolder and turnEvents decide its number. These change only in a transaction that also moves lastSequence: a process appends
// without asking, as long as the log ends where it last saw it (src/log/log-heads.ts). A column that is to decide about posts must do the
// same, by writing an event; tests/stores/post-decisions.test.ts lists the meaning of each.
//
// Every post updates its session's row. Half-filled pages (fillfactor = 50, set by hand in the first migration) and no index on a counter
// keep these updates in place (HOT). What happened lately is found by an hour, which the database makes of the times and which changes once
// in that long: an index on the times themselves would be written with every post.
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
    openedBy: text(), // the name of the person who opened it; null where a team or a key did
    convenerTeamId: uuid(), // at first the creator; where a person is that, the first team that joins (null until then)
    createdAt: at().notNull().defaultNow(),
    updatedAt: at().notNull().defaultNow(), // of title and description
    closedAt: at(),
    archivedAt: at(),
    purgedAt: at(), // all that was said is deleted; the row is kept for the sessions that came from it (src/stores/purge.ts)
    expectedTeams: integer().notNull().default(2),
    lastSequence: bigint({ mode: 'number' }).notNull().default(0),
    lastConversationSequence: bigint({ mode: 'number' }).notNull().default(0), // trace events wake no wait
    lastEventAt: at(),
    activeHour: at().generatedAlwaysAs(hourOf('coalesce(last_event_at, created_at)')),
    turn: integer().notNull().default(0), // the open turn of the conversation
    turnHolder: text(), // whose turn it is: a team's handle, person:<name>, or key:<name>
    turnEvents: integer().notNull().default(0),
    parentSessionId: uuid(),
    forkedFromSessionId: uuid(),
    forkedAtSequence: bigint({ mode: 'number' }),
    resumedFromSessionId: uuid(),
    seriesId: uuid().notNull(), // the first session of a chain of resumed ones
    agenticTool: text(),
    agentStatus: text({ enum: AGENT_STATUSES }),
    permissionMode: text({ enum: PERMISSION_MODES }),
    worktreeId: uuid(),
    source: text().notNull().default('room'), // 'room': teams meet in it; else the transcript format that it was imported from
  },
  (t) => [
    index('sessions_created').on(t.createdAt, t.id),
    index('sessions_series').on(t.seriesId, t.createdAt),
    index('sessions_parent').on(t.parentSessionId),
    index('sessions_forked')
      .on(t.forkedFromSessionId)
      .where(sql`${t.forkedFromSessionId} is not null`),
    index('sessions_resumed')
      .on(t.resumedFromSessionId)
      .where(sql`${t.resumedFromSessionId} is not null`),
    index('sessions_active').on(t.activeHour, t.id),
    index('sessions_open')
      .on(t.activeHour, t.id)
      .where(sql`${t.status} = 'active'`),
    index('sessions_concluded')
      .on(t.activeHour, t.id)
      .where(sql`${t.status} = 'closed' and ${t.source} = 'room'`),
    index('sessions_traces')
      .on(t.activeHour, t.id)
      .where(sql`${t.source} <> 'room'`),
    index('sessions_agent_status')
      .on(t.agentStatus, t.createdAt, t.id)
      .where(sql`${t.agentStatus} is not null`),
    index('sessions_words') // of no counter: posts leave it alone
      .using('gin', sql`${t.title} gin_trgm_ops`, sql`(${t.title} || ' ' || ${t.description}) gin_trgm_ops`),
    check('sessions_status', sql`${t.status} in ('active', 'closed')`),
  ],
)

// What decides about a post here: is there a row, with which name, and is leftAt null. While the session is open these change only together
// with its lastSequence, as above; a closed session takes no posts, so teams join and leave it without an event, and the event of its
// reopening moves lastSequence.
export const participants = pgTable(
  'participants',
  {
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    teamId: uuid().notNull(), // the public handle; of the token's secret half only a hash is stored
    tokenHash: text().notNull(),
    teamName: text().notNull(),
    hue: smallint().notNull(),
    joinedAt: at().notNull().defaultNow(),
    leftAt: at(),
    lastSeenAt: at().notNull().defaultNow(),
    pollingUntil: at(), // a wait is in flight until then
    lastSeenCursor: bigint({ mode: 'number' }).notNull(), // the highest cursor that the team has sent
    deliveredCursor: bigint({ mode: 'number' }).notNull(), // up to there waits have delivered the feed
    addressedCursor: bigint({ mode: 'number' }).notNull().default(0), // up to there waits for addressed messages only have delivered those
    sleptAt: at(), // when a held peek last began or ended; lastSeenAt does not count held peeks
    sleepingUntil: at(), // a held peek is in flight until then
    wokenCursor: bigint({ mode: 'number' }).notNull().default(0), // up to there a message that woke the team has been counted
    seenHour: at().generatedAlwaysAs(hourOf('greatest(last_seen_at, polling_until, slept_at, sleeping_until)')), // HOT, as of sessions
    invitationId: uuid(), // what it joined by: such a team needs no ACCESS_TOKEN in this session
    verified: boolean().notNull().default(false), // joined with a program's key, or as a session's agent; what it calls with later changes nothing
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.teamId] }),
    index('participants_name').on(t.teamName, t.joinedAt),
    index('participants_team').on(t.teamId),
    index('participants_seen')
      .on(t.seenHour)
      .where(sql`${t.leftAt} is null`),
  ],
)

// No foreign key to sessions: rows are only inserted under the session's row lock, and the check would take a lock for each event.
export const events = pgTable(
  'events',
  {
    sessionId: uuid().notNull(),
    sequence: bigint({ mode: 'number' }).notNull(),
    id: uuid().notNull(),
    turn: integer().notNull(),
    ordinal: integer().notNull(), // one-based, in its turn
    type: text({ enum: [...CONVERSATION_TYPES, ...TRACE_TYPES] }).notNull(),
    author: text({ enum: AUTHORS }).notNull(),
    authorName: text(),
    postedByTeamId: uuid(),
    byTeamId: uuid(), // the team whose doing a system event is; no answer shows it, since two people or teams may share the name in `by`
    content: jsonb().$type<Record<string, unknown>>().notNull(),
    size: integer().notNull(), // UTF-8 bytes of the content: a page ends when their sum is too large
    replyTo: uuid(),
    toTeamIds: uuid().array(), // empty where a message is addressed to people alone, whose names stand in its content (to_people)
    expectsReply: boolean(), // a question to those; null: none
    taskId: uuid(),
    terminal: boolean(), // of traces; a conversation's is derived
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
    index('events_named') // finds the sessions in which a person, or a team of an imported feed, has posted; for other teams the roster does
      .on(t.authorName, t.sessionId)
      .where(sql`${t.authorName} is not null and ${t.author} <> 'agent' and (${t.author} <> 'team' or ${t.sourceLine} is not null)`),
    index('events_asking_people') // finds the questions to people, across sessions
      .on(t.at)
      .where(sql`${t.expectsReply} and ${t.content} ? 'to_people'`),
    index('events_of_people') // finds a person's last word in a session
      .on(t.sessionId, t.sequence)
      .where(sql`${t.author} = 'person' and ${t.sourceLine} is null`),
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
  (t) => [primaryKey({ columns: [t.sessionId, t.version] }), index('session_doc_history_written').on(t.writtenAt)],
)

// The answers of writes with an idempotency key, inserted in the write's own transaction. Neither key nor credential is stored in clear.
export const idempotency = pgTable(
  'idempotency',
  {
    scope: text().notNull(), // the key of its subject (src/operations/subject.ts): the session's id, task/<id> …; 'open' where there is none yet
    caller: text().notNull(), // a team's handle, person:<name>, key:<id>, or '' where the key itself is the secret
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

export const settings = pgTable('settings', { name: text().primaryKey(), value: text().notNull(), updatedAt: at().notNull().defaultNow() })
