// Finding events by their terms: which rows of the index are worth scoring (candidates.ts), and their score, which is BM25.
import type { Queries } from '../../db/database.ts'
import { B, K1, quoted, termsOf } from './tokenizer.ts'
import { pgArray, plainArray } from '../../db/arrays.ts'
import { everyEvent, likelyEvents, MOST_CANDIDATES, weightOf, type Plan, type Term } from './candidates.ts'
import {
  eventsOfSession,
  isNarrowed,
  knownScope,
  liesWithin,
  RANK_WITHIN,
  shareWithin,
  writtenBy,
  type KnownScope,
  type Scope,
} from './scope.ts'
import { correctionsOf, type Word } from './typos.ts'

export interface Found {
  session_id: string
  turn: number
  sequence: number
  id: string
  at: string
  score: number
}

export interface Corpus {
  events: number
  length: number
  rebuilding: number | null
}

const MOST_TERMS = 24 // of a query: the rarest
const WHOLE = 3 // a query for a path or an identifier means all of it, however long the text is that holds it
const RANK_ALL = 5_000 // events up to which everything is scored

/** What a query asks for. */
export interface Sought {
  /** Of the terms that the index knows, the rarest first. */
  terms: Term[]
  /** Those that no event has, though something else may. */
  unknown: string[]
  /** What was taken for terms that no event has. */
  corrected: Map<string, string[]>
  corpus: Corpus
}

/** Turns a query into the terms to look for. */
export const soughtIn = async (queries: Queries, text: string): Promise<Sought> => {
  const wholes = new Set<string>()
  const asked = [...termsOf(text, wholes).keys()]
  const [corpus, known] = await Promise.all([corpusOf(queries), wordsOf(queries, asked)])
  const unknown = asked.filter((term) => !known.some((word) => word.term === term))
  const corrected = await correctionsOf(queries, unknown)
  for (const [term, words] of corrected) if (wholes.has(term)) for (const word of words) wholes.add(word.term)
  const words = new Map([...known, ...[...corrected.values()].flat()].map((word) => [word.term, word]))
  const terms = [...words.values()]
    .map((word): Term => ({ ...word, weight: weightOf(word.events, corpus.events) * (wholes.has(word.term) ? WHOLE : 1) }))
    .sort((a, b) => a.events - b.events || (a.term < b.term ? -1 : 1))
    .slice(0, MOST_TERMS)
  return {
    terms,
    unknown: unknown.slice(0, MOST_TERMS),
    corrected: new Map([...corrected].map(([term, words]) => [term, words.map((word) => word.term)])),
    corpus,
  }
}

/** The `limit` best events of these kinds, best first: by score, then newest, then by id. */
export const findEvents = async (
  queries: Queries,
  { terms, corpus }: Sought,
  { kinds, scope, limit }: { kinds: number[]; scope: Scope; limit: number },
): Promise<Found[]> => {
  if (terms.length === 0) return []
  const place = await knownScope(queries, scope)
  const way = await wayTo(queries, terms, place, corpus)
  return best(queries, terms, way, { kinds, place, limit, corpus })
}

interface Way {
  plan: Plan
  /** What is read first, and then compared with the other: the planner knows neither how many events have a term nor how many a session
   *  has. Undefined: both are looked up in their indexes. */
  first?: 'place' | 'terms' | undefined
  /** What matches may be more than can be scored. */
  limited?: boolean
}

// A part of the index in which there is little to find is searched whole. In a larger one as many are looked for as if its events
// were all there are.
const wayTo = async (queries: Queries, terms: Term[], place: KnownScope, { events }: Corpus): Promise<Way> => {
  const narrowed = isNarrowed(place)
  const everywhere = terms.reduce((sum, term) => sum + term.events, 0)
  if (place.turn !== undefined) return { plan: everyEvent(terms), first: 'place' }
  if (place.session !== undefined) return wayWithin(await eventsOfSession(queries, place.session), { terms, events, everywhere })
  if (everywhere <= RANK_ALL) return { plan: everyEvent(terms) }
  if (events <= RANK_ALL) return { plan: everyEvent(terms), first: narrowed ? 'place' : undefined }
  const share = narrowed ? await shareWithin(queries, place, events) : 1
  return share === undefined ? { plan: everyEvent(terms), first: 'place' } : likelyWay(terms, events, share)
}

// A session's events lie together: reading them all costs less than reading what holds a common term in all other sessions too.
const wayWithin = (there: number, { terms, events, everywhere }: { terms: Term[]; events: number; everywhere: number }): Way => {
  if (everywhere * APART <= there) return { plan: everyEvent(terms), first: 'terms' }
  if (there <= RANK_WITHIN) return { plan: everyEvent(terms), first: 'place' }
  return everywhere <= RANK_ALL ? { plan: everyEvent(terms), first: 'terms' } : likelyWay(terms, events, there / Math.max(events, there))
}

const APART = 4 // events of one session share a page of the table, those that have a term in common do not

const likelyWay = (terms: Term[], events: number, share: number): Way => {
  const there = terms.map((term) => ({ ...term, events: term.events * share, levels: term.levels?.map((n) => n * share) ?? null }))
  return { plan: likelyEvents(there, events * share), limited: true }
}

const corpusOf = async ({ query }: Queries): Promise<Corpus> =>
  (await query<Corpus>('select events, length, rebuilding from search_corpus'))[0]!

const wordsOf = ({ query }: Queries, terms: string[]) =>
  query<Word>('select term, events, levels from search_terms where term = any($1::text[])', [pgArray(terms)])

// Written so that no index can serve it. With `kind` alone the planner may walk all of event_search_at, by time, until it has as many
// candidates as there may be: it does not know how rare a term is, and the longer the list is that GIN has not sorted in yet, the dearer
// it takes the right index to be. That read a million events for three words, in 4 s.
const UNINDEXED_KIND = '(kind + 0)'

const best = (
  { query }: Queries,
  terms: Term[],
  { plan, first, limited }: Way,
  { kinds, place, limit, corpus }: { kinds: number[]; place: KnownScope; limit: number; corpus: Corpus },
): Promise<Found[]> => {
  const params: unknown[] = []
  const bind = (value: unknown) => `$${params.push(value)}`
  const within = [`${UNINDEXED_KIND} = any(${bind(plainArray(kinds))}::int2[])`, ...liesWithin(place, bind)].join(' and ')
  const most = limited ? ` limit ${MOST_CANDIDATES}` : ''
  const matches = `(${padded(plan)
    .map(({ column, query }) => `${column} @@ ${bind(query)}::tsquery`)
    .join(' or ')})`
  const readFirst = first && (first === 'place' ? within : matches)
  const rows = readFirst ? `(select * from event_search where ${readFirst} offset 0)` : 'event_search'
  const holds = [matches, within, ...writtenBy(place, bind)].join(' and ')
  const total = terms.reduce((sum, { weight }) => sum + weight, 0)
  const average = Math.max(corpus.length / Math.max(corpus.events, 1), 1)
  const weighed = terms.map(
    ({ term, weight }) => `${bind(weight / total)}::float8 * (1 - slowdown / (slowdown + ${timesOf(bind(quoted(term)))}))`,
  )
  return query<Found>(
    `select session_id, turn, sequence, id, at, round((${weighed.join(' + ')})::numeric, 4)::float8 as score
     from (
       select *, ${bind(K1 * (1 - B))}::float8 + length * ${bind((K1 * B) / average)}::float8 as slowdown
       from ${rows} found where ${holds}${most}
     ) candidates
     order by score desc, at desc, id limit ${bind(limit)}::int8`,
    params,
  )
}

// A query without words matches nothing, and so there are three statements to plan and not fifteen.
const padded = (plan: Plan): Plan => {
  const slots = SLOTS.find((n) => n >= plan.length)!
  return [...plan, ...Array.from({ length: slots - plan.length }, (): Plan[number] => ({ column: 'hot', query: '' }))]
}
const SLOTS = [1, 4, 16]

// With all weights 1, ts_rank is the sum of 1/n² over a term's n places, as a part of the endless sum 1.6449…; what is left of that sum
// is 1 / (n + 0.5), nearly: this gives n back exactly, for 0 to 255.
/** How often a term is in a row of an index, as SQL. */
export const timesOf = (term: string) => `round((1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', tsv, ${term}::tsquery))) - 0.5)::float8)`
