// The search index. All of it is made from the log, and `bun run reindex` rebuilds it (src/search/indexer.ts).
import { sql } from 'drizzle-orm'
import { bigint, customType, index, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { at, sessions } from './schema.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })
const bytewise = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' }) // so that a prefix is a range, whatever the locale

// How far each session is indexed, and what sessions are listed by. Kept apart from `sessions`, whose row every post updates.
export const sessionIndex = pgTable(
  'session_index',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    indexedSequence: bigint({ mode: 'number' }).notNull().default(0),
    startedAt: at().notNull(),
    updatedAt: at().notNull(),
    mode: text().notNull().default('chat'),
    messages: integer().notNull().default(0), // among the indexed events, so that a list of sessions reads no log to count them
  },
  (t) => [
    index('session_index_updated').on(t.updatedAt, t.sessionId, t.startedAt),
    index('session_index_mode').on(t.mode, t.updatedAt, t.sessionId, t.startedAt),
  ],
)

// The terms of each event. `tsv` has each term with its count (as that many positions), `hot` the terms that weigh much in the event, by
// level (search/tokenizer.ts). The migration keeps rows of up to 8 KiB whole and uncompressed: a search reads a thousand of them, each for
// every term.
export const eventSearch = pgTable(
  'event_search',
  {
    sessionId: uuid().notNull(),
    turn: integer().notNull(),
    sequence: bigint({ mode: 'number' }).notNull(),
    id: uuid().notNull(),
    kind: smallint().notNull(), // its place in EVENT_TYPES (core/events/event-types.ts)
    at: at().notNull(),
    length: integer().notNull(), // in terms
    tsv: tsvector().notNull(),
    hot: tsvector().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.turn, t.sequence] }),
    index('event_search_tsv').using('gin', t.tsv),
    index('event_search_hot').using('gin', t.hot),
    index('event_search_at').on(t.at, t.kind), // for searches within a time, and to count the messages of a day
  ],
)

// The terms of each session's title, description and document, as of a document version and a hash of title and description (`head`). In
// `tsv` the title's words have the label A (src/search/session-ranking.ts).
export const sessionSearch = pgTable(
  'session_search',
  {
    sessionId: uuid()
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    docVersion: integer().notNull(),
    head: text().notNull(),
    length: integer().notNull(), // in terms
    tsv: tsvector().notNull(),
  },
  (t) => [index('session_search_tsv').using('gin', t.tsv)],
)

// For each term the number of events that have it, and of those that have it at each level. Indexed backwards too: one typo leaves a
// word's first or second half unchanged.
export const searchTerms = pgTable(
  'search_terms',
  { term: bytewise().primaryKey(), events: integer().notNull(), levels: integer().array() },
  (t) => [index('search_terms_reversed').on(sql`reverse(${t.term})`)],
)

// One row: the size of the index, and while it is being rebuilt (`rebuilding`) the number of events there are to index.
export const searchCorpus = pgTable('search_corpus', {
  id: smallint().primaryKey(),
  events: bigint({ mode: 'number' }).notNull(),
  length: bigint({ mode: 'number' }).notNull(),
  rebuilding: bigint({ mode: 'number' }),
})
