// The feed as the session page shows it: stretches of the log, and what was written to the document meanwhile, as rows that follow one
// another, rendered bit by bit.
import { renderToStaticMarkup } from 'react-dom/server'
import { EditRow, type EditItem } from '../../../components/session/edit-row.tsx'
import type { EventItem } from '../../../components/session/event-row.tsx'
import { FeedRow, type FeedItem, type MessageItem } from '../../../components/session/feed-row.tsx'
import type { Team } from '../../../components/parts/team.tsx'
import { day } from '../../../components/parts/time.ts'
import type { Context } from '../../operations/context.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { pause } from '../../core/pause.ts'
import { editsIn, type Edit } from '../../stores/documents.ts'
import { eventsAfter, eventsBefore, eventsById, type Event } from '../../stores/events.ts'
import type { Participant } from '../../stores/members.ts'
import { arrange, SAME_BREATH_MS, type Row, type Tail } from './edits.ts'
import { countEdits, knownLines, lineBudget, type Budget, type Changed } from './line-counts.ts'

export const ROWS = 100 // what a page begins with, and what is added to it at a time
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

/** What was written to the document before each of these events, and after the last of them if they reach the feed's end: `upTo` is the
 *  version that the document has there. */
export const editsOf = (
  queries: Queries,
  sessionId: string,
  { previous, events }: Pick<Stretch, 'previous' | 'events'>,
  upTo?: number,
): Promise<Edit[]> => {
  const before = upTo === undefined ? events.at(-1)?.at : undefined
  if (upTo === 0 || (upTo === undefined && before === undefined)) return Promise.resolve([])
  return editsIn(queries, sessionId, { since: previous?.at, before, upTo })
}

interface Looks {
  /** Nothing stands above these rows yet, so that the first one shows its author's name. */
  first?: boolean
  /** The document's versions are closed to the reader. */
  guest?: boolean
  /** For several stretches of one page together. */
  budget?: Budget
}

/** Rows as markup. */
export const rowsOf = async (
  queries: Queries,
  sessionId: string,
  cast: Cast,
  { previous, events, edits = [] }: Pick<Stretch, 'previous' | 'events'> & { edits?: Edit[] },
  looks: Looks = {},
): Promise<string> => (await rowsAfter(queries, sessionId, cast, { event: previous, edits: [] }, events, edits, looks)).rows

/** What comes after a feed's end. */
export interface NewRows {
  /** Rows that are there and have changed, by the first version in them, as markup. */
  continued: { from: number; html: string }[]
  /** Rows that are there no more, by the first version in them. */
  gone: number[]
  /** New rows, as markup. */
  rows: string
}

/** What comes after a feed's end, and how it then ends. */
export const rowsAfter = async (
  queries: Queries,
  sessionId: string,
  cast: Cast,
  before: Tail,
  events: Event[],
  edits: Edit[],
  { first = false, guest = false, budget = lineBudget() }: Looks = {},
): Promise<NewRows & { tail: Tail }> => {
  const { continued, gone, rows, tail } = arrange(before, events, edits)
  const written = [...continued, ...rows.flatMap(({ edit }) => edit ?? [])]
  const [answered] = await Promise.all([answeredBy(queries, sessionId, events), countEdits(queries, sessionId, written, budget)])
  const history = guest ? undefined : `/sessions/${sessionId}/history`
  const item = (edit: Edit) => editItem(edit, cast, knownLines(sessionId, edit.from - 1, edit.to), history)
  const items = itemsOf(rows, before, cast, answered, item)
  if (first && items[0]?.kind === 'message') items[0].continues = false
  return {
    continued: continued.map((edit) => ({ from: edit.from, html: renderToStaticMarkup(<EditRow item={item(edit)} />) })),
    gone: gone.map(({ from }) => from),
    rows: await renderRows(items),
    tail,
  }
}

/** The messages that these answer, by id: those among them, and the others by one read. */
const answeredBy = async (queries: Queries, sessionId: string, events: Event[]): Promise<Map<string, Event>> => {
  const here = new Map(events.map((event) => [event.id, event]))
  const elsewhere = new Set(events.flatMap(({ reply_to: id }) => (typeof id === 'string' && !here.has(id) ? [id] : [])))
  if (elsewhere.size > 0) for (const event of await eventsById(queries, sessionId, [...elsewhere])) here.set(event.id, event)
  return here
}

/** Each row knows whether it goes on from the one before. */
const itemsOf = (rows: Row[], before: Tail, cast: Cast, answered: Map<string, Event>, ofEdit: (edit: Edit) => EditItem): FeedItem[] => {
  const edit = before.edits.at(-1)
  const first: Partial<Row> = edit ? { edit } : { event: before.event }
  return rows.map(({ event, edit }, i) => {
    const above = i > 0 ? rows[i - 1]! : first
    const at = above.edit?.at ?? above.event?.at
    const today = day((event ?? edit).at)
    const newDay = at && day(at) !== today ? today : undefined
    return { ...(event ? itemOf(event, above.event, cast, answered) : ofEdit(edit)), newDay }
  })
}

const itemOf = (event: Event, above: Event | undefined, cast: Cast, answered: Map<string, Event>) =>
  event.type === 'system' ? eventItem(event, cast) : messageItem(event, above, answered, cast)

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

const editItem = ({ from, to, at, teamId, by }: Edit, cast: Cast, changed: Changed | undefined, history: string | undefined): EditItem => ({
  kind: 'edit',
  from,
  to,
  at,
  team: by === undefined ? undefined : (cast.team(teamId) ?? { name: by, hue: undefined }),
  changed,
  history,
})

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
    const rows = slice.map((item) => <FeedRow key={item.kind === 'edit' ? `d${item.from}` : item.sequence} item={item} />)
    parts.push(renderToStaticMarkup(<>{rows}</>))
  }
  return parts.join('')
}
