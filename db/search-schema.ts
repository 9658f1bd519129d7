// The search index, all of it made from the log and rebuilt by `bun run reindex` (src/search/indexer.ts).
import { sql } from 'drizzle-orm'
import { bigint, customType, index, integer, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { at, sessions } from './schema.ts'

const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' })
const bytewise = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' }) // so that a prefix is a range, whatever the locale

// How far it has come in each session, and what sessions are listed by: kept apart from `sessions`, whose row every post updates.
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
    messages: integer().notNull().default(0), // of what is indexed: a page that lists sessions reads no log to count them
  },
  (t) => [
    index('session_index_updated').on(t.updatedAt, t.sessionId, t.startedAt),
    index('session_index_mode').on(t.mode, t.updatedAt, t.sessionId, t.startedAt),
  ],
)

// An event's terms: `tsv` holds each with its count (as that many positions), `hot` those that weigh much in it, by level (search/tokenizer.ts).
// Its rows are kept whole and uncompressed up to 8 KiB (the migration says so): a search reads a thousand of them, each for every term.
export const eventSearch = pgTable(
  'event_search',
  {
    sessionId: uuid().notNull(),
    turn: integer().notNull(),
    sequence: bigint({ mode: 'number' }).notNull(),
    id: uuid().notNull(),
    kind: smallint().notNull(), // its place in KINDS (core/event-types.ts)
    at: at().notNull(),
    length: integer().notNull(), // in terms
    tsv: tsvector().notNull(),
    hot: tsvector().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.turn, t.sequence] }),
    index('event_search_tsv').using('gin', t.tsv),
    index('event_search_hot').using('gin', t.hot),
    index('event_search_at').on(t.at, t.kind), // a stretch of time is searched, and what was said in a day is counted
  ],
)

// What a session is called and what its document says, as of a version of it and of its title and description (`head`, a hash).
// In `tsv` the title's words have the label A (src/search/session-ranking.ts).
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

// In how many events each term is, and how many of them have it at each level. Read backwards too: one typo leaves a word's first or
// second half as it was.
export const searchTerms = pgTable(
  'search_terms',
  { term: bytewise().primaryKey(), events: integer().notNull(), levels: integer().array() },
  (t) => [index('search_terms_reversed').on(sql`reverse(${t.term})`)],
)

// One row: what is indexed by now, and how much there is to index while it is being rebuilt.
export const searchCorpus = pgTable('search_corpus', {
  id: smallint().primaryKey(),
  events: bigint({ mode: 'number' }).notNull(),
  length: bigint({ mode: 'number' }).notNull(),
  rebuilding: bigint({ mode: 'number' }),
})
