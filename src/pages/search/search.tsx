// The search page: calls the search operation of history, and shows its results as people read them.
import type { Search } from '../../../components/search/search-form.tsx'
import type { EventHit } from '../../../components/search/search-hits.tsx'
import { SearchPage, type SearchResults } from '../../../components/search/search-page.tsx'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { SEARCHABLE } from '../../core/events/event-types.ts'
import { inYears } from '../../core/years.ts'
import { perform } from '../../operations/perform.ts'
import { HITS, LAST_HIT, searchEverything, type PageSearchResult } from '../../history/page-search.ts'
import { parseRef } from '../../history/ids.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { eventsById, type Event } from '../../stores/events.ts'
import { rostersOf } from '../../stores/members.ts'
import type { Http } from '../../doors/http/http.ts'
import { callOf } from '../../doors/http/calls.ts'
import { problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, type Site } from '../respond.tsx'
import { teamLookup, type TeamLookup } from '../session/team-lookup.ts'
import { eventLink } from './event-link.ts'
import { searchLine } from './search-line.ts'

const SESSIONS_BESIDE_MESSAGES = 5
const SESSIONS_ALONE = 50
const LAST_PAGE = LAST_HIT / HITS
const DAY_MS = 86_400_000
const LAST_DAY = '9999-12-31' // after which the database has no time, and nothing happens

/** GET /search: ?q= and the filters ?session=, ?type=, ?by=, ?from= and ?to= (days), ?page=. */
export const searchPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const given = (name: string) => (c.req.query(name) ?? '').trim().replaceAll('\0', '').toWellFormed()
  const id = given('session')
  const session = id ? await existingSession(services.database, id) : undefined
  const [type, by, from, to] = [given('type'), given('by'), given('from'), given('to')]
  const number = Math.min(LAST_PAGE, Math.max(1, Math.trunc(Number(given('page'))) || 1))
  const search: Search = { query: given('q'), session: session && { id, title: session.title }, type, by, from, to, page: number }
  const frame = frameOf(c, site)
  const [answer, teams] = await Promise.all([
    search.query ? searchWith(c, site, search) : ({} as SearchOutcome),
    session ? rostersOf(services.database, [id]) : [],
  ])
  const shown = { frame, search, lastPage: LAST_PAGE, names: teams.map(({ teamName }) => teamName) }
  if (!('error' in answer)) return page(c, <SearchPage {...{ ...shown, ...answer }} />)
  const { error } = answer
  if (!CORRECTABLE.has(error.code)) return refuse(error.code, error.message, error.details)
  // A query with a credential is not shown again, nor kept in links back to this page.
  const secret = error.code === 'secret_in_text' && {
    search: { ...search, query: '', type: '', by: '' },
    frame: { ...frame, path: '/search' },
  }
  return page(c, <SearchPage {...{ ...shown, problem: problemText(error), ...secret }} />, STATUS[error.code])
}

const CORRECTABLE = new Set(['invalid_request', 'secret_in_text', 'unsupported_event_type', 'deadline_exceeded'])

/** Why a search failed, in words for people. */
export const problemText = (error: ErrorBody) =>
  error.code === 'deadline_exceeded'
    ? 'The search took too long and was stopped. Use a rarer word, or search in one session.'
    : problemOf(error).text

type SearchOutcome = { found?: SearchResults } | { error: ErrorBody }

const searchWith = async (c: Http, site: Site, search: Search): Promise<SearchOutcome> => {
  const wrong = wrongDays(search)
  if (wrong) return { error: { code: 'invalid_request', message: wrong, details: {} } }
  return searchForPage(c, site, { query: search.query, ...scopeOf(search), ...resultsWanted(search) })
}

/** A search's results as pages show them, or why it failed. */
export const searchForPage = async (c: Http, site: Site, input: object): Promise<{ found: SearchResults } | { error: ErrorBody }> => {
  const outcome = await perform(searchEverything, site.services, { ...callOf(c, site.services), token: undefined }, input)
  if (!outcome.ok) return outcome
  const { results, sessions, terms, total, more, more_sessions } = outcome.data.data as PageSearchResult
  return {
    found: {
      hits: await hitsOf(site, results, terms),
      sessions: sessions.map(({ updated_at: at, ...session }) => ({ ...session, at })),
      terms,
      total,
      more,
      moreSessions: more_sessions,
      warnings: outcome.data.warnings as string[],
    },
  }
}

const scopeOf = ({ session, by, from, to }: Search) => ({
  ...(session && { session: session.id }),
  ...(by && { by }),
  ...(from && { from: new Date(from).toISOString() }),
  ...(to && to !== LAST_DAY && { before: new Date(Date.parse(to) + DAY_MS).toISOString() }),
})

// Titles and documents have no single author and are no events: a filter by either leaves them out.
const resultsWanted = ({ session, type, by, page }: Search) => {
  const offset = (page - 1) * HITS
  if (type === 'sessions') return { hits: 0, sessions: by ? 0 : SESSIONS_ALONE }
  if (type !== '' && type !== 'all') return { types: [type], offset }
  const sessions = by || page > 1 ? 0 : session ? 1 : SESSIONS_BESIDE_MESSAGES
  return { ...(type === 'all' && { types: SEARCHABLE }), offset, sessions }
}

const wrongDays = ({ from, to }: Search): string | undefined => {
  const wrong = [from, to].some((day) => day && !isDay(day))
  if (wrong) return 'Write dates like 2026-11-22.'
  return from && to && from > to ? 'The first date is after the last one.' : undefined
}

// Rejects 30 February, which Date.parse reads as a day in March.
const isDay = (day: string) => /^\d{4}-\d\d-\d\d$/.test(day) && inYears(day) && new Date(Date.parse(day) || 0).toISOString().startsWith(day)

const hitsOf = async (
  { services: { database }, eventKinds: kinds }: Site,
  results: PageSearchResult['results'],
  terms: string[],
): Promise<EventHit[]> => {
  const placed = results.map((result) => ({ ...result, sessionId: uuidWithin(result.session.id), eventId: uuidWithin(result.id) }))
  const bySession = [...Map.groupBy(placed, ({ sessionId }) => sessionId)]
  const [rosters, events] = await Promise.all([
    rostersOf(
      database,
      bySession.map(([id]) => id),
    ),
    Promise.all(
      bySession.map(([id, own]) =>
        eventsById(
          database,
          id,
          own.map(({ eventId }) => eventId),
        ),
      ),
    ),
  ])
  const lookupFor = new Map(bySession.map(([id]) => [id, teamLookup(rosters.filter(({ sessionId }) => sessionId === id))]))
  const eventFor = new Map(events.flat().map((event) => [event.id, event]))
  return placed.flatMap(({ sessionId, eventId, event: { type: kind, timestamp: at }, turn, session: { title, source }, snippet }) => {
    const event = eventFor.get(eventId)
    if (!event) return []
    const { type, sequence } = event
    const href = eventLink(source, sessionId, { type, sequence, turn: turn.ordinal })
    const said = searchLine(event, kind, snippet.text, terms, kinds)
    return { sessionId, title, source, kind, at, snippet: said, href, team: authorOf(event, lookupFor.get(sessionId)!) }
  })
}

const uuidWithin = (id: string): string => {
  const name = parseRef(id)
  return name && 'event' in name ? name.event : name && 'session' in name ? name.session : ''
}

const authorOf = (event: Event, lookup: TeamLookup): EventHit['team'] => {
  const name = event.by ?? event.team
  return lookup.team(event.posted_by_team_id ?? event.team_id) ?? (typeof name === 'string' ? lookup.named(name) : undefined)
}
