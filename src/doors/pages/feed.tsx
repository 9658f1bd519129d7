// The feed of the session page: the newest events, as items that follow one another, rendered bit by bit.
import { renderToStaticMarkup } from 'react-dom/server'
import type { EventItem } from '../../../components/event-row.tsx'
import { FeedRow, type FeedItem, type MessageItem } from '../../../components/feed-row.tsx'
import type { Lane } from '../../../components/lanes.tsx'
import type { Team } from '../../../components/team.tsx'
import { day } from '../../../components/time.ts'
import type { Services } from '../../services.ts'
import { eventsBefore, type Event } from '../../stores/events.ts'
import type { Participant } from '../../stores/members.ts'

const ROWS = 2_000 // about 1.6 MB of page, 60 KB packed; more is behind a link
const BYTES = 4 * 1024 * 1024 // rows may have 32 KiB each
const SAME_BREATH_MS = 5 * 60_000 // what one author says within it stands under one name
const SLICE = 50 // rows rendered before others get their turn: 2 to 5 ms

/** The newest of the feed, ascending: up to 2,000 rows, or all. */
export const newestEvents = async ({ database }: Services, sessionId: string, all: boolean): Promise<{ events: Event[]; cut: boolean }> => {
  const pages: Event[][] = []
  let rows = 0
  let bytes = 0
  let before: number | undefined
  for (;;) {
    const { events, hasMore } = await eventsBefore(database, sessionId, before, false, 500)
    pages.unshift(events)
    rows += events.length
    bytes += events.reduce((sum, { content }) => sum + ((content as { text?: string } | undefined)?.text?.length ?? 0), 0)
    before = events[0]?.sequence
    if (!hasMore || before === undefined) return { events: pages.flat(), cut: false }
    if (!all && (rows >= ROWS || bytes >= BYTES)) return { events: pages.flat().slice(-ROWS), cut: true }
  }
}

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

/** Events as rows: each knows whether it goes on from the one before. */
export const itemsOf = (events: Event[], cast: Cast): FeedItem[] => {
  const byId = new Map(events.map((event) => [event.id, event]))
  return events.map((event, i) => {
    const previous = events[i - 1]
    const today = day(event.at)
    const newDay = previous && day(previous.at) !== today ? today : undefined
    const item = event.type === 'system' ? eventItem(event, cast) : messageItem(event, previous, byId, cast)
    return { ...item, newDay }
  })
}

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
export const renderRows = async (items: FeedItem[]): Promise<string> => {
  const parts: string[] = []
  for (let from = 0; from < items.length; from += SLICE) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve))
    const rows = items.slice(from, from + SLICE).map((item) => <FeedRow key={item.sequence} item={item} />)
    parts.push(renderToStaticMarkup(<>{rows}</>))
  }
  return parts.join('')
}

const LANES = 8

/** One lane for each author who spoke, the busiest eight. */
export const lanesOf = (items: FeedItem[]): Lane[] => {
  const lanes = new Map<string, Lane>()
  for (const item of items) {
    if (item.kind !== 'message') continue
    const id = `${item.team.hue}/${item.team.name}`
    const lane = lanes.get(id) ?? { id, ...item.team, spoke: [] }
    lane.spoke.push(Date.parse(item.at))
    lanes.set(id, lane)
  }
  return [...lanes.values()].toSorted((a, b) => b.spoke.length - a.spoke.length).slice(0, LANES)
}
