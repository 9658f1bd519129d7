// Finds sessions by their titles, descriptions and documents. These texts are long, so that one word of the query alone means little: a session
// must have words that make up most of the query's weight.
import type { Queries } from '../../db/database.ts'
import { binderTo } from '../../db/params.ts'
import { B, K1, quoted } from './tokenizer.ts'
import { pgArray, plainArray } from '../../db/arrays.ts'
import { pause } from '../core/runtime/pause.ts'
import { folded } from '../core/text/nfkc.ts'
import { firstFound, wordsAmong } from '../core/text/word-places.ts'
import { LAST_EVENT_AT } from '../stores/last-event-at.ts'
import { weightOf } from './candidates.ts'
import type { Scope } from './scope.ts'
import { timesOf, type ParsedQuery } from './ranking.ts'

const COVERED = 0.6 // of the query's weight is what a session must have
const USUAL_LENGTH = 200 // in terms
const MOST_CANDIDATES = 5_000

/** Sessions best first, and the terms by which they were found, the rarest first. */
export interface SessionMatches {
  found: { session_id: string; score: number }[]
  terms: string[]
}

// A word of the query, or its corrections.
interface WordGroup {
  terms: string[]
  weight: number
}

/** The `limit` best sessions for a query: a word in the title counts most. With times, only sessions that had events in that range. */
export const findSessions = async (
  queries: Queries,
  parsed: ParsedQuery,
  { scope: { session, from, before }, limit }: { scope: Scope; limit: number },
): Promise<SessionMatches> => {
  const groups = await groupsOf(queries, parsed)
  const terms = groups.flatMap((group) => group.terms)
  if (groups.length === 0) return { found: [], terms }
  const params: unknown[] = []
  const bind = binderTo(params)
  const total = groups.reduce((sum, { weight }) => sum + weight, 0)
  const any = (among: WordGroup[], label = '') => bind(among.flatMap((group) => group.terms.map((term) => quoted(term) + label)).join('|'))
  const within = [
    ...(session === undefined ? [] : [`i.session_id = ${bind(session)}::uuid`]),
    ...(from === undefined ? [] : [`t.updated_at >= ${bind(from)}::timestamptz`]),
    ...(before === undefined ? [] : [`t.started_at < ${bind(before)}::timestamptz`]),
  ]
  const covered = groups.map((group) => `(tsv @@ ${any([group])}::tsquery)::int * ${bind(group.weight / total)}::float8`)
  const scored = groups.map((group) => {
    const times = group.terms.map((term) => timesOf(bind(quoted(term))))
    const inText = `1 - slowdown / (slowdown + greatest(${times.join(', ')}))`
    return `${bind(group.weight / total)}::float8 * case when tsv @@ ${any([group], ':A')}::tsquery then 1 else ${inText} end`
  })
  const found = await queries.query<{ session_id: string; score: number }>(
    `select session_id, round((${scored.join(' + ')})::numeric, 4)::float8 as score from (
       select i.session_id, i.tsv, t.updated_at, ${bind(K1 * (1 - B))}::float8 + i.length * ${bind((K1 * B) / USUAL_LENGTH)}::float8 as slowdown
       from session_search i join session_index t on t.session_id = i.session_id
       where ${[`i.tsv @@ ${any(decisive(groups, total))}::tsquery`, ...within].join(' and ')} limit ${MOST_CANDIDATES}
     ) candidates where ${covered.join(' + ')} >= ${bind(COVERED)}::float8
     order by score desc, updated_at desc, session_id limit ${bind(limit)}::int8`,
    params,
  )
  return { found, terms }
}

// The rarest words, of which a session needs at least one to reach COVERED.
const decisive = (groups: WordGroup[], total: number): WordGroup[] => {
  let missing = 0
  const needed = groups.findIndex(({ weight }) => (missing += weight) > total * (1 - COVERED) + 1e-9)
  return groups.slice(0, needed + 1)
}

const groupsOf = async (queries: Queries, { terms, unknown, corrected, corpus }: ParsedQuery): Promise<WordGroup[]> => {
  const here = await amongSessions(queries, unknown)
  const corrections = new Set([...corrected.values()].flat())
  const eventsOf = new Map(terms.map(({ term, events }) => [term, events]))
  const groupOf = (own: string[]): WordGroup => ({
    terms: own,
    weight: weightOf(Math.min(...own.map((term) => eventsOf.get(term) ?? 0)), corpus.events),
  })
  return [
    ...terms.filter(({ term }) => !corrections.has(term)).map(({ term }) => [term]),
    ...unknown.map((term) => (here.has(term) ? [term] : (corrected.get(term) ?? []).filter((word) => eventsOf.has(word)))),
  ]
    .filter((own) => own.length > 0)
    .map(groupOf)
    .sort((a, b) => b.weight - a.weight)
}

const amongSessions = async ({ query }: Queries, terms: string[]): Promise<Set<string>> => {
  if (terms.length === 0) return new Set()
  const rows = await query<{ term: string }>(
    `select term from unnest($1::text[]) term where exists (select from session_search where tsv @@ ('''' || term || '''')::tsquery)`,
    [pgArray(terms)],
  )
  return new Set(rows.map(({ term }) => term))
}

export interface SessionText {
  id: string
  title: string
  description: string
  source: string
  completed: boolean
  updated_at: string
  /** The part of the document around the first of the terms that it has as a word, or at least within another; null if it has none of them. */
  around: string | null
}

const BEFORE = 400 // characters
const AROUND = 1_600

const READ_AT_ONCE = 5

/** Sessions with their texts around these terms, which come most telling first. Documents are large and searched whole: between some of them
 *  other calls have their turn. */
export const sessionTexts = async (queries: Queries, ids: string[], terms: string[]): Promise<SessionText[]> => {
  const texts: SessionText[] = []
  for (let read = 0; read < ids.length; read += READ_AT_ONCE) {
    if (read > 0) await pause()
    texts.push(...(await someTexts(queries, ids.slice(read, read + READ_AT_ONCE), terms)))
  }
  return texts
}

const someTexts = async (queries: Queries, ids: string[], terms: string[]): Promise<SessionText[]> => {
  const texts = await queries.query<SessionText & { unsure: boolean }>(
    `select s.id, s.title, s.description, s.source, s.status = 'closed' as completed, ${LAST_EVENT_AT} as updated_at,
           case when place > 0 then substr(d.content, greatest(1, place - ${BEFORE}), ${AROUND}) end as around,
           place = 0 and octet_length(d.content) > length(d.content) as unsure
         from sessions s left join session_docs d on d.session_id = s.id
         cross join lateral (select lower(coalesce(d.content, '')) as lower_content offset 0) l
         cross join lateral (select coalesce(${[...terms.map((_, i) => `nullif(strpos(lower_content, $${i + 2}), 0)`), '0'].join(', ')}) as place) p
         where s.id = any($1::uuid[])`,
    [plainArray(ids), ...terms],
  )
  const withWord = async ({ unsure, ...text }: SessionText & { unsure: boolean }): Promise<SessionText> => {
    const sure = text.around === null ? !unsure : firstIsWord(text.around, terms)
    return sure ? text : { ...text, around: await aroundWord(queries, text.id, terms) }
  }
  return Promise.all(texts.map(withWord))
}

// The first of the terms that are there is the one around which the text was taken.
const firstIsWord = (around: string, terms: string[]): boolean => {
  const compared = folded(around)
  const first = terms.filter((term) => compared.includes(term)).slice(0, 1)
  return wordsAmong(around, first).length > 0
}

// Postgres compares neither words nor forms of letters: a document may have the term within another word first, or with letters outside ASCII
// in another form. To read such a document takes about as long as Postgres takes to put it in lower case, also where it is full of the terms
// within other words: word-places.ts looks at some of these alone.
const aroundWord = async ({ query }: Queries, id: string, terms: string[]): Promise<string | null> => {
  const [doc] = await query<{ content: string }>('select content from session_docs where session_id = $1', [id])
  const place = firstFound(doc?.content ?? '', terms)?.place
  if (place === undefined) return null
  const from = Math.max(0, place - BEFORE)
  return doc!.content.slice(from, from + AROUND).toWellFormed()
}
