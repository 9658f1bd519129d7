// What people search by: messages and other events beside sessions and their documents, with more ways to narrow it than the tool of
// specification 2 has. It has no route and no tool; pages call it through the gate, as agents call theirs.
import { z } from 'zod'
import { excerpt, shortened } from '../core/event-text.ts'
import { glance } from '../markdown/plain-text.ts'
import { kindNumber, SEARCHED_BY_DEFAULT } from '../core/event-types.ts'
import type { Context } from '../operations/context.ts'
import type { Scope } from '../search/scope.ts'
import { findEvents, soughtIn, type Sought } from '../search/ranking.ts'
import { findSessions, sessionTexts, type SessionText } from '../search/session-ranking.ts'
import { withoutThoseIn } from './session-hits.ts'
import { hit, hitsOf, kindsAmong, queryText, targetOf, warningsOf } from './search.ts'
import { pageTool } from './tool.ts'

/** Hits on a page. */
export const HITS = 50
/** The last hit that pages lead to: those who have not found it by then search for something else. */
export const LAST_HIT = 250
const SESSIONS = 50

const sessionHit = z.object({
  id: z.uuid(),
  title: z.string(),
  source: z.string(),
  completed: z.boolean(),
  updated_at: z.iso.datetime(),
  /** Where the snippet is from. */
  place: z.enum(['document', 'description']),
  snippet: z.string(),
})

export type SessionHit = z.output<typeof sessionHit>

const data = z.object({
  results: z.array(hit),
  /** Of the hits, how many there are up to the end of this page, and whether there are more. */
  total: z.int(),
  more: z.boolean(),
  sessions: z.array(sessionHit),
  more_sessions: z.boolean(),
  /** What to mark, the rarest first. */
  terms: z.array(z.string()),
})

export type Everything = z.output<typeof data>

/** Specification 2's envelope, for the pages: up to 250 hits, and 50 sessions beside them. */
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
  async run(context, { query, types, offset, hits, sessions: wanted, ...scope }) {
    const kinds = kindsAmong(types)
    const sought = await soughtIn(context.queries, query)
    const [found, sessions] = await Promise.all([
      hits === 0 ? [] : findEvents(context.queries, sought, { kinds: kinds.map(kindNumber), scope, limit: offset + HITS + 1 }),
      wanted === 0 ? NONE : sessionHits(context, sought, scope, wanted),
    ])
    const terms = [...sought.terms.map(({ term }) => term), ...sought.unknown]
    return {
      request: {},
      data: {
        results: await hitsOf(context, found.slice(offset, offset + hits), sought),
        total: Math.min(found.length, offset + HITS),
        more: found.length > offset + HITS,
        sessions: sessions.hits,
        more_sessions: sessions.more,
        terms,
      },
      warnings: warningsOf(context, withoutThoseIn(sessions.terms, sought)),
      target: targetOf(scope, sought),
    }
  },
})

const NONE = { hits: [] as SessionHit[], more: false, terms: [] as string[] }

const sessionHits = async ({ queries }: Context, sought: Sought, scope: Scope, wanted: number) => {
  const { found, terms } = await findSessions(queries, sought, { scope, limit: wanted + 1 })
  const ids = found.slice(0, wanted).map(({ session_id }) => session_id)
  const texts = new Map((await sessionTexts(queries, ids, terms)).map((text) => [text.id, text]))
  const hits = ids.flatMap((id) => texts.get(id) ?? []).map((text) => sessionHitOf(text, terms))
  return { hits, more: found.length > wanted, terms }
}

const sessionHitOf = ({ around, description, ...session }: SessionText, terms: string[]): SessionHit =>
  around === null
    ? { ...session, place: 'description', snippet: excerpt(glance(description), terms).text || shortened(description).text }
    : { ...session, place: 'document', snippet: excerpt(glance(around), terms, true).text }
