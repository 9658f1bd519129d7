// Searching all that was said, done and written: the operation of history, with what it finds as people read it.
import type { Search } from '../../../components/search/search-form.tsx'
import type { Hit } from '../../../components/search/search-hits.tsx'
import { SearchPage, type Found } from '../../../components/search/search-page.tsx'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { SEARCHABLE } from '../../core/event-types.ts'
import { perform } from '../../operations/perform.ts'
import { HITS, LAST_HIT, searchEverything, type Everything } from '../../history/page-search.ts'
import { named } from '../../history/ids.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { eventsById, type Event } from '../../stores/events.ts'
import { rostersOf } from '../../stores/members.ts'
import type { Http } from '../../doors/http/http.ts'
import { callOf } from '../../doors/rest/routes.ts'
import { problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, type Site } from '../respond.tsx'
import { castOf, type Cast } from '../session/feed.tsx'
import { placeOf } from './event-link.ts'
import { searchLine } from './search-line.ts'

const SESSIONS_BESIDE = 5 // messages
const SESSIONS_ALONE = 50
const LAST_PAGE = LAST_HIT / HITS
const DAY_MS = 86_400_000

/** GET /search: ?q= and where to look: ?session=, ?type=, ?by=, ?from= and ?to= (days), ?page=. */
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
    search.query ? answerTo(c, services, search) : ({} as Answer),
    session ? rostersOf(services.database, [id]) : [],
  ])
  const shown = { frame, search, lastPage: LAST_PAGE, names: teams.map(({ teamName }) => teamName) }
  if (!('error' in answer)) return page(c, <SearchPage {...{ ...shown, ...answer }} />)
  const { error } = answer
  if (!CORRECTABLE.has(error.code)) return refuse(error.code, error.message, error.details)
  // What must not be seen is not shown again, nor kept as the way back here.
  const secret = error.code === 'secret_in_text' && {
    search: { ...search, query: '', type: '', by: '' },
    frame: { ...frame, path: '/search' },
  }
  return page(c, <SearchPage {...{ ...shown, problem: sentence(error), ...secret }} />, STATUS[error.code])
}

const CORRECTABLE = new Set(['invalid_request', 'secret_in_text', 'unsupported_event_type', 'deadline_exceeded'])

/** Why the search failed, for people. */
export const sentence = (error: ErrorBody) =>
  error.code === 'deadline_exceeded'
    ? 'The search took too long and was stopped. Use a rarer word, or search in one session.'
    : problemOf(error).text

type Answer = { found?: Found } | { error: ErrorBody }

const answerTo = async (c: Http, services: Services, search: Search): Promise<Answer> => {
  const wrong = wrongDays(search)
  if (wrong) return { error: { code: 'invalid_request', message: wrong, details: {} } }
  return everything(c, services, { query: search.query, ...scopeOf(search), ...wantedOf(search) })
}

/** What was found, as pages show it; or why the search failed. */
export const everything = async (c: Http, services: Services, input: object): Promise<{ found: Found } | { error: ErrorBody }> => {
  const outcome = await perform(searchEverything, services, { ...callOf(c, services), token: undefined }, input)
  if (!outcome.ok) return outcome
  const { results, sessions, terms, total, more, more_sessions } = outcome.data.data as Everything
  return {
    found: {
      hits: await hitsOf(services, results, terms),
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
  ...(to && { before: new Date(Date.parse(to) + DAY_MS).toISOString() }),
})

// A session's title and document have no single author, and are of no kind of event.
const wantedOf = ({ session, type, by, page }: Search) => {
  const offset = (page - 1) * HITS
  if (type === 'sessions') return { hits: 0, sessions: by ? 0 : SESSIONS_ALONE }
  if (type !== '' && type !== 'all') return { types: [type], offset }
  const sessions = by || page > 1 ? 0 : session ? 1 : SESSIONS_BESIDE
  return { ...(type === 'all' && { types: SEARCHABLE }), offset, sessions }
}

const wrongDays = ({ from, to }: Search): string | undefined => {
  const wrong = [from, to].some((day) => day && !isDay(day))
  if (wrong) return 'Write dates like 2026-11-22.'
  return from && to && from > to ? 'The first date is after the last one.' : undefined
}

// 30 February does not exist: it would be read as a day in March.
const isDay = (day: string) => /^\d{4}-\d\d-\d\d$/.test(day) && new Date(Date.parse(day) || 0).toISOString().startsWith(day)

const hitsOf = async ({ database }: Services, results: Everything['results'], terms: string[]): Promise<Hit[]> => {
  const placed = results.map((result) => ({ ...result, sessionId: uuidOf(result.session.id), eventId: uuidOf(result.id) }))
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
  const castFor = new Map(bySession.map(([id]) => [id, castOf(rosters.filter(({ sessionId }) => sessionId === id))]))
  const eventFor = new Map(events.flat().map((event) => [event.id, event]))
  return placed.flatMap(({ sessionId, eventId, event: { type: kind, timestamp: at }, turn, session: { title, source }, snippet }) => {
    const event = eventFor.get(eventId)
    if (!event) return []
    const { type, sequence } = event
    const href = placeOf(source, sessionId, { type, sequence, turn: turn.ordinal })
    const said = searchLine(event, kind, snippet.text, terms)
    return { sessionId, title, source, kind, at, snippet: said, href, team: authorOf(event, castFor.get(sessionId)!) }
  })
}

const uuidOf = (id: string): string => {
  const name = named(id)
  return name && 'event' in name ? name.event : name && 'session' in name ? name.session : ''
}

const authorOf = (event: Event, cast: Cast): Hit['team'] => {
  const name = event.by ?? event.team
  return cast.team(event.posted_by_team_id ?? event.team_id) ?? (typeof name === 'string' ? cast.named(name) : undefined)
}
