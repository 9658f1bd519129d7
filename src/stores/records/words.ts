// Texts that have all words of a query.
import { sql, type SQL } from 'drizzle-orm'
import { pgArray } from '../../../db/arrays.ts'
import { patternOf } from '../like.ts'

const INDEXED = 4 // words, the longest, are looked up in a trigram index; each number of them is a statement of its own
const TRIGRAM = 3 // characters: the index knows no shorter text

/** The different words of a query, the longest first. */
export const wordsOf = (query: string): string[] =>
  [...new Set(query.split(/\s+/))].filter((word) => word !== '').toSorted((a, b) => b.length - a.length)

/** The patterns of a query's words, whatever their case, parts of words as well; the longest first. */
export const patternsOf = (query: string): string[] => wordsOf(query).map(patternOf)

/** The longest words of a query that have letters for trigrams. */
export const longWordsOf = (query: string): string[] =>
  wordsOf(query)
    .filter((word) => /[\p{L}\p{N}]{2}/u.test(word))
    .slice(0, INDEXED)

/** The longest of these patterns, which a trigram index can look up. */
export const indexedOf = (patterns: string[]) => patterns.filter((pattern) => pattern.length >= TRIGRAM + 2).slice(0, INDEXED)

/** The condition that a text has all of the query's words. The longest are looked up in its trigram index. */
export const hasAllWords = (text: SQL, query: string): SQL => {
  const patterns = patternsOf(query)
  const indexed = indexedOf(patterns).map((pattern) => sql`${text} ilike ${pattern}`)
  return sql`(${sql.join([...indexed, sql`${text} ilike all (${pgArray(patterns)}::text[])`], sql` and `)})`
}

/** The condition that a text has all but one of the query's longest words; undefined for a query of fewer than three. */
export const hasNearlyAllWords = (text: SQL, query: string): SQL | undefined => {
  const indexed = indexedOf(patternsOf(query))
  if (indexed.length < 3) return undefined
  const without = indexed.map((left) =>
    sql.join(
      indexed.filter((pattern) => pattern !== left).map((pattern) => sql`${text} ilike ${pattern}`),
      sql` and `,
    ),
  )
  return sql`(${sql.join(without, sql` or `)})`
}
