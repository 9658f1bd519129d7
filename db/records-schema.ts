// The tables of records: what agents propose and people decide, the items of a session's board, and the names that both speak of.
import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, sessions } from './schema.ts'

export const PERSON_KINDS = ['team', 'person', 'key'] as const
export const PROPOSAL_TYPES = ['action', 'decision'] as const
export const PROPOSAL_STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const
export const ITEM_STATUSES = ['open', 'claimed', 'done', 'dropped'] as const
export const ITEM_KINDS = ['work', 'action'] as const
export const PRIORITIES = ['high', 'medium', 'low'] as const // in this order

/** Somebody as a record names them, for good: a name of one kind. `person_id` is null for a name that nobody in the session bears. */
export interface Named {
  person_id: string | null
  name: string
  kind: (typeof PERSON_KINDS)[number] | null
  verified: boolean
}

/** Where a proposal comes from: what was quoted, and the event that it names. */
export interface Source {
  quote: string | null
  event_id: string | null
  sequence: number | null
  found: boolean
}

/** Whose claim ended while its session took no writes, and how. */
export interface Untold {
  team_id: string | null
  team_name: string | null
  reason: 'handed_back' | 'lease_expired' | 'left' | 'taken_back'
  by: string | null
}

/** What was proposed. Of an action item `owner`, `due_date` and `priority`; of a decision `rationale` and `decided_by`. */
export interface ProposalData {
  title: string
  description: string | null
  owner?: Named | null
  due_date?: string | null
  priority?: (typeof PRIORITIES)[number]
  rationale?: string | null
  decided_by?: Named | null
}

// Names as they were given out with the id of their person: a row for each spelling. An id is made of kind and name alone
// (src/stores/records/persons.ts), so that this table only leads back from it.
export const persons = pgTable(
  'persons',
  {
    kind: text({ enum: PERSON_KINDS }).notNull(),
    name: text().notNull(),
    personId: uuid().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.name] }), index('persons_id').on(t.personId)],
)

// Changed under the session's lock alone. Pending and past `expiresAt` is expired for every reader; the expiry job, or whatever writes to the
// session first, writes that down with its event (src/records/expiry.ts).
export const proposals = pgTable(
  'proposals',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    type: text({ enum: PROPOSAL_TYPES }).notNull(),
    data: jsonb().$type<ProposalData>().notNull(), // as proposed; once approved, with the approver's edits
    proposed: jsonb().$type<ProposalData>(), // the original, if an approver edited it: kept for whoever asks the database
    titleKey: text().notNull(), // titles are compared by it
    status: text({ enum: PROPOSAL_STATUSES }).notNull().default('pending'),
    proposedBy: jsonb().$type<Named>().notNull(),
    teamId: uuid(), // the proposer's handle, if it is a team
    createdAt: at().notNull(),
    expiresAt: at().notNull(),
    resolvedAt: at(),
    resolvedBy: jsonb().$type<Named>(),
    feedback: text(),
    edited: jsonb().$type<string[]>(),
    recordId: uuid(),
    replaces: uuid(),
    source: jsonb().$type<Source>(),
  },
  (t) => [
    index('proposals_session').on(t.sessionId, t.createdAt),
    index('proposals_listed').on(t.status, t.createdAt, t.id),
    index('proposals_resolved').on(t.resolvedAt, t.id),
    index('proposals_team').on(t.teamId),
    index('proposals_due')
      .on(t.expiresAt)
      .where(sql`${t.status} = 'pending'`),
    uniqueIndex('proposals_title') // one card for each title, whoever proposed it
      .on(t.sessionId, t.type, t.titleKey)
      .where(sql`${t.status} = 'pending'`),
  ],
)

export const decisions = pgTable(
  'decisions',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    proposalId: uuid().notNull().unique(),
    title: text().notNull(),
    description: text().notNull(),
    rationale: text(),
    decidedBy: jsonb().$type<Named>(),
    decidedById: uuid(),
    at: at().notNull(),
    withdrawnAt: at(), // null: in force
    withdrawnBy: jsonb().$type<Named>(),
    withdrawnReason: text(),
  },
  (t) => [
    index('decisions_session').on(t.sessionId, t.at),
    index('decisions_at').on(t.at, t.id),
    index('decisions_by').on(t.decidedById, t.at),
    index('decisions_words').using('gin', sql`${t.title} gin_trgm_ops`, sql`(${t.title} || ' ' || ${t.description}) gin_trgm_ops`),
  ],
)

// The board: work that teams planned, and action items that people approved. Changed under the session's lock alone. A claim is over when
// its lease is (src/stores/records/leases.ts), whether or not that is written down yet.
export const items = pgTable(
  'items',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    kind: text({ enum: ITEM_KINDS }).notNull(),
    proposalId: uuid().unique(), // of an action item
    title: text().notNull(),
    description: text().notNull().default(''),
    status: text({ enum: ITEM_STATUSES }).notNull().default('open'),
    priority: text({ enum: PRIORITIES }).notNull().default('medium'),
    dependsOn: uuid().array().notNull(),
    paths: jsonb().$type<string[]>().notNull(),
    owner: jsonb().$type<Named>(),
    ownerId: uuid(),
    dueDate: at(),
    plannedBy: jsonb().$type<Named>().notNull(),
    plannedByTeamId: uuid(),
    place: integer().notNull(), // in the order of planning, within its session
    claimedTeamId: uuid(),
    claimedTeamName: text(),
    claimedAt: at(),
    claimRenewedAt: at(), // the lease runs from here, or from when its team was last seen
    overlapAllowed: boolean().notNull().default(false), // of programs from before: with it they let a claim widen over any other
    note: text(),
    result: text(),
    untold: jsonb().$type<Untold>(), // the session is told when it takes writes again
    withdrawnAt: at(), // of an action item that a person withdrew: it is dropped, and only a person brings it back
    createdAt: at().notNull(),
    updatedAt: at().notNull(),
  },
  (t) => [
    uniqueIndex('items_session').on(t.sessionId, t.place),
    // Lists go through action items alone, which may be few among much work.
    index('items_created')
      .on(t.createdAt, t.id)
      .where(sql`${t.kind} = 'action'`),
    index('items_owner')
      .on(t.ownerId, t.createdAt)
      .where(sql`${t.kind} = 'action'`),
    index('items_claimed')
      .on(t.claimRenewedAt)
      .where(sql`${t.status} = 'claimed'`),
    index('items_words')
      .using('gin', sql`${t.title} gin_trgm_ops`, sql`(${t.title} || ' ' || ${t.description}) gin_trgm_ops`)
      .where(sql`${t.kind} = 'action'`),
  ],
)
