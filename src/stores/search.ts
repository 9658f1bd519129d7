// Finding events by their terms: which rows of the index are worth scoring (search-plan.ts), and their score, which is BM25.
import type { Queries } from '../../db/database.ts'
import { B, K1, quoted, termsOf } from '../core/terms.ts'
import { everyEvent, likelyEvents, MOST_CANDIDATES, weightOf, type Plan, type Term } from './search-plan.ts'
import { correctionsOf, type Word } from './typos.ts'

export interface Scope {
  session?: string | undefined
  turn?: number | undefined
}

export interface Found {
  session_id: string
  turn: number
  sequence: number
  id: string
  score: number
}

export interface Findings {
  /** Best first: by score, then newest, then by id. */
  found: Found[]
  /** All terms that were looked for, the rarest first. */
  terms: string[]
  /** What was taken for terms that no event has. */
  corrected: Map<string, string[]>
  corpus: Corpus
}

export interface Corpus {
  events: number
  length: number
  rebuilding: number | null
}

const MOST_TERMS = 24 // of a query: the rarest
const WHOLE = 3 // who asks for a path or an identifier means all of it, however long the text is that holds it
const RANK_ALL = 5_000 // events up to which everything is scored

/** The `limit` best events of these kinds for a query. */
export const findEvents = async (
  queries: Queries,
  text: string,
  { kinds, scope, limit }: { kinds: number[]; scope: Scope; limit: number },
): Promise<Findings> => {
  const wholes = new Set<string>()
  const terms = [...termsOf(text, wholes).keys()]
  const [corpus, known] = await Promise.all([corpusOf(queries), wordsOf(queries, terms)])
  const corrected = await correctionsOf(
    queries,
    terms.filter((term) => !known.some((word) => word.term === term)),
  )
  for (const [term, words] of corrected) if (wholes.has(term)) for (const word of words) wholes.add(word.term)
  const words = new Map([...known, ...[...corrected.values()].flat()].map((word) => [word.term, word]))
  const wanted = [...words.values()]
    .map((word): Term => ({ ...word, weight: weightOf(word.events, corpus.events) * (wholes.has(word.term) ? WHOLE : 1) }))
    .sort((a, b) => a.events - b.events || (a.term < b.term ? -1 : 1))
    .slice(0, MOST_TERMS)
  const all = scope.session !== undefined || corpus.events <= RANK_ALL
  const plan = all ? everyEvent(wanted) : likelyEvents(wanted, corpus.events)
  return {
    found: wanted.length === 0 ? [] : await best(queries, wanted, plan, { kinds, scope, limit, corpus }),
    terms: wanted.map(({ term }) => term),
    corrected: new Map([...corrected].map(([term, words]) => [term, words.map((word) => word.term)])),
    corpus,
  }
}

const corpusOf = async ({ query }: Queries): Promise<Corpus> =>
  (await query<Corpus>('select events, length, rebuilding from search_corpus'))[0]!

const wordsOf = ({ query }: Queries, terms: string[]) =>
  query<Word>('select term, events, levels from search_terms where term = any($1::text[])', [
    `{${terms.map((term) => `"${term}"`).join(',')}}`,
  ])

const best = (
  { query }: Queries,
  terms: Term[],
  plan: Plan,
  { kinds, scope, limit, corpus }: { kinds: number[]; scope: Scope; limit: number; corpus: Corpus },
): Promise<Found[]> => {
  const params: unknown[] = []
  const bind = (value: unknown) => `$${params.push(value)}`
  const within = [
    `kind = any(${bind(`{${kinds.join(',')}}`)}::int2[])`,
    ...(scope.session === undefined ? [] : [`session_id = ${bind(scope.session)}::uuid`]),
    ...(scope.turn === undefined ? [] : [`turn = ${bind(scope.turn)}::int`]),
  ].join(' and ')
  const most = plan.hot === undefined ? '' : ` limit ${MOST_CANDIDATES}`
  const candidates = Object.entries(plan).map(
    ([column, match]) => `(select * from event_search where ${column} @@ ${bind(match)}::tsquery and ${within}${most})`,
  )
  const total = terms.reduce((sum, { weight }) => sum + weight, 0)
  const average = Math.max(corpus.length / Math.max(corpus.events, 1), 1)
  const weighed = terms.map(
    ({ term, weight }) => `${bind(weight / total)}::float8 * (1 - slowdown / (slowdown + ${timesOf(bind(quoted(term)))}))`,
  )
  return query<Found>(
    `select distinct session_id, turn, sequence, id, at, score from (
       select session_id, turn, sequence, id, at, round((${weighed.join(' + ')})::numeric, 4)::float8 as score
       from (select *, ${bind(K1 * (1 - B))}::float8 + length * ${bind((K1 * B) / average)}::float8 as slowdown from (${candidates.join(' union all ')}) arms) candidates
     ) scored
     order by score desc, at desc, id limit ${bind(limit)}::int8`,
    params,
  )
}

// How often a term is in an event. With all weights 1, ts_rank is the sum of 1/n² over its n places, as a part of the endless sum
// 1.6449…; what is left of that sum is 1 / (n + 0.5), nearly: this gives n back exactly, for 0 to 255.
const timesOf = (term: string) => `round((1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', tsv, ${term}::tsquery))) - 0.5)::float8)`
