// The tables of control: agents that sessions have, the tasks given to them, and the runners on whose machines they work.
import { sql } from 'drizzle-orm'
import { bigint, boolean, doublePrecision, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { keys } from './people-schema.ts'
import { at, sessions } from './schema.ts'

// A runner is one run of the program: registering again under the same name makes a new row, and ends the former.
export const runners = pgTable(
  'runners',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    nameKey: text().notNull(), // as names are compared
    keyId: uuid()
      .notNull()
      .references(() => keys.id, { onDelete: 'cascade' }),
    agents: jsonb().$type<{ agentic_tool: string; version: string | null }[]>().notNull(),
    mcpServers: jsonb().$type<string[]>().notNull(),
    allowBypass: boolean().notNull(),
    across: boolean().notNull(), // its agents may start others in another repository of its machine
    parallel: integer().notNull(),
    registeredAt: at().notNull().defaultNow(),
    seenAt: at().notNull().defaultNow(), // the lease runs from here
    endedAt: at(), // another one took its place
  },
  (t) => [
    uniqueIndex('runners_name')
      .on(t.nameKey)
      .where(sql`${t.endedAt} is null`),
    index('runners_key').on(t.keyId),
  ],
)

// A folder with a repository's files. It keeps its id when its runner registers again.
export const worktrees = pgTable(
  'worktrees',
  {
    id: uuid().primaryKey(),
    runnerId: uuid()
      .notNull()
      .references(() => runners.id, { onDelete: 'cascade' }),
    path: text().notNull(),
    repoFullName: text().notNull(),
    branch: text(), // null: no branch is checked out
    head: text(), // null: the repository has no commit
    dirty: boolean().notNull(),
    changedFiles: integer(),
    madeForSessionId: uuid(), // by its runner, because a session wanted it
    registeredAt: at().notNull().defaultNow(),
    goneAt: at(), // its runner no longer names it
  },
  (t) => [uniqueIndex('worktrees_path').on(t.runnerId, t.path), index('worktrees_repository').on(t.repoFullName)],
)

// The agent of a session, beside what the session's own row says (agentic_tool, agent_status, permission_mode, worktree_id).
export const agents = pgTable(
  'agents',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    teamId: uuid().notNull(), // the team that it speaks as
    rootSessionId: uuid().notNull(), // the root of its session's tree: sums and limits of a tree are those of its root
    contextFiles: jsonb().$type<string[]>().notNull(),
    mcpServers: jsonb().$type<string[]>().notNull(),
    conversation: text(), // the CLI's id of its conversation
    conversationAt: text(), // the CLI's id of the last message in it, or turn
    fromTaskId: uuid(), // the task at which it was forked or spawned
    forkConversation: text(), // the conversation that its own begins as a copy of
    forkConversationAt: text(), // up to this message
    held: boolean().notNull().default(false), // stopped: what is queued waits until it is started
    heldBy: text(), // who stopped it; null where it was stopped before this was kept
    heldAt: at(),
    permissionLimit: text(), // what a person has allowed it to raise itself to
    maxUsd: doublePrecision(),
    error: jsonb().$type<{ code: string; message: string }>(), // why it failed
    // While its worktree is being made:
    orderedFrom: uuid(), // the runner
    orderedRepo: text(),
    orderedRepoPath: text(), // of a worktree of the clone that it is to be one of: a runner may have several of a repository
    orderedBeginsThere: boolean().notNull().default(false), // the branch begins at that worktree's HEAD, else at its repository's
    orderedBranch: text(), // stays where a worktree was there that had it checked out: its runner looks once more
    orderedAt: at(),
    orderToldAt: at(),
  },
  (t) => [
    index('agents_root').on(t.rootSessionId),
    index('agents_ordered')
      .on(t.orderedFrom)
      .where(sql`${t.orderedFrom} is not null`),
  ],
)

// Whose seats are whose: a key, or the session of an agent whose keys end with each task, speaks as this team in that session.
export const seats = pgTable(
  'seats',
  {
    holder: uuid().notNull(), // a key's id, or an agent's session
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    teamId: uuid().notNull(),
  },
  (t) => [primaryKey({ columns: [t.holder, t.sessionId] }), index('seats_session').on(t.sessionId, t.teamId)],
)

export const TASK_STATUSES = ['queued', 'running', 'completed', 'failed', 'interrupted'] as const
export const TASK_MODES = ['continue', 'fork', 'subsession'] as const

// A prompt and what became of it. Its status is changed by conditional updates alone, under its session's lock but for the one step from
// queued to running, which its runner's lock covers (src/control/runner/take-tasks.ts); a final one never changes.
export const tasks = pgTable(
  'tasks',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    status: text({ enum: TASK_STATUSES }).notNull(),
    mode: text({ enum: TASK_MODES }).notNull(),
    prompt: text().notNull(), // as its runner gets it
    promptedBy: jsonb().$type<{ kind: 'person' | 'key' | 'agent'; name: string; session_id: string | null }>().notNull(),
    messageId: uuid().notNull(), // of the prompt in the log
    startSequence: bigint({ mode: 'number' }).notNull(),
    turn: integer().notNull(),
    turnEvents: integer(), // events of its turn, once the log has gone on to another one; before that the session's row counts them
    permissionMode: text(), // the permission mode that it was started with
    createdAt: at().notNull().defaultNow(),
    startedAt: at(),
    endedAt: at(),
    runnerId: uuid(), // the runner that got it; null where the session has no agent
    acknowledged: boolean().notNull().default(false), // its runner has named it: the answer that handed it out came through
    keyId: uuid(), // the agent's key for this task
    interruptAskedAt: at(),
    interruptToldAt: at(),
    answerMessageId: uuid(),
    answer: text(),
    error: jsonb().$type<{ code: string; message: string }>(),
    interruptedBy: jsonb().$type<{ message_id: string; tool_name: string; input: unknown }>(),
    endSequence: bigint({ mode: 'number' }), // the log's end when it ended: where a fork begins
    conversation: text(), // the CLI's conversation when it ended
    conversationAt: text(),
    branch: text(),
    head: text(),
    usage: jsonb().$type<{ input_tokens: number | null; output_tokens: number | null; cost_usd: number | null }>(),
    changes: jsonb().$type<{ files: number; added: number; removed: number }>(),
    finish: text(), // a hash of the call that ended it, which may come again
  },
  (t) => [
    index('tasks_session').on(t.sessionId, t.startSequence),
    index('tasks_open')
      .on(t.createdAt, t.id)
      .where(sql`${t.status} in ('queued', 'running')`),
    uniqueIndex('tasks_running') // one at a time; where the session has no agent, each waits for its own answer
      .on(t.sessionId)
      .where(sql`${t.status} = 'running' and ${t.runnerId} is not null`),
    uniqueIndex('tasks_message').on(t.messageId),
  ],
)

// What a CLI asks permission for, and raises of permission that an agent asked for.
export const permissionRequests = pgTable(
  'permission_requests',
  {
    id: text().notNull(), // the CLI's own
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    taskId: uuid().notNull(),
    toolName: text().notNull(),
    text: text().notNull(),
    input: jsonb().$type<unknown>(),
    raise: jsonb().$type<{ session_id: string; from: string; to: string }>(),
    askedAt: at().notNull().defaultNow(),
    decidedAt: at(),
    allow: boolean(),
    message: text(),
    decidedBy: text(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.id] }),
    index('permission_requests_open')
      .on(t.askedAt)
      .where(sql`${t.decidedAt} is null`),
  ],
)

// Summaries of logs that a model wrote, or was asked for in vain: one for each last event, so that it is asked once for it.
export const summaries = pgTable(
  'summaries',
  {
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    sequence: bigint({ mode: 'number' }).notNull(), // the last event that it knows of
    askedAt: at().notNull().defaultNow(),
    endedAt: at(), // null: the model is being asked
    text: text(), // null once it has ended: the model did not answer
  },
  (t) => [primaryKey({ columns: [t.sessionId, t.sequence] })],
)
