// Searching all that was said and done: the operation that agents call, with its hits as people read them.
import type { Search } from '../../../components/search-form.tsx'
import { SearchPage, type Found, type Hit } from '../../../components/search-page.tsx'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { SEARCHABLE, type Kind } from '../../core/kinds.ts'
import { termsOf } from '../../core/terms.ts'
import { perform } from '../../gate.ts'
import { named, sessionName } from '../../history/ids.ts'
import { searchSessions } from '../../history/search.ts'
import { existingSession } from '../../rooms/roster.ts'
import type { Services } from '../../services.ts'
import { eventsById, type Event } from '../../stores/events.ts'
import { rostersOf } from '../../stores/members.ts'
import type { Http } from '../http.ts'
import { callOf } from '../rest.ts'
import { problemOf } from './act.ts'
import { frameOf, page, type Site } from './answer.tsx'
import { castOf, type Cast } from './feed.tsx'

const MOST = 50 // what the operation gives at most: people narrow a search rather than leaf through it
const IN_THE_FEED = new Set(['chat', 'system', 'user_input'])

/** GET /search: ?q= and where to look: ?session=, ?type=, ?from= and ?to= (days). */
export const searchPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const given = (name: string) => (c.req.query(name) ?? '').trim().replaceAll('\0', '').toWellFormed()
  const id = given('session')
  const session = id ? await existingSession(services.database, id) : undefined
  const [type, from, to] = [given('type'), given('from'), given('to')]
  const search: Search = { query: given('q'), session: session && { id, title: session.title }, type, from, to }
  const frame = frameOf(c, site)
  const answer: Answer = search.query ? await answerTo(c, services, search) : {}
  if (!('error' in answer)) return page(c, <SearchPage {...{ frame, search, ...answer }} />)
  const { error } = answer
  if (!CORRECTABLE.has(error.code)) return refuse(error.code, error.message, error.details)
  // What must not be seen is not shown again, nor kept as the way back here.
  const secret = error.code === 'secret_in_text' && { search: { ...search, query: '', type: '' }, frame: { ...frame, path: '/search' } }
  return page(c, <SearchPage {...{ frame, search, problem: sentence(error), ...secret }} />, STATUS[error.code])
}

const CORRECTABLE = new Set(['invalid_request', 'secret_in_text', 'unsupported_event_type', 'deadline_exceeded'])

const sentence = (error: ErrorBody) =>
  error.code === 'deadline_exceeded'
    ? 'The search took too long and was stopped. Use a rarer word, or look in one session.'
    : problemOf(error).text

type Answer = { found?: Found } | { error: ErrorBody }

interface Answered {
  results: {
    id: string
    event: { type: Kind; timestamp: string }
    session: { id: string; title: string; source: string }
    snippet: { text: string }
  }[]
  truncated: boolean
}

const answerTo = async (c: Http, services: Services, search: Search): Promise<Answer> => {
  const { query, session, type } = search
  const wrong = wrongDays(search)
  if (wrong) return { error: { code: 'invalid_request', message: wrong, details: {} } }
  const outcome = await perform(
    searchSessions,
    services,
    { ...callOf(c, services), token: undefined },
    {
      query,
      within_id: session ? sessionName(session.id) : null,
      event_types: type === 'all' ? SEARCHABLE : type ? [type] : null,
      n_hits: MOST,
    },
  )
  if (!outcome.ok) return outcome
  const { results, truncated } = outcome.data.data as Answered
  const warnings = outcome.data.warnings as string[]
  const wanted = results.filter(({ event }) => isWithin(search, event.timestamp))
  return {
    found: {
      hits: await hitsOf(services, wanted),
      terms: [...termsOf([query, ...warnings.flatMap(quotesIn)].join(' ')).keys()],
      looked: results.length,
      more: truncated,
      warnings,
    },
  }
}

// A warning quotes the words that were taken for one that nobody wrote: these are what the hits say.
const quotesIn = (warning: string) => warning.match(/"[^"]+"/g) ?? []

const wrongDays = ({ from, to }: Search): string | undefined => {
  const wrong = [from, to].some((day) => day && !(/^\d{4}-\d\d-\d\d$/.test(day) && Date.parse(day)))
  if (wrong) return 'A day is written like 2026-11-22.'
  return from && to && from > to ? 'The first day is after the last one.' : undefined
}

// The operation knows no times, so days choose among its hits; the page says so.
const isWithin = ({ from, to }: Search, at: string) => {
  const day = at.slice(0, 10)
  return day >= from && (!to || day <= to)
}

const hitsOf = async ({ database }: Services, results: Answered['results']): Promise<Hit[]> => {
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
  return placed.flatMap(({ sessionId, eventId, event: { type: kind, timestamp: at }, session: { title, source }, snippet }) => {
    const event = eventFor.get(eventId)
    if (!event) return []
    // A transcript's page has no feed to point into, and a feed has no tools in it.
    const sequence = source === 'room' && IN_THE_FEED.has(event.type) ? event.sequence : undefined
    return { sessionId, title, source, kind, at, snippet: snippet.text, sequence, team: authorOf(event, castFor.get(sessionId)!) }
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
