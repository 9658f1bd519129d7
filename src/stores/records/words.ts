// Texts that have all words of a query.
import { sql, type SQL } from 'drizzle-orm'
import { pgArray } from '../../../db/arrays.ts'

const INDEXED = 4 // words; each number of them is a statement of its own
const TRIGRAM = 3 // characters: the index knows no shorter text

const patternOf = (word: string) => `%${word.replace(/[\\%_]/g, '\\$&')}%`

/** The patterns of a query's words, whatever their case, parts of words as well; the longest first. */
export const patternsOf = (query: string): string[] =>
  [...new Set(query.toLowerCase().split(/\s+/))]
    .filter((word) => word !== '')
    .toSorted((a, b) => b.length - a.length)
    .map(patternOf)

/** The condition that a text has all of the query's words. The longest are looked up in its trigram index. */
export const hasAllWords = (text: SQL, query: string): SQL => {
  const patterns = patternsOf(query)
  const indexed = patterns.filter((pattern) => pattern.length >= TRIGRAM + 2).slice(0, INDEXED)
  const conditions = [...indexed.map((pattern) => sql`${text} ilike ${pattern}`), sql`${text} ilike all (${pgArray(patterns)}::text[])`]
  return sql`(${sql.join(conditions, sql` and `)})`
}
