// The search of the pages: events, and beside them sessions and their documents, with more filters than search_sessions has. It is an
// operation without route and tool, which pages perform as agents perform theirs.
import { z } from 'zod'
import { eventTypeNumber, SEARCHED_BY_DEFAULT } from '../core/events/event-types.ts'
import type { Context } from '../operations/context.ts'
import type { Scope } from '../search/scope.ts'
import { findEvents, parseQuery, type ParsedQuery } from '../search/ranking.ts'
import { findSessions, sessionTexts, type SessionText } from '../search/session-ranking.ts'
import { quoteOf, withoutSessionTerms } from './session-hits.ts'
import { hit, hitsOf, searchedTypes, queryText, targetOf, warningsOf } from './search.ts'
import { pageTool } from './tool.ts'

/** Hits on a page. */
export const HITS = 50
/** The last hit that pages lead to. Who has not found it by then searches for something else. */
export const LAST_HIT = 250
const SESSIONS = 50

const sessionMatch = z.object({
  id: z.uuid(),
  title: z.string(),
  source: z.string(),
  completed: z.boolean(),
  updated_at: z.iso.datetime(),
  /** The text that the snippet is from. */
  place: z.enum(['document', 'description']),
  snippet: z.string(),
})

export type SessionMatch = z.output<typeof sessionMatch>

const data = z.object({
  results: z.array(hit),
  /** How many hits there are up to the end of this page, and whether there are more. */
  total: z.int(),
  more: z.boolean(),
  sessions: z.array(sessionMatch),
  more_sessions: z.boolean(),
  /** The terms to highlight, the rarest first. */
  terms: z.array(z.string()),
})

export type PageSearchResult = z.output<typeof data>

/** Up to 250 hits, 50 a page, and up to 50 sessions beside them. */
export const searchEverything = pageTool({
  name: 'search_everything',
  summary: 'Find messages, sessions and documents: for the pages.',
  input: z.strictObject({
    query: queryText,
    session: z.uuid().optional(),
    from: z.iso.datetime().optional(),
    before: z.iso.datetime().optional(),
    by: z.string().min(1).optional(),
    types: z
      .array(z.string())
      .min(1)
      .default(() => SEARCHED_BY_DEFAULT),
    offset: z
      .int()
      .min(0)
      .max(LAST_HIT - HITS)
      .default(0),
    hits: z.int().min(0).max(HITS).default(HITS).describe('How many of the page are shown.'),
    sessions: z.int().min(0).max(SESSIONS).default(0),
  }),
  data,
  refuses: ['unsupported_event_type'],
  target: 750,
  deadlineMs: 4_500,
  async run(context, { query, types, offset, hits, sessions: sessionLimit, ...scope }) {
    const kinds = searchedTypes(types)
    const parsed = await parseQuery(context.queries, query)
    const [found, sessions] = await Promise.all([
      hits === 0 ? [] : findEvents(context.queries, parsed, { kinds: kinds.map(eventTypeNumber), scope, limit: offset + HITS + 1 }),
      sessionLimit === 0 ? NONE : matchesAmongSessions(context, parsed, scope, sessionLimit),
    ])
    const terms = [...parsed.terms.map(({ term }) => term), ...parsed.unknown]
    return {
      request: {},
      data: {
        results: await hitsOf(context, found.slice(offset, offset + hits), parsed),
        total: Math.min(found.length, offset + HITS),
        more: found.length > offset + HITS,
        sessions: sessions.hits,
        more_sessions: sessions.more,
        terms,
      },
      warnings: warningsOf(context, withoutSessionTerms(sessions.terms, parsed)),
      target: targetOf(scope, parsed),
    }
  },
})

const NONE = { hits: [] as SessionMatch[], more: false, terms: [] as string[] }

const matchesAmongSessions = async ({ queries }: Context, parsed: ParsedQuery, scope: Scope, limit: number) => {
  const { found, terms } = await findSessions(queries, parsed, { scope, limit: limit + 1 })
  const ids = found.slice(0, limit).map(({ session_id }) => session_id)
  const texts = new Map((await sessionTexts(queries, ids, terms)).map((text) => [text.id, text]))
  const hits = ids.flatMap((id) => texts.get(id) ?? []).map((text) => sessionMatchOf(text, terms))
  return { hits, more: found.length > limit, terms }
}

const sessionMatchOf = ({ around, description, ...session }: SessionText, terms: string[]): SessionMatch => {
  const { place, snippet } = quoteOf({ around, description }, terms)
  return { ...session, place, snippet }
}
