// Finds where something was said or done: an id and a snippet for each hit. search/ranking.ts finds and ranks events; session-hits.ts adds
// sessions that are found by their titles and documents.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { secondsSince } from '../core/runtime/metrics.ts'
import { eventTypeNumber, eventTypeOf, EVENT_TYPES, SEARCHABLE, SEARCHED_BY_DEFAULT, type EventType } from '../core/events/event-types.ts'
import type { Context } from '../operations/context.ts'
import { eventsAt, eventGroupsOf, sessionsByIds, type HistoryRow, type SessionRow } from '../stores/history.ts'
import type { Scope } from '../search/scope.ts'
import { findEvents, parseQuery, type Corpus, type ScoredEvent, type ParsedQuery } from '../search/ranking.ts'
import { HEAD, LONGEST_TERM, TAIL } from '../search/tokenizer.ts'
import { matchingSessions, withoutSessionTerms, mergeSessions } from './session-hits.ts'
import { eventRef, parseRef, sessionRef, turnRef } from './ids.ts'
import { factsOf, sessionFacts } from './session-facts.ts'
import { rowLimit, nullable, nonEmptyText, tool } from './tool.ts'
import { isTerminal, shortOf, turnsOf, type TurnFacts } from './turns.ts'

const LONGEST_QUERY = 4096
const MOST_TYPES = 100 // more than there are
const kindNames = z
  .array(z.string({ error: 'event_types must contain only strings' }), { error: 'event_types must be an array or null' })
  .min(1, 'event_types must name at least one event type')
  .max(MOST_TYPES, `event_types must name at most ${MOST_TYPES} event types`)

export const queryText = nonEmptyText('query').refine(
  (text) => [...text].length <= LONGEST_QUERY,
  `query must have at most ${LONGEST_QUERY} characters`,
)

const short = z.object({ text: z.string(), truncated: z.boolean() })

/** A found event. */
export const hit = z.object({
  rank: z.int(),
  score: z.number().min(0).max(1),
  id: z.string(),
  event: z.object({ id: z.string(), type: z.enum(EVENT_TYPES), timestamp: z.iso.datetime(), ordinal: z.int(), terminal: z.boolean() }),
  turn: z.object({ id: z.string(), ordinal: z.int(), completed: z.boolean(), event_count: z.int() }),
  session: sessionFacts,
  snippet: short,
  open: z.object({ event_id: z.string(), turn_id: z.string(), session_id: z.string() }),
})

/** 1 to 50 hits, 10 by default, ranked by search/ranking.ts; due within 750 ms, 504 after 4.5 s. */
export const searchSessions = tool({
  name: 'search_sessions',
  summary:
    'Find where something was said or done, in all sessions or in one session or turn. Gives ids and snippets; read more with open. Sessions are found by their titles and documents too: see warnings. Paths, identifiers and error codes are found whole or by their parts.',
  searchHint: 'find past sessions, transcripts, messages',
  input: z.strictObject({
    query: queryText.describe('What to search for, in your words or as it was written.'),
    within_id: nullable(z.string({ error: 'within_id must be a string or null' }), null, { type: 'string' }).describe(
      'A session or turn id, to search only there.',
    ),
    event_types: nullable(kindNames, SEARCHED_BY_DEFAULT, {
      type: 'array',
      items: { type: 'string', enum: SEARCHABLE },
      minItems: 1,
    }).describe('Kinds of events; by default what was asked, answered and returned by tools.'),
    n_hits: rowLimit('n_hits', 50, 10),
  }),
  data: z.object({ result_count: z.int(), limit: z.int(), truncated: z.boolean(), results: z.array(hit) }),
  refuses: ['invalid_id', 'not_found', 'unsupported_event_type'],
  target: 750,
  deadlineMs: 4_500, // so that the answer is out within the 5 s that clients wait
  async run(context, input) {
    const begun = performance.now()
    try {
      return await search(context, input)
    } finally {
      context.services.metrics.searchSeconds.observe(secondsSince(begun))
    }
  },
})

interface Input {
  query: string
  within_id: string | null
  event_types: string[]
  n_hits: number
}

const NOT_SEARCHED =
  'Nothing was found. Boards and records were not searched: event_types ["system"] has what was planned, done, proposed and decided; search_content of the toolset records finds decisions and action items.'

const search = async (context: Context, { query, within_id, event_types, n_hits: limit }: Input) => {
  const types = searchedTypes(event_types)
  const scope = await scopeOf(context, within_id)
  const parsed = await parseQuery(context.queries, query)
  const [events, sessions] = await Promise.all([
    findEvents(context.queries, parsed, { kinds: types.map(eventTypeNumber), scope, limit: limit + 1 }),
    matchingSessions(context, parsed, types, scope, limit),
  ])
  const { found, notes, more } = await mergeSessions(context, events, sessions, types, scope, limit)
  const results = await hitsOf(context, found.slice(0, limit), parsed)
  return {
    request: { query, within_id, event_types: types, n_hits: limit },
    data: { result_count: results.length, limit, truncated: more || found.length > limit, results },
    warnings: [
      ...warningsOf(context, withoutSessionTerms(sessions.terms, parsed)),
      ...notes,
      ...(results.length + notes.length === 0 && hasWord(parsed) && !types.includes('system') ? [NOT_SEARCHED] : []),
    ],
    target: targetOf(scope, parsed),
  }
}

/** The types of these names, in the order of the vocabulary. Refuses a name that cannot be searched. */
export const searchedTypes = (names: string[]): EventType[] => {
  const unsupported = names.find((type) => !SEARCHABLE.includes(type as EventType))
  if (unsupported !== undefined)
    refuse('unsupported_event_type', `unsupported event type: ${unsupported}`, { field: 'event_types', supported: SEARCHABLE })
  return SEARCHABLE.filter((type) => names.includes(type))
}

const scopeOf = async ({ queries }: Context, id: string | null): Promise<Scope> => {
  if (id === null) return {}
  const name = parseRef(id)
  if (!name) return refuse('invalid_id', 'within_id is not a valid Moraine MCP ID', { field: 'within_id' })
  if (name.kind === 'event')
    return refuse('invalid_request', 'within_id accepts session and turn IDs, not event IDs', { field: 'within_id' })
  if ('unknown' in name) return refuse('not_found', `${name.kind} not found`, { id })
  const [session] = await sessionsByIds(queries, [name.session])
  const there = session && (name.kind === 'session' || name.turn <= session.turn)
  if (!there) return refuse('not_found', `${name.kind} not found`, { id })
  return name.kind === 'turn' ? name : { session: name.session }
}

/** Hits for found events: each with its session, its turn and a snippet around the terms. */
export const hitsOf = async ({ queries }: Context, found: ScoredEvent[], parsed: ParsedQuery) => {
  const terms = parsed.terms.map(({ term }) => term)
  if (found.length === 0) return []
  const turns = new Map(found.map(({ session_id, turn }) => [turnRef(session_id, turn), { session_id, turn }]))
  const [events, sessions, runs] = await Promise.all([
    eventsAt(
      queries,
      found.map(({ session_id, sequence }) => ({ session_id, sequence })),
      HEAD,
      TAIL,
    ),
    sessionsByIds(queries, [...new Set(found.map(({ session_id }) => session_id))]),
    eventGroupsOf(queries, [...turns.values()]),
  ])
  const eventById = new Map(events.map((event) => [event.id, event]))
  const sessionById = new Map(sessions.map((session) => [session.id, session]))
  const bySession = Map.groupBy(runs, ({ session_id }) => session_id)
  const turnById = new Map(
    sessions.flatMap((session) =>
      turnsOf(session, bySession.get(session.id) ?? []).map((turn) => [turnRef(session.id, turn.ordinal), turn] as const),
    ),
  )
  return found.flatMap(({ id, session_id, turn: ordinal, score }, i) => {
    const [event, session, turn] = [eventById.get(id), sessionById.get(session_id), turnById.get(turnRef(session_id, ordinal))]
    return event && session && turn ? [hitOf(i + 1, score, event, turn, session, terms)] : []
  })
}

const hitOf = (rank: number, score: number, event: HistoryRow, turn: TurnFacts, session: SessionRow, terms: string[]) => {
  const open = { event_id: eventRef(event.id), turn_id: turnRef(session.id, turn.ordinal), session_id: sessionRef(session.id) }
  return {
    rank,
    score,
    id: open.event_id,
    event: {
      id: open.event_id,
      type: eventTypeOf(event.type, event.author),
      timestamp: event.at,
      ordinal: event.ordinal,
      terminal: isTerminal(turn, event),
    },
    turn: { id: open.turn_id, ordinal: turn.ordinal, completed: turn.terminal !== undefined, event_count: turn.events },
    session: factsOf(session),
    snippet: shortOf(event, terms),
    open,
  }
}

const LAG_REPORTED_S = 2 // shorter lags are normal

const NO_WORD = `The query has no word that is searched for: a word has letters or digits, and at most ${LONGEST_TERM} characters.`

const hasWord = ({ terms, unknown }: ParsedQuery) => terms.length + unknown.length > 0

/** Warnings about how the query was understood, and about events that cannot be found yet. */
export const warningsOf = (context: Context, parsed: ParsedQuery) => [
  ...(hasWord(parsed) ? [] : [NO_WORD]),
  ...[...parsed.corrected].map(
    ([term, words]) => `No event has ${JSON.stringify(term)}; searched for ${words.map((word) => JSON.stringify(word)).join(', ')}.`,
  ),
  ...indexWarnings(context, parsed.corpus),
  ...(parsed.corpus.rebuilding ? [] : sessionsLagWarning(context)),
]

/** Warnings that the index, of which searches and lists are, has not all events yet. */
export const indexWarnings = (context: Context, { rebuilding, events }: Pick<Corpus, 'rebuilding' | 'events'>): string[] =>
  rebuilding
    ? [`The index is being rebuilt: ${events} of ${Math.max(rebuilding, events)} events can be found so far.`]
    : lagWarning(context)

const lagWarning = (context: Context): string[] => {
  const seconds = context.services.indexer.lagSeconds
  if (seconds <= LAG_REPORTED_S) return []
  return [
    `The search index is ${Math.round(seconds)} s behind: what was written since ${timeBefore(context, seconds)} may not be found yet. Search again later.`,
  ]
}

const sessionsLagWarning = (context: Context): string[] => {
  const seconds = context.services.indexer.sessionsLagSeconds
  if (seconds <= LAG_REPORTED_S) return []
  return [
    `A title or document that was changed since ${timeBefore(context, seconds)} may not be found by its new words yet. Search again later.`,
  ]
}

const timeBefore = ({ services: { clock } }: Context, seconds: number) => new Date(clock.now() - seconds * 1_000).toISOString()

/** Milliseconds within which a search is due, by how much there is to search. */
export const targetOf = ({ session, turn }: Scope, { corpus }: Pick<ParsedQuery, 'corpus'>) => {
  if (turn !== undefined) return 300
  if (session !== undefined) return 500
  return corpus.events <= 100_000 ? 750 : corpus.events <= 500_000 ? 1_500 : 2_500
}
