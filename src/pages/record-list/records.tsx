// The records that people approved: of all sessions, filtered by the address, and of one session.
import type { Filters, PersonView, RecordsView, SeriesMeeting, SeriesView } from '../../../components/record-list/record-view.ts'
import { hrefWith } from '../../../components/parts/href.ts'
import { RecordsPage } from '../../../components/record-list/records-page.tsx'
import type { SessionRecords } from '../../../components/session/side-panel.tsx'
import { prepareMarkdown } from '../../markdown/render.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import { mayRead } from '../../doors/http/guards.ts'
import type { Http } from '../../doors/http/http.ts'
import { pageOf, readCursor } from '../../operations/list-cursor.ts'
import type { Session } from '../../stores/sessions.ts'
import { attendeesOf, isVerified } from '../../stores/records/attendees.ts'
import { listMeetings, type ListedMeeting } from '../../stores/records/meeting-list.ts'
import { rememberPersons, spellingsOf } from '../../stores/records/persons.ts'
import { RECORD_STATUSES, recordPage, type ListedRecord, type RecordFilter, type RecordStatus } from '../../stores/records/record-pages.ts'
import { frameOf, page, type Site } from '../respond.tsx'
import { recordView } from './record-view.ts'

const SHOWN = 30
const IN_SESSION = 200
const OPEN_SHOWN = 50
const MEETINGS_SHOWN = 10
const SERIES_SHOWN = 50

/** GET /records: ?q=, type, status, owner, meeting, series and cursor. */
export const recordsPage = async (c: Http, site: Site): Promise<Response> => {
  const { database } = site.services
  const filters = filtersOf(c)
  const filter = filterOf(filters)
  const [person, series] = await Promise.all([personView(site, filters.owner), seriesView(site, filters.series)])
  const cursor = c.req.query('cursor')
  const after = readCursor(cursor, { ...filters })
  // A person's open action items come first, all at once; the list, and its later pages, are of the others.
  const openFirst = filters.owner !== '' && filters.status === '' && filters.type !== 'decision'
  const open = openFirst ? await recordPage(database, { ...filter, type: 'action', status: 'open', limit: OPEN_SHOWN + 1 }) : []
  const openShown = open.slice(0, OPEN_SHOWN)
  const rows = await recordPage(database, { ...filter, without: openShown.map(idOf), after, limit: SHOWN + 1 })
  const { shown, next_cursor } = pageOf(rows, SHOWN, placeOf, { ...filters })
  const records = [...(after ? [] : openShown), ...shown]
  await prepared(records)
  await rememberPersons(database, named(records))
  const view: RecordsView = {
    filters,
    records: records.map(recordView),
    next: next_cursor === null ? undefined : hrefWith('/records', { ...filters, cursor: next_cursor }),
    owners: ownersIn(records, person),
    meetings: meetingsIn(records),
    problem: undefined,
  }
  const whose = person && { ...person, open: openFirst ? countOf(open, OPEN_SHOWN) : undefined }
  return page(c, <RecordsPage {...{ frame: frameOf(c, site), view, person: whose, series }} />)
}

/** The records of one session, with who took part and, for whoever may read the other sessions too, the series that it belongs to. ?type= is
 *  the page's filter. */
export const sessionRecords = async (c: Http, site: Site, session: Session): Promise<SessionRecords> => {
  const { database } = site.services
  const { type, status } = filtersOf(c)
  const filters: Filters = { q: '', type, status, owner: '', meeting: session.id, series: '' }
  const [rows, people, series] = await Promise.all([
    recordPage(database, { ...filterOf(filters), limit: IN_SESSION + 1 }),
    attendeesOf(database, [session.id]),
    mayRead(c, site.services) ? seriesView(site, session.seriesId) : undefined,
  ])
  const shown = rows.slice(0, IN_SESSION)
  await prepared(shown)
  await rememberPersons(database, [...named(shown), ...(people.get(session.id) ?? [])])
  return {
    view: {
      filters,
      records: shown.map(recordView),
      next: rows.length > IN_SESSION ? hrefWith('/records', { ...filters }) : undefined,
      owners: [],
      meetings: [],
      problem: undefined,
    },
    people: (people.get(session.id) ?? []).map(({ person_id: id, name }) => ({ id, name })),
    series: series && series.meetings.length > 1 ? series : undefined,
  }
}

const filtersOf = (c: Http): Filters => {
  const given = (name: string) => (c.req.query(name) ?? '').replaceAll('\0', '').toWellFormed()
  const among = (name: string, values: readonly string[]) => values.find((value) => value === given(name)) ?? ''
  const id = (name: string) => (isUuid(given(name)) ? given(name).toLowerCase() : '')
  return {
    q: cutAt(given('q').trim(), 200),
    type: among('type', ['decision', 'action']),
    status: among('status', RECORD_STATUSES),
    owner: id('owner'),
    meeting: id('meeting'),
    series: id('series'),
  }
}

const filterOf = ({ q, type, status, owner, meeting, series }: Filters): Omit<RecordFilter, 'limit'> => ({
  search: q || undefined,
  type: (type as RecordFilter['type'] | '') || undefined,
  status: (status as RecordStatus | '') || undefined,
  personId: owner || undefined,
  sessionId: meeting || undefined,
  seriesId: series || undefined,
})

const idOf = (row: ListedRecord): string => (row.decision ?? row.item).id
const placeOf = (row: ListedRecord) => ({ at: row.decision ? row.decision.at : row.item.createdAt, id: idOf(row) })

// Whoever a row names is found by the link that it gives.
const named = (rows: ListedRecord[]) =>
  rows.flatMap(({ decision, item, proposal }) => [decision?.decidedBy ?? item?.owner, proposal.proposedBy, proposal.resolvedBy])

const prepared = async (rows: ListedRecord[]) => {
  for (const { decision, item } of rows)
    for (const text of [(decision ?? item).description, decision?.rationale, item?.result]) if (text) await prepareMarkdown(text)
}

// What can be chosen is what the list shows: nobody picks one of 20,000 names from a list, and each name in a row is a link.
const ownersIn = (rows: ListedRecord[], person: PersonView | undefined) => {
  const named = rows.flatMap(({ decision, item }) => decision?.decidedBy ?? item?.owner ?? [])
  const known = new Map(named.flatMap(({ person_id, name }) => (person_id === null ? [] : [[person_id, name] as const])))
  if (person) known.set(person.id, person.name)
  return [...known].map(([id, name]) => ({ id, name })).toSorted((a, b) => a.name.localeCompare(b.name))
}

const meetingsIn = (rows: ListedRecord[]) => [
  ...new Map(rows.map(({ meeting }) => [meeting.meeting_id, { id: meeting.meeting_id, title: meeting.title }])).values(),
]

const personView = async ({ services: { database } }: Site, id: string): Promise<PersonView | undefined> => {
  if (id === '') return undefined
  const spellings = await spellingsOf(database, id)
  const [known] = spellings
  if (!known) return refuse('not_found', 'There is nobody of whom something is recorded under this address.')
  const [verified, attended] = await Promise.all([
    isVerified(database, spellings),
    listMeetings(database, { attendee: spellings, limit: MEETINGS_SHOWN }),
  ])
  return { id, ...known, verified, open: undefined, meetings: attended.map(meetingView) }
}

const seriesView = async ({ services: { database } }: Site, id: string): Promise<SeriesView | undefined> => {
  if (id === '') return undefined
  const meetings = await listMeetings(database, { seriesId: id, limit: SERIES_SHOWN + 1 })
  if (meetings.length === 0) return undefined
  return { id, meetings: meetings.slice(0, SERIES_SHOWN).toReversed().map(meetingView), count: countOf(meetings, SERIES_SHOWN) }
}

// Of rows of which one more was read than is shown.
const countOf = (rows: unknown[], shown: number): string => (rows.length > shown ? `${shown}+` : String(rows.length))

const meetingView = ({ id, title, createdAt, status, decisions, openActionItems }: ListedMeeting): SeriesMeeting => ({
  id,
  title,
  at: createdAt,
  concluded: status === 'closed',
  decisions,
  openItems: openActionItems,
})
