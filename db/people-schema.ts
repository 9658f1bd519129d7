// The tables of people: how they sign in, the keys and invitations that they give out, and what they are told.
import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at, sessions } from './schema.ts'

// Invitations of agents to a session (src/rooms/invitations.ts). `joined` is counted up to `joins`. Only a hash of the code's secret is
// stored.
export const invitations = pgTable(
  'invitations',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    codeHash: text().notNull(),
    madeBy: text().notNull(),
    madeAt: at().notNull().defaultNow(),
    expiresAt: at().notNull(),
    joins: integer().notNull(),
    joined: integer().notNull().default(0),
    revokedAt: at(),
  },
  (t) => [index('invitations_session').on(t.sessionId, t.madeAt)],
)

// The browsers in which somebody is signed in: a cookie names a row and proves it by a secret, of which only a hash is stored.
export const signIns = pgTable(
  'sign_ins',
  {
    id: uuid().primaryKey(),
    secretHash: text().notNull(),
    name: text().notNull(),
    role: text({ enum: ['person', 'reader'] }).notNull(),
    verified: boolean().notNull(), // came by a link bound to this name
    under: text().notNull(), // a hash of the keys that signed people in then: with other ones it is over
    madeAt: at().notNull().defaultNow(),
    lastUsedAt: at().notNull().defaultNow(), // to the minute
    endedAt: at(),
  },
  (t) => [index('sign_ins_made').on(t.madeAt)],
)

// The names that are bound to links (`bun run key person`): nobody else may sign in under one. A link signs in once.
export const people = pgTable('people', {
  nameKey: text().primaryKey(), // as names are compared
  name: text().notNull(),
  linkId: uuid().notNull().unique(),
  linkHash: text().notNull(),
  linkMadeAt: at().notNull().defaultNow(), // the program does not read it: kept for whoever asks the database
  linkExpiresAt: at().notNull(),
  linkUsedAt: at(),
})

// Keys of programs: `ca_<scope>_<32 hex>`, of which a hash is stored, and the beginning by which people know it.
export const keys = pgTable(
  'keys',
  {
    id: uuid().primaryKey(),
    keyHash: text().notNull().unique(),
    prefix: text().notNull(),
    scope: text({ enum: ['full', 'agent', 'read', 'sess', 'run'] }).notNull(),
    name: text().notNull(),
    sessionId: uuid().references(() => sessions.id, { onDelete: 'cascade' }), // of the scopes that belong to a session
    madeBy: text().notNull(),
    madeAt: at().notNull().defaultNow(),
    lastUsedAt: at(), // to the minute
    revokedAt: at(),
  },
  (t) => [
    index('keys_session')
      .on(t.sessionId)
      .where(sql`${t.sessionId} is not null`),
  ],
)

// What people are to be told of a session (src/notices/): a row for each fact, written once whichever instance finds it.
export const notices = pgTable(
  'notices',
  {
    id: uuid().primaryKey(),
    sessionId: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    kind: text().notNull(),
    about: text().notNull(), // which fact of this kind: the time of a mark, a team, an event
    at: at().notNull().defaultNow(),
    addressed: boolean().notNull().default(false), // it has a row in notice_deliveries for everybody who is to be told
  },
  (t) => [
    uniqueIndex('notices_fact').on(t.sessionId, t.kind, t.about),
    index('notices_unaddressed')
      .on(t.id)
      .where(sql`not ${t.addressed}`),
  ],
)

// The browsers that people have asked to be told in. Anyone who knows an endpoint can send to it; a message that is shown takes keys too.
export const pushSubscriptions = pgTable('push_subscriptions', {
  id: uuid().primaryKey(),
  endpointHash: text().notNull().unique(),
  endpoint: text().notNull(),
  p256dh: text().notNull(),
  auth: text().notNull(),
  person: text().notNull(), // the name given at sign-in
  signInId: uuid() // a browser is told as long as its sign-in lasts; signing in there again renews it
    .notNull()
    .references(() => signIns.id, { onDelete: 'cascade' }),
  titles: boolean().notNull(),
  browser: text().notNull(),
  madeAt: at().notNull().defaultNow(),
  lastError: text(),
})

// What is still to be sent of a notice: a row goes once it was taken, or given up.
export const noticeDeliveries = pgTable(
  'notice_deliveries',
  {
    id: uuid().primaryKey(),
    noticeId: uuid()
      .notNull()
      .references(() => notices.id, { onDelete: 'cascade' }),
    subscriptionId: uuid().references(() => pushSubscriptions.id, { onDelete: 'cascade' }), // null: NOTIFY_URL
    tries: integer().notNull().default(0),
    dueAt: at().notNull().defaultNow(), // of the next try; while one is under way, when another instance may try
  },
  (t) => [
    index('notice_deliveries_due').on(t.dueAt),
    index('notice_deliveries_notice').on(t.noticeId),
    index('notice_deliveries_subscription').on(t.subscriptionId),
  ],
)
