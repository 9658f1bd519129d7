// Sessions as meetings, in lists: each with its place in its series, and what of records it has.
import { and, desc, eq, gte, isNull, lte, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { sessions } from '../../../db/schema.ts'
import { attendedBy } from './attendees.ts'
import type { PersonKind } from './persons.ts'
import type { ListPosition } from '../list-position.ts'

export interface ListedMeeting {
  id: string
  title: string
  description: string
  createdAt: string
  closedAt: string | null
  status: 'active' | 'closed'
  seriesId: string
  position: number
  count: number
  actionItems: number
  openActionItems: number
  decisions: number
  pending: number
}

export interface MeetingFilter {
  id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  seriesId?: string | undefined
  /** Somebody of these names attended. */
  attendee?: readonly { kind: PersonKind; name: string }[] | undefined
  /** Where the page before ended. */
  after?: ListPosition | undefined
  limit: number
}

// In the list of a select from one table, drizzle writes columns without the table: a subquery would take them for its own.
const IN_SERIES = sql`select count(*)::int from sessions s where s.series_id = sessions.series_id`
const ITEMS = sql`select count(*)::int from items where items.session_id = sessions.id and items.kind = 'action'`

const COLUMNS = {
  id: sessions.id,
  title: sessions.title,
  description: sessions.description,
  createdAt: sessions.createdAt,
  closedAt: sessions.closedAt,
  status: sessions.status,
  seriesId: sessions.seriesId,
  position: sql<number>`(${IN_SERIES} and (s.created_at, s.id) <= (sessions.created_at, sessions.id))`,
  count: sql<number>`(${IN_SERIES})`,
  actionItems: sql<number>`(${ITEMS})`,
  openActionItems: sql<number>`(${ITEMS} and items.status in ('open', 'claimed'))`, // also one whose lease is over
  decisions: sql<number>`(select count(*)::int from decisions where decisions.session_id = sessions.id)`,
  pending: sql<number>`(select count(*)::int from proposals where proposals.session_id = sessions.id and proposals.status = 'pending'
    and proposals.expires_at > clock_timestamp() and sessions.archived_at is null)`,
}

/** The newest first, without those that were purged, unless it is asked for by its id. */
export const listMeetings = ({ db }: Queries, filter: MeetingFilter): Promise<ListedMeeting[]> => {
  const { id, from, to, seriesId, attendee, after, limit } = filter
  return db
    .select(COLUMNS)
    .from(sessions)
    .where(
      and(
        id ? eq(sessions.id, id) : isNull(sessions.purgedAt),
        from ? gte(sessions.createdAt, from) : undefined,
        to ? lte(sessions.createdAt, to) : undefined,
        seriesId ? eq(sessions.seriesId, seriesId) : undefined,
        attendee && attendedBy(attendee),
        after && sql`(${sessions.createdAt}, ${sessions.id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(limit)
}
