// What is kept of some sessions beside their rows: loops, wakes, the link for people outside, and how far a transcript has been read.
import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { at, sessions } from './schema.ts'

// The sessions that look like a loop, or once did (src/loops/guard.ts).
export const loops = pgTable(
  'loops',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    suspectedAt: at(), // null: a person released the session, or its teams went on to something else
    releasedThrough: bigint({ mode: 'number' }).notNull().default(0), // posts up to this sequence no longer count
  },
  (t) => [
    index('loops_suspected')
      .on(t.suspectedAt)
      .where(sql`${t.suspectedAt} is not null`),
  ],
)

// How many teams messages have woken in a session since its hour began (src/loops/wakes.ts). A person's post begins the hour anew by being
// there: it is looked for, and changes nothing here.
export const wakes = pgTable(
  'wakes',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    since: at().notNull().defaultNow(),
    taken: integer().notNull().default(0),
  },
  (t) => [index('wakes_since').on(t.since)],
)

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

// How far an imported transcript has been read (src/import/): the next import continues there.
export const imports = pgTable(
  'imports',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    bytes: bigint({ mode: 'number' }).notNull(),
    lines: integer().notNull(),
    tail: text().notNull(), // a hash of the last bytes read: a transcript that has been rewritten is refused
    state: jsonb().$type<Record<string, unknown>>().notNull(), // what the reader of its format keeps of earlier lines
    batches: integer().notNull(), // counted, to notice that somebody else imports the same transcript
    at: at().defaultNow(), // of the last batch, whose events have their transcript's times; null: before this column
  },
  (t) => [index('imports_at').on(t.at)],
)
