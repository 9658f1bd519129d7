// Sessions that are found by what none of their events says: by their titles, descriptions and documents. Specification 2 answers with
// events, so an event stands for each of them; what their documents say is told beside the hits.
import { excerpt, shortened } from '../core/event-text.ts'
import { glance } from '../markdown/plain-text.ts'
import type { Kind } from '../core/event-types.ts'
import type { Context } from '../operations/context.ts'
import { firstEvents } from '../stores/history.ts'
import type { Scope } from '../search/scope.ts'
import type { Found, Sought } from '../search/ranking.ts'
import { findSessions, sessionTexts, type FoundSessions, type SessionText } from '../search/session-ranking.ts'
import { sessionName } from './ids.ts'

const MOST = 5 // hits that may stand for sessions, and no more than half of them, unless events leave more room
const SAID = new Set<Kind>(['user_input', 'assistant_response'])

/** The best sessions for a query, one more than `hits`, if what they are about is asked for: conversation, and not one turn of it. */
export const sessionsFor = async (
  { queries }: Context,
  sought: Sought,
  kinds: Kind[],
  scope: Scope,
  hits: number,
): Promise<FoundSessions> => {
  if (scope.turn !== undefined || !kinds.some((kind) => SAID.has(kind))) return { found: [], terms: [] }
  return findSessions(queries, sought, { scope, limit: hits + 1 })
}

/** The events that were found, and for each of these sessions one that ranks as its session does: the best of those found, else the first
 *  that was said. `notes` tell what no hit shows; `more`: there are sessions that had no place among `hits`. Within one session its own
 *  events alone are hits. */
export const withSessions = async (
  { queries }: Context,
  events: Found[],
  { found: sessions, terms }: FoundSessions,
  kinds: Kind[],
  scope: Scope,
  hits: number,
): Promise<{ found: Found[]; notes: string[]; more: boolean }> => {
  const best = new Map(events.toReversed().map((event) => [event.session_id, event]))
  const places = Math.max(Math.min(MOST, Math.ceil(hits / 2)), hits - events.length)
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
      kinds.filter((kind) => SAID.has(kind)),
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

// Specification 2, "Ranking Behavior".
const byRank = (a: Found, b: Found) => b.score - a.score || (a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? 1 : -1)

// A hit shows its session's title: where that has as many of the terms as anything else, there is no more to say.
const noteOf = ({ id, title, description, around }: SessionText, terms: string[], shown: boolean): string[] => {
  const count = (text: string | null) => terms.filter((term) => text?.toLowerCase().includes(term)).length
  const [inTitle, inDescription, inDocument] = [title, description, around].map(count) as [number, number, number]
  const name = `${sessionName(id)} (${JSON.stringify(title)})`
  if (inTitle >= Math.max(inDescription, inDocument)) return shown ? [] : [`Found in the title of ${name}.`]
  if (inDescription >= inDocument) return [`Found in the description of ${name}: ${JSON.stringify(quote(description, terms))}.`]
  return [`Found in the document of ${name}: ${JSON.stringify(quote(around!, terms))}. Read it with GET /api/sessions/${id}/handoff.md.`]
}

const quote = (text: string, terms: string[]) => excerpt(glance(text), terms, true).text || shortened(text).text

/** What a title or document says is no typo, though no event says it. */
export const withoutThoseIn = <Understood extends { corrected: Map<string, string[]> }>(
  terms: string[],
  sought: Understood,
): Understood => ({
  ...sought,
  corrected: new Map([...sought.corrected].filter(([term]) => !terms.includes(term))),
})
