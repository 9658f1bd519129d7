// Finds sessions, action items and decisions by words of their titles and descriptions, also misspelt ones, by their trigrams (pg_trgm).
//
// Titles are short: they are searched for words that are as alike as two typos leave them, which is 0.45. In whole texts so many trigrams meet
// by chance that the same took 250 to 1,000 ms among 50,000 of them, where titles take 10 to 30 (bench/records). There all words must stand as
// they are, or all but one; one or two words may be nearly right.
import { sql, type SQL } from 'drizzle-orm'
import { pgArray } from '../../../db/arrays.ts'
import type { Database, Queries } from '../../../db/database.ts'
import { hasAllWords, hasNearlyAllWords, longWordsOf, patternsOf } from './words.ts'

export const CONTENT_TYPES = ['meeting', 'action', 'decision'] as const
export type ContentType = (typeof CONTENT_TYPES)[number]

export interface Found {
  id: string
  type: ContentType
  title: string
  description: string
  session_id: string
  at: string
  /** A person has withdrawn it. */
  withdrawn: boolean
  score: number
}

export interface Search {
  query: string
  types: readonly ContentType[]
  /** The one session to search in; undefined: all. */
  sessionId: string | undefined
  limit: number
}

/** What a hit counts that is not in the title. */
const IN_TEXT = 0.9
/** What all words count at least where they are as they were asked for. */
const AS_ASKED = 0.75
const ALIKE = { titles: 0.45, texts: 0.75, words: 0.6 }
const LEAST = 0.4 // of what is found by words here and there
// Candidates of each table: what has more than so many hits is found by words that say nothing, and any of them will do.
const CANDIDATES = { titles: 500, texts: 50 }

const TABLES: Record<ContentType, { from: SQL; session: SQL; at: SQL; which: SQL; withdrawn: SQL }> = {
  meeting: { from: sql`sessions`, session: sql`id`, at: sql`created_at`, which: sql`purged_at is null`, withdrawn: sql`false` },
  action: {
    from: sql`items`,
    session: sql`session_id`,
    at: sql`created_at`,
    which: sql`kind = 'action'`,
    withdrawn: sql`(status = 'dropped' and withdrawn_at is not null)`,
  },
  decision: { from: sql`decisions`, session: sql`session_id`, at: sql`at`, which: sql`true`, withdrawn: sql`(withdrawn_at is not null)` },
}
const TEXT = sql`(title || ' ' || description)`
// Likeness takes milliseconds for each longer text. Such a one is found by words as they were asked for, and is a little like the query where
// nearly all of these stand further back.
const LONG = sql.raw('2000') // characters
const FURTHER_BACK = 0.3

interface Tier {
  condition: SQL
  /** Candidates of each table. */
  most: number
}

// The best rows of each type that the condition finds. A query without trigrams has no condition on them: the index would be read whole. A
// second tier costs much, and is asked only where the first has not enough: its condition on the count is judged before any row is read.
const best = ({ types, sessionId, limit }: Search, [first, second]: [Tier, Tier?], score: SQL): SQL => {
  const found = ({ condition, most }: Tier) =>
    sql.join(
      CONTENT_TYPES.map((type) => {
        const { from, session, at, which, withdrawn } = TABLES[type]
        const only = sql`${type}::text = any(${pgArray(types)}::text[]) and (${sessionId ?? null}::uuid is null or ${session} = ${sessionId ?? null}::uuid)`
        return sql`(select id, ${type}::text as type, title, description, ${session} as session_id, ${at} as at, ${withdrawn} as withdrawn from ${from}
          where ${which} and ${only} and ${condition} limit ${sql.raw(String(most))})`
      }),
      sql` union all `,
    )
  const more = second && found({ ...second, condition: sql`(select count(*) from first) < ${limit}::int and ${second.condition}` })
  return sql`with first as materialized (${found(first)})
    select id, type, title, description, session_id, at, withdrawn, ${score} as score
    from (select * from first${more ? sql` union all ${more}` : sql``}) found order by score desc, withdrawn, at desc, id desc limit ${limit * 2}`
}

const hasTrigrams = (query: string) => sql`show_trgm(${query}) <> '{}'`
const alike = (query: string, text: SQL) => sql`${hasTrigrams(query)} and ${query} <% ${text}`

export const inTitles = (search: Search): SQL => {
  const { query } = search
  return best(search, [{ condition: alike(query, sql`title`), most: CANDIDATES.titles }], sql`word_similarity(${query}, title)`)
}

export const inTexts = (search: Search): SQL => {
  const { query } = search
  const asAsked = (text: SQL) =>
    sql`case when ${text} ilike all (${pgArray(patternsOf(query))}::text[]) then ${sql.raw(String(AS_ASKED))} else 0 end`
  return best(
    search,
    [
      { condition: hasAllWords(TEXT, query), most: CANDIDATES.texts },
      {
        condition: hasNearlyAllWords(TEXT, query) ?? sql`length(description) <= ${LONG} and ${alike(query, TEXT)}`,
        most: CANDIDATES.texts,
      },
    ],
    sql`greatest(${asAsked(sql`title`)}, ${sql.raw(String(IN_TEXT))} * greatest(word_similarity(${query}, left(${TEXT}, ${LONG})), ${asAsked(TEXT)}, ${sql.raw(String(FURTHER_BACK))}))`,
  )
}

// Misspelt words that stand here and there in a title: two of the longest, or the only long one. Undefined for a query without one.
const inScatteredWords = (search: Search): SQL | undefined => {
  const words = longWordsOf(search.query)
  const pairs = words.flatMap((one, i) => words.slice(i + 1).map((other) => sql`(${one} <% title and ${other} <% title)`))
  const condition = pairs.length > 0 ? pairs : words.map((one) => sql`${one} <% title`)
  if (condition.length === 0) return undefined
  const likeness = sql.join(
    words.map((word) => sql`word_similarity(${word}, title)`),
    sql` + `,
  )
  const score = sql`${sql.raw(String(IN_TEXT))} * (${likeness}) / ${sql.raw(String(words.length))}`
  return best(search, [{ condition: sql`(${sql.join(condition, sql` or `)})`, most: CANDIDATES.texts }], score)
}

/** The best first: how alike the query is to a title, or nine tenths of how alike it is to a part of title and description together;
 *  of two that are equally good the one that was not withdrawn, then the newer. Four statements, and two more where these find nothing. */
export const searchContent = ({ transaction }: Pick<Database, 'transaction'>, search: Search): Promise<Found[]> =>
  transaction(async (tx) => {
    await setThreshold(tx, ALIKE.titles)
    const titles = await rowsOf(tx, inTitles(search))
    await setThreshold(tx, ALIKE.texts)
    const texts = await rowsOf(tx, inTexts(search))
    const scattered = titles.length + texts.length === 0 ? inScatteredWords(search) : undefined
    if (scattered) await setThreshold(tx, ALIKE.words)
    const rest = scattered ? (await rowsOf(tx, scattered)).filter(({ score }) => score >= LEAST) : []
    const found = new Map<string, Found>()
    for (const row of [...titles, ...texts, ...rest]) if (row.score > (found.get(row.id)?.score ?? 0)) found.set(row.id, row)
    return [...found.values()]
      .toSorted((a, b) => b.score - a.score || Number(a.withdrawn) - Number(b.withdrawn) || compare(b.at, a.at) || compare(b.id, a.id))
      .slice(0, search.limit)
  })

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

// Connections to Postgres never scan a table for want of a better plan (db/session-settings.ts); PGlite would scan the sessions, which takes
// ten times as long as their index.
const setThreshold = ({ query }: Queries, threshold: number) =>
  query(`select set_config('pg_trgm.word_similarity_threshold', $1, true), set_config('enable_seqscan', 'off', true)`, [String(threshold)])

const rowsOf = async ({ db }: Queries, statement: SQL): Promise<Found[]> => (await db.execute(statement)) as unknown as Found[]
