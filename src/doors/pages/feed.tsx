// The feed as the session page shows it: stretches of the log, as rows that follow one another, rendered bit by bit.
import { renderToStaticMarkup } from 'react-dom/server'
import type { EventItem } from '../../../components/event-row.tsx'
import { FeedRow, type FeedItem, type MessageItem } from '../../../components/feed-row.tsx'
import type { Team } from '../../../components/team.tsx'
import { day } from '../../../components/time.ts'
import type { Context } from '../../context.ts'
import { prepareMarkdown } from '../../core/markdown.ts'
import { pause } from '../../core/pause.ts'
import { eventsAfter, eventsBefore, eventsById, type Event } from '../../stores/events.ts'
import type { Participant } from '../../stores/members.ts'

export const ROWS = 100 // what a page begins with, and what is added to it at a time
const SAME_BREATH_MS = 5 * 60_000 // what one author says within it stands under one name
const SLICE = 25 // rows rendered before a look at the clock: 0.5 to 2 ms
const TURN_MS = 5 // others get their turn then

/** What reads the log. */
export type Queries = Context['queries']

/** Events that follow one another, and the one before them: a row's look depends on it, and on nothing else. */
export interface Stretch {
  previous: Event | undefined
  events: Event[]
  /** There is more beyond the end that was read towards. */
  more: boolean
}

/** Up to `rows` before a sequence, without that one. */
export const stretchBefore = async (queries: Queries, sessionId: string, before: number, rows = ROWS): Promise<Stretch> => {
  const { events, hasMore } = await eventsBefore(queries, sessionId, before, false, rows + 1)
  const [previous, ...rest] = events
  if (rest.length === 0 || (!hasMore && events.length <= rows)) return { previous: undefined, events, more: hasMore }
  return { previous, events: rest, more: true }
}

/** Up to `rows` after a cursor, and no further than `until`. */
export const stretchAfter = async (
  queries: Queries,
  sessionId: string,
  after: number,
  { until = Number.MAX_SAFE_INTEGER, rows = ROWS } = {},
): Promise<Stretch> => {
  const [page, previous] = await Promise.all([eventsAfter(queries, sessionId, after, false, rows), eventUpTo(queries, sessionId, after)])
  const events = page.events.filter(({ sequence }) => sequence <= until)
  return { previous, events, more: page.hasMore && events.length === page.events.length && events.at(-1)!.sequence < until }
}

/** The newest event of the conversation, up to a cursor. */
export const eventUpTo = async (queries: Queries, sessionId: string, cursor: number): Promise<Event | undefined> =>
  (await eventsBefore(queries, sessionId, cursor + 1, false, 1)).events[0]

/** Who is who in a session, by handle and by name. */
export const castOf = (teams: Participant[]) => {
  const byId = new Map(teams.map((team) => [team.teamId, team]))
  const byName = new Map(teams.map((team) => [team.teamName, team]))
  return {
    team: (id: unknown): Team | undefined => teamOf(byId.get(id as string)),
    /** System events and documents name who did it; somebody who is no team is a person. */
    named: (name: string): Team => teamOf(byName.get(name)) ?? { name, hue: undefined },
  }
}
export type Cast = ReturnType<typeof castOf>

const teamOf = (row: Participant | undefined): Team | undefined => row && { name: row.teamName, hue: row.hue }

/** Rows as markup. `first`: nothing stands above them yet, so that the first one shows its author's name. */
export const rowsOf = async (
  queries: Queries,
  sessionId: string,
  cast: Cast,
  { previous, events }: Pick<Stretch, 'previous' | 'events'>,
  { first = false } = {},
): Promise<string> => {
  const items = itemsOf(events, previous, cast, await answeredBy(queries, sessionId, events))
  if (first && items[0]?.kind === 'message') items[0].continues = false
  return renderRows(items)
}

/** The messages that these answer, by id: those among them, and the others by one read. */
const answeredBy = async (queries: Queries, sessionId: string, events: Event[]): Promise<Map<string, Event>> => {
  const here = new Map(events.map((event) => [event.id, event]))
  const elsewhere = new Set(events.flatMap(({ reply_to: id }) => (typeof id === 'string' && !here.has(id) ? [id] : [])))
  if (elsewhere.size > 0) for (const event of await eventsById(queries, sessionId, [...elsewhere])) here.set(event.id, event)
  return here
}

/** Events as rows: each knows whether it goes on from the one before. */
export const itemsOf = (events: Event[], previous: Event | undefined, cast: Cast, answered: Map<string, Event>): FeedItem[] =>
  events.map((event, i) => {
    const before = i > 0 ? events[i - 1] : previous
    const today = day(event.at)
    const newDay = before && day(before.at) !== today ? today : undefined
    const item = event.type === 'system' ? eventItem(event, cast) : messageItem(event, before, answered, cast)
    return { ...item, newDay }
  })

const speaker = (event: Event, cast: Cast): Team =>
  cast.team(event.posted_by_team_id) ?? { name: (event.team as string | null) ?? 'Somebody', hue: undefined }

const messageItem = (event: Event, previous: Event | undefined, byId: Map<string, Event>, cast: Cast): MessageItem => {
  const answered = event.reply_to ? byId.get(event.reply_to as string) : undefined
  const to = ((event.to as string[] | undefined) ?? []).map((id) => cast.team(id)?.name ?? 'somebody')
  return {
    kind: 'message',
    sequence: event.sequence,
    at: event.at,
    team: speaker(event, cast),
    text: (event.content as { text?: string }).text ?? '',
    continues: to.length === 0 && sameBreath(event, previous),
    prompt: event.type === 'user_input',
    answers: answered && { sequence: answered.sequence, name: speaker(answered, cast).name },
    to,
  }
}

const sameBreath = (event: Event, previous: Event | undefined): boolean =>
  previous !== undefined &&
  previous.type === event.type &&
  previous.posted_by_team_id === event.posted_by_team_id &&
  previous.team === event.team &&
  day(previous.at) === day(event.at) &&
  Date.parse(event.at) - Date.parse(previous.at) < SAME_BREATH_MS

const eventItem = (event: Event, cast: Cast): EventItem => {
  const name = event.by ?? event.team
  return {
    kind: 'event',
    sequence: event.sequence,
    at: event.at,
    event: String(event.event),
    team: cast.team(event.team_id) ?? (typeof name === 'string' ? cast.named(name) : undefined),
    changes: (event.changes as EventItem['changes'] | undefined) ?? {},
    reason: event.reason as string | undefined,
    docVersion: event.doc_version as number | undefined,
  }
}

/** The rows as markup, with a pause now and then: 10,000 of them take a second, in which others want to be answered. */
const renderRows = async (items: FeedItem[]): Promise<string> => {
  const parts: string[] = []
  let began = performance.now()
  for (let from = 0; from < items.length; from += SLICE) {
    if (performance.now() - began > TURN_MS) {
      await pause()
      began = performance.now()
    }
    const slice = items.slice(from, from + SLICE)
    for (const item of slice) if (item.kind === 'message') await prepareMarkdown(item.text)
    const rows = slice.map((item) => <FeedRow key={item.sequence} item={item} />)
    parts.push(renderToStaticMarkup(<>{rows}</>))
  }
  return parts.join('')
}
