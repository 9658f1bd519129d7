// Finds events by their terms: chooses a strategy and the rows worth scoring (candidates.ts), and scores them by BM25.
import type { Queries } from '../../db/database.ts'
import { binderTo } from '../../db/params.ts'
import { B, K1, quoted, termsOf } from './tokenizer.ts'
import { pgArray, plainArray } from '../../db/arrays.ts'
import { everyEvent, likelyEvents, MOST_CANDIDATES, weightOf, type Plan, type QueryTerm } from './candidates.ts'
import {
  eventsOfSession,
  isNarrowed,
  resolveScope,
  liesWithin,
  RANK_WITHIN,
  shareWithin,
  writtenBy,
  type ResolvedScope,
  type Scope,
} from './scope.ts'
import { correctionsOf, type KnownTerm } from './typos.ts'

export interface ScoredEvent {
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

const MOST_TERMS = 24 // of a query; the rarest are kept
const WHOLE = 3 // times the weight: a query for a path or an identifier means all of it, not its parts
// A longer text counts as one of so many times the average for a path or an identifier: in a long log it is as much meant. Without this limit
// short texts of like names came before it.
const LONGEST_FOR_WHOLE = 2
const RANK_ALL = 5_000 // events; up to so many are all scored
// Of the likeliest events there may be too few of the kinds or the author asked for. Then candidates are chosen once more, as if no more than
// this share of the events could be found: they are twenty times as many, and take some tenths of a second. In a session with a smaller share,
// all its events are.
const LEAST_SHARE = 1 / 20

/** A query, as the index understands it. */
export interface ParsedQuery {
  /** Its terms that the index knows, the rarest first. */
  terms: QueryTerm[]
  /** Its terms that no event has, though a title or document may. */
  unknown: string[]
  /** For terms that no event has, those that were taken instead. */
  corrected: Map<string, string[]>
  corpus: Corpus
}

/** Turns a query's text into the terms to search for. */
export const parseQuery = async (queries: Queries, text: string): Promise<ParsedQuery> => {
  const wholes = new Set<string>()
  const given = [...termsOf(text, wholes).keys()]
  const [corpus, known] = await Promise.all([corpusOf(queries), wordsOf(queries, given)])
  const unknown = given.filter((term) => !known.some((word) => word.term === term))
  const corrected = await correctionsOf(queries, unknown)
  for (const [term, words] of corrected) if (wholes.has(term)) for (const word of words) wholes.add(word.term)
  const words = new Map([...known, ...[...corrected.values()].flat()].map((word) => [word.term, word]))
  const terms = [...words.values()]
    .map((word): QueryTerm => {
      const whole = wholes.has(word.term)
      return { ...word, whole, weight: weightOf(word.events, corpus.events) * (whole ? WHOLE : 1) }
    })
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
  { terms, corpus }: ParsedQuery,
  { kinds, scope, limit }: { kinds: number[]; scope: Scope; limit: number },
): Promise<ScoredEvent[]> => {
  if (terms.length === 0) return []
  const resolved = await resolveScope(queries, scope)
  const { wider, ...strategy } = await strategyFor(queries, terms, resolved, corpus)
  const score = (chosen: Strategy) => scoreCandidates(queries, terms, chosen, { kinds, scope: resolved, limit, corpus })
  const found = await score(strategy)
  if (!wider || found.length >= Math.min(limit, ENOUGH)) return found
  const all = new Map([...found, ...(await score(wider))].map((event) => [event.id, event])) // of the wider ones not all may have been scored
  return [...all.values()].sort(bestFirst).slice(0, limit)
}

const ENOUGH = 51 // events, a page and one: all pages of one search are of the same candidates
const bestFirst = (a: ScoredEvent, b: ScoredEvent) => b.score - a.score || compared(b.at, a.at) || compared(a.id, b.id)
const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

interface Strategy {
  plan: Plan
  /** Which condition selects the rows, which the others then filter: the planner knows neither how many events have a term nor how many a
   *  session has. Undefined: the planner chooses. */
  first?: 'scope' | 'terms' | undefined
  /** More rows may match than can be scored. */
  limited?: boolean
  /** For when too few of the rows are of the kinds and the author asked for. */
  wider?: Strategy | undefined
}

// A scope with few events is scored whole. In a larger one, candidates are chosen as if its events were the whole index.
const strategyFor = async (queries: Queries, terms: QueryTerm[], scope: ResolvedScope, { events }: Corpus): Promise<Strategy> => {
  const narrowed = isNarrowed(scope)
  const everywhere = terms.reduce((sum, term) => sum + term.events, 0)
  if (scope.turn !== undefined) return { plan: everyEvent(terms), first: 'scope' }
  if (scope.session !== undefined) return strategyInSession(await eventsOfSession(queries, scope.session), { terms, events, everywhere })
  if (everywhere <= RANK_ALL) return { plan: everyEvent(terms) }
  if (events <= RANK_ALL) return { plan: everyEvent(terms), first: narrowed ? 'scope' : undefined }
  const share = narrowed ? await shareWithin(queries, scope, events) : 1
  return share === undefined ? { plan: everyEvent(terms), first: 'scope' } : likelyStrategy(terms, events, share)
}

// A session's events lie together on disk: reading all of them costs less than reading the rows of a common term in all sessions.
const strategyInSession = (
  inSession: number,
  { terms, events, everywhere }: { terms: QueryTerm[]; events: number; everywhere: number },
): Strategy => {
  if (everywhere * APART <= inSession) return { plan: everyEvent(terms), first: 'terms' }
  if (inSession <= RANK_WITHIN) return { plan: everyEvent(terms), first: 'scope' }
  if (everywhere <= RANK_ALL) return { plan: everyEvent(terms), first: 'terms' }
  const { wider = { plan: everyEvent(terms), first: 'scope', limited: true }, ...strategy } = likelyStrategy(
    terms,
    events,
    inSession / Math.max(events, inSession),
  )
  return { ...strategy, wider }
}

const APART = 4 // times the cost: events of one session share a page of the table, events with a term in common do not

const likelyStrategy = (terms: QueryTerm[], events: number, share: number): Strategy => {
  const there = terms.map((term) => ({ ...term, events: term.events * share, levels: term.levels?.map((n) => n * share) ?? null }))
  const wider = share > LEAST_SHARE ? likelyStrategy(terms, events, LEAST_SHARE) : undefined
  return { plan: likelyEvents(there, events * share), limited: true, wider }
}

const corpusOf = async ({ query }: Queries): Promise<Corpus> =>
  (await query<Corpus>('select events, length, rebuilding from search_corpus'))[0]!

const wordsOf = ({ query }: Queries, terms: string[]) =>
  query<KnownTerm>('select term, events, levels from search_terms where term = any($1::text[])', [pgArray(terms)])

// An expression that no index can serve. For plain `kind` the planner may walk event_search_at until it has enough candidates: it does not
// know how rare a term is, and the longer GIN's pending list, the costlier it takes the right index to be. Once it read a million events for
// three words, in 4 s.
const UNINDEXED_KIND = '(kind + 0)'

const scoreCandidates = (
  { query }: Queries,
  terms: QueryTerm[],
  { plan, first, limited }: Strategy,
  { kinds, scope, limit, corpus }: { kinds: number[]; scope: ResolvedScope; limit: number; corpus: Corpus },
): Promise<ScoredEvent[]> => {
  const params: unknown[] = []
  const bind = binderTo(params)
  const within = [`${UNINDEXED_KIND} = any(${bind(plainArray(kinds))}::int2[])`, ...liesWithin(scope, bind)].join(' and ')
  const most = limited ? ` limit ${MOST_CANDIDATES}` : ''
  const matches = `(${padded(plan)
    .map(({ column, query }) => `${column} @@ ${bind(query)}::tsquery`)
    .join(' or ')})`
  const readFirst = first && (first === 'scope' ? within : matches)
  const rows = readFirst ? `(select * from event_search where ${readFirst} offset 0)` : 'event_search'
  const holds = [matches, within, ...writtenBy(scope, bind)].join(' and ')
  const total = terms.reduce((sum, { weight }) => sum + weight, 0)
  const average = Math.max(corpus.length / Math.max(corpus.events, 1), 1)
  const weighed = terms.map(({ term, weight, whole }) => {
    const slow = `least(slowdown, ${bind(whole ? slowdownAt(LONGEST_FOR_WHOLE) : Infinity)}::float8)` // one text for all: each is prepared
    return `${bind(weight / total)}::float8 * (1 - ${slow} / (${slow} + ${timesOf(bind(quoted(term)))}))`
  })
  return query<ScoredEvent>(
    `select session_id, turn, sequence, id, at, round((${weighed.join(' + ')})::numeric, 4)::float8 as score
     from (
       select *, ${bind(K1 * (1 - B))}::float8 + length * ${bind((K1 * B) / average)}::float8 as slowdown
       from ${rows} found where ${holds}${most}
     ) candidates
     order by score desc, at desc, id limit ${bind(limit)}::int8`,
    params,
  )
}

// BM25's slowdown in a text of so many times the average length.
const slowdownAt = (length: number) => K1 * (1 - B + B * length)

// Pads the plan with queries that match nothing, so that three statements have to be prepared and not fifteen.
const padded = (plan: Plan): Plan => {
  const slots = SLOTS.find((n) => n >= plan.length)!
  return [...plan, ...Array.from({ length: slots - plan.length }, (): Plan[number] => ({ column: 'hot', query: '' }))]
}
const SLOTS = [1, 4, 16]

/** How often a term is in a row of an index, as SQL. With all weights 1, ts_rank is the sum of 1/i² over a term's n places, divided by the
 *  infinite sum 1.6449…; the rest of that sum is nearly 1 / (n + 0.5), from which n comes out exactly for 0 to 255. */
export const timesOf = (term: string) => `round((1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', tsv, ${term}::tsquery))) - 0.5)::float8)`
