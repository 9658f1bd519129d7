// Corrects a term that no event has to one that is a typo away. One edit leaves the first or the second half of a word as it was, so two range
// scans of the vocabulary (one of it reversed) find all candidates. Trigrams (pg_trgm), by which records are searched, miss typos of short
// words: `form` and `from` have one in nine in common.
import type { Queries } from '../../db/database.ts'

const SHORTEST = 4 // letters; shorter words are typos of too many others
const MOST_TERMS = 6
const MOST_WORDS = 3
const CANDIDATES = 4_000

export interface KnownTerm {
  term: string
  events: number
  levels: number[] | null
}

/** For each of the terms, the commonest words that are one typo away; nothing for a term that has none. */
export const correctionsOf = async (queries: Queries, terms: string[]): Promise<Map<string, KnownTerm[]>> => {
  const correctable = terms.filter((term) => term.length >= SHORTEST && /\p{L}/u.test(term)).slice(0, MOST_TERMS)
  const corrected = await Promise.all(correctable.map(async (term) => [term, await wordsNear(queries, term)] as const))
  return new Map(corrected.filter(([, words]) => words.length > 0))
}

const wordsNear = async ({ query }: Queries, term: string): Promise<KnownTerm[]> => {
  const half = Math.floor((term.length - 1) / 2) // a swap across the middle changes a letter of each half, but none of these
  const reversed = [...term].reverse().join('')
  const [first, last] = [term.slice(0, half), reversed.slice(0, half)]
  const candidates = await query<KnownTerm>(
    `(select term, events, levels from search_terms where term >= $1 and term < $2 and length(term) between $5 and $6 limit ${CANDIDATES})
     union
     (select term, events, levels from search_terms where reverse(term) >= $3 and reverse(term) < $4 and length(term) between $5 and $6 limit ${CANDIDATES})`,
    [first, `${first}\u{10FFFF}`, last, `${last}\u{10FFFF}`, term.length - 1, term.length + 1],
  )
  return candidates
    .filter((word) => isOneTypo(term, word.term))
    .sort((a, b) => b.events - a.events)
    .slice(0, MOST_WORDS)
}

/** One letter more, less or other, or two neighbours swapped. */
export const isOneTypo = (a: string, b: string): boolean => {
  if (a === b || Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  return (
    Math.max(left.length, right.length) <= 1 || (left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0])
  )
}
