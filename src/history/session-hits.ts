// Adds sessions that are found by their titles, descriptions and documents to the found events. Hits are events, so one of its events stands
// in for each session; what its document says comes as a note beside the hits.
import { excerpt, shortened } from '../core/events/event-text.ts'
import { toPlainText } from '../markdown/plain-text.ts'
import { wordsAmong } from '../core/text/word-places.ts'
import type { EventType } from '../core/events/event-types.ts'
import type { Context } from '../operations/context.ts'
import { firstEvents } from '../stores/history.ts'
import type { Scope } from '../search/scope.ts'
import type { ScoredEvent, ParsedQuery } from '../search/ranking.ts'
import { findSessions, sessionTexts, type SessionMatches, type SessionText } from '../search/session-ranking.ts'
import { sessionRef } from './ids.ts'

const MOST_STAND_INS = 5 // hits that may be stand-ins: at most half of all, unless there are too few events
const CONVERSATION = new Set<EventType>(['user_input', 'assistant_response'])

/** The best sessions for a query, one more than `hits`. None if the search is for other events than conversation, or within one turn. */
export const matchingSessions = async (
  { queries }: Context,
  parsed: ParsedQuery,
  kinds: EventType[],
  scope: Scope,
  hits: number,
): Promise<SessionMatches> => {
  if (scope.turn !== undefined || !kinds.some((kind) => CONVERSATION.has(kind))) return { found: [], terms: [] }
  return findSessions(queries, parsed, { scope, limit: hits + 1 })
}

/** Event hits, plus one representative event for each matching session (its best event hit, else its first message), ranked by the session's
 *  score. `notes`: matches that no hit shows. `more`: some sessions had no place among `hits`. In a search within one session there are no
 *  stand-ins. */
export const mergeSessions = async (
  { queries }: Context,
  events: ScoredEvent[],
  { found: sessions, terms }: SessionMatches,
  kinds: EventType[],
  scope: Scope,
  hits: number,
): Promise<{ found: ScoredEvent[]; notes: string[]; more: boolean }> => {
  const best = new Map(events.toReversed().map((event) => [event.session_id, event]))
  const places = Math.max(Math.min(MOST_STAND_INS, Math.ceil(hits / 2)), hits - events.length)
  const ahead = sessions.filter(({ session_id, score }) => score > (best.get(session_id)?.score ?? 0))
  const better = ahead.slice(0, places)
  const more = ahead.slice(places).some(({ session_id }) => !best.has(session_id))
  if (better.length === 0) return { found: events, notes: [], more }
  const everywhere = scope.session === undefined
  const silent = everywhere ? better.flatMap(({ session_id }) => (best.has(session_id) ? [] : session_id)) : []
  const [firsts, texts] = await Promise.all([
    firstEvents(
      queries,
      silent,
      kinds.filter((kind) => CONVERSATION.has(kind)),
    ),
    sessionTexts(
      queries,
      better.map(({ session_id }) => session_id),
      terms,
    ),
  ])
  const standIns = new Map([...best, ...firsts.map((event) => [event.session_id, event] as const)])
  const standing = better.flatMap(({ session_id, score }) => {
    const event = everywhere && standIns.get(session_id)
    return event ? [{ ...event, score }] : []
  })
  const shown = new Map(standing.map(({ session_id, id }) => [session_id, id]))
  const rest = events.filter(({ session_id, id }) => shown.get(session_id) !== id)
  const textById = new Map(texts.map((text) => [text.id, text]))
  const notes = better.flatMap(({ session_id }) => {
    const text = textById.get(session_id)
    return text ? noteOf(text, terms, !everywhere || shown.has(session_id)) : []
  })
  return { found: [...standing, ...rest].sort(byRank), notes, more }
}

// By score, then newest first, then by id.
const byRank = (a: ScoredEvent, b: ScoredEvent) => b.score - a.score || (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1)

// A hit shows its session's title. If no other text of the session has more of the terms, a note would add nothing.
const noteOf = (text: SessionText, terms: string[], shown: boolean): string[] => {
  const { place, snippet, words } = quoteOf(text, terms)
  const name = `${sessionRef(text.id)} (${JSON.stringify(text.title)})`
  if (wordsAmong(text.title, terms).length >= words) return shown ? [] : [`Found in the title of ${name}.`]
  const quoted = `Found in the ${place} of ${name}: ${JSON.stringify(snippet)}.`
  return [place === 'document' ? `${quoted} Read it with GET /api/sessions/${text.id}/handoff.md.` : quoted]
}

/** A line of the text that has more of the terms as words: the description, or the document. */
export const quoteOf = ({ description, around }: Pick<SessionText, 'description' | 'around'>, terms: string[]) => {
  const [described, written] = [description, around ?? ''].map((text) => wordsAmong(text, terms).length) as [number, number]
  const place = written > described ? 'document' : 'description'
  return { place, snippet: quote(place === 'document' ? around! : description, terms), words: Math.max(described, written) } as const
}

const quote = (text: string, terms: string[]) => excerpt(toPlainText(text), terms, true).text || shortened(text).text

/** A term that is in a title or document is no typo, though no event has it: its correction is dropped. */
export const withoutSessionTerms = <Query extends { corrected: Map<string, string[]> }>(terms: string[], parsed: Query): Query => ({
  ...parsed,
  corrected: new Map([...parsed.corrected].filter(([term]) => !terms.includes(term))),
})
