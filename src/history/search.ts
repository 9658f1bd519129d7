// Where something was said or done: handles and a line of text each. Found and ranked by search/ranking.ts; session-hits.ts adds what titles
// and documents say.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { kindNumber, kindOf, KINDS, SEARCHABLE, SEARCHED_BY_DEFAULT, type Kind } from '../core/event-types.ts'
import type { Context } from '../operations/context.ts'
import { eventsAt, runsOf, sessionsByIds, type EventRow, type SessionRow } from '../stores/history.ts'
import type { Scope } from '../search/scope.ts'
import { findEvents, soughtIn, type Found, type Sought } from '../search/ranking.ts'
import { sessionsFor, withoutThoseIn, withSessions } from './session-hits.ts'
import { eventName, named, sessionName, turnName } from './ids.ts'
import { factsOf, sessionFacts } from './session-facts.ts'
import { howMany, orNull, said, tool } from './tool.ts'
import { isTerminal, shortOf, turnsOf, type Turn } from './turns.ts'

const LONGEST_QUERY = 4096
const kindNames = z
  .array(z.string({ error: 'event_types must contain only strings' }), { error: 'event_types must be an array or null' })
  .min(1, 'event_types must name at least one event type')
const SNIPPED = 64 * 1024 // characters of a text that a snippet is looked for in

export const queryText = said('query').refine(
  (text) => [...text].length <= LONGEST_QUERY,
  `query must have at most ${LONGEST_QUERY} characters`,
)

const short = z.object({ text: z.string(), truncated: z.boolean() })

/** An event that was found. */
export const hit = z.object({
  rank: z.int(),
  score: z.number().min(0).max(1),
  id: z.string(),
  event: z.object({ id: z.string(), type: z.enum(KINDS), timestamp: z.iso.datetime(), ordinal: z.int(), terminal: z.boolean() }),
  turn: z.object({ id: z.string(), ordinal: z.int(), completed: z.boolean(), event_count: z.int() }),
  session: sessionFacts,
  snippet: short,
  open: z.object({ event_id: z.string(), turn_id: z.string(), session_id: z.string() }),
})

/** Specification 2, "search_sessions": 1 to 50 hits, 10 unless said, within 750 ms; 504 after 4.5 s. Why a hit stands where it does:
 *  search/ranking.ts. */
export const searchSessions = tool({
  name: 'search_sessions',
  summary:
    'Find where something was said or done, in all sessions or in one session or turn. Gives handles and snippets; read more with open. Sessions are found by their titles and documents too: see warnings. Paths, identifiers and error codes are found whole or by their parts.',
  input: z.strictObject({
    query: queryText.describe('What to search for, in your words or as it was written.'),
    within_id: orNull(z.string({ error: 'within_id must be a string or null' }), null, { type: 'string' }).describe(
      'A session or turn id, to search only there.',
    ),
    event_types: orNull(kindNames, SEARCHED_BY_DEFAULT, {
      type: 'array',
      items: { type: 'string', enum: SEARCHABLE },
      minItems: 1,
    }).describe('Kinds of events; by default what was asked, answered and returned by tools.'),
    n_hits: howMany('n_hits', 50, 10),
  }),
  data: z.object({ result_count: z.int(), limit: z.int(), truncated: z.boolean(), results: z.array(hit) }),
  refuses: ['invalid_id', 'not_found', 'unsupported_event_type'],
  target: 750,
  deadlineMs: 4_500, // of the 5 s that specification 2 allows, so that the answer is out by then
  async run(context, { query, within_id, event_types, n_hits: limit }) {
    const types = kindsAmong(event_types)
    const scope = await scopeOf(context, within_id)
    const sought = await soughtIn(context.queries, query)
    const [events, sessions] = await Promise.all([
      findEvents(context.queries, sought, { kinds: types.map(kindNumber), scope, limit: limit + 1 }),
      sessionsFor(context, sought, types, scope, limit),
    ])
    const { found, notes, more } = await withSessions(context, events, sessions, types, scope, limit)
    const results = await hitsOf(context, found.slice(0, limit), sought)
    return {
      request: { query, within_id, event_types: types, n_hits: limit },
      data: { result_count: results.length, limit, truncated: more || found.length > limit, results },
      warnings: [...warningsOf(context, withoutThoseIn(sessions.terms, sought)), ...notes],
      target: targetOf(scope, sought),
    }
  },
})

/** The kinds by these names, in the order of the vocabulary. */
export const kindsAmong = (wanted: string[]): Kind[] => {
  const unsupported = wanted.find((type) => !SEARCHABLE.includes(type as Kind))
  if (unsupported !== undefined)
    refuse('unsupported_event_type', `unsupported event type: ${unsupported}`, { field: 'event_types', supported: SEARCHABLE })
  return SEARCHABLE.filter((kind) => wanted.includes(kind))
}

const scopeOf = async ({ queries }: Context, id: string | null): Promise<Scope> => {
  if (id === null) return {}
  const name = named(id)
  if (!name) return refuse('invalid_id', 'within_id is not a valid Moraine MCP ID', { field: 'within_id' })
  if (name.kind === 'event')
    return refuse('invalid_request', 'within_id accepts session and turn IDs, not event IDs', { field: 'within_id' })
  if ('unknown' in name) return refuse('not_found', `${name.kind} not found`, { id })
  const [session] = await sessionsByIds(queries, [name.session])
  const there = session && (name.kind === 'session' || name.turn <= session.turn)
  if (!there) return refuse('not_found', `${name.kind} not found`, { id })
  return name.kind === 'turn' ? name : { session: name.session }
}

/** What was found, with its session and turn and a line around the terms. */
export const hitsOf = async ({ queries }: Context, found: Found[], sought: Sought) => {
  const terms = sought.terms.map(({ term }) => term)
  if (found.length === 0) return []
  const turns = new Map(found.map(({ session_id, turn }) => [turnName(session_id, turn), { session_id, turn }]))
  const [events, sessions, runs] = await Promise.all([
    eventsAt(
      queries,
      found.map(({ session_id, sequence }) => ({ session_id, sequence })),
      SNIPPED,
    ),
    sessionsByIds(queries, [...new Set(found.map(({ session_id }) => session_id))]),
    runsOf(queries, [...turns.values()]),
  ])
  const eventById = new Map(events.map((event) => [event.id, event]))
  const sessionById = new Map(sessions.map((session) => [session.id, session]))
  const bySession = Map.groupBy(runs, ({ session_id }) => session_id)
  const turnById = new Map(
    sessions.flatMap((session) =>
      turnsOf(session, bySession.get(session.id) ?? []).map((turn) => [turnName(session.id, turn.ordinal), turn] as const),
    ),
  )
  return found.flatMap(({ id, session_id, turn: ordinal, score }, i) => {
    const [event, session, turn] = [eventById.get(id), sessionById.get(session_id), turnById.get(turnName(session_id, ordinal))]
    return event && session && turn ? [hitOf(i + 1, score, event, turn, session, terms)] : []
  })
}

const hitOf = (rank: number, score: number, event: EventRow, turn: Turn, session: SessionRow, terms: string[]) => {
  const open = { event_id: eventName(event.id), turn_id: turnName(session.id, turn.ordinal), session_id: sessionName(session.id) }
  return {
    rank,
    score,
    id: open.event_id,
    event: {
      id: open.event_id,
      type: kindOf(event.type, event.author),
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

const LAG_TOLD_S = 2

/** What the caller should know: how the query was understood, and what cannot be found yet. */
export const warningsOf = (context: Context, { corrected, corpus }: Pick<Sought, 'corrected' | 'corpus'>) => [
  ...[...corrected].map(
    ([term, words]) => `No event has ${JSON.stringify(term)}; searched for ${words.map((word) => JSON.stringify(word)).join(', ')}.`,
  ),
  ...(corpus.rebuilding
    ? [`The index is being rebuilt: ${corpus.events} of ${corpus.rebuilding} events can be found so far.`]
    : lagWarning(context)),
]

const lagWarning = ({ services: { indexer, clock } }: Context): string[] => {
  const seconds = indexer.lagSeconds
  if (seconds <= LAG_TOLD_S) return []
  const since = new Date(clock.now() - seconds * 1_000).toISOString()
  return [`The search index is ${Math.round(seconds)} s behind: what was written since ${since} may not be found yet. Search again later.`]
}

/** By how much there is to search (specification 2, "Performance SLA"). */
export const targetOf = ({ session, turn }: Scope, { corpus }: Pick<Sought, 'corpus'>) => {
  if (turn !== undefined) return 300
  if (session !== undefined) return 500
  return corpus.events <= 100_000 ? 750 : corpus.events <= 500_000 ? 1_500 : 2_500
}
