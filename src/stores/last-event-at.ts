// When something last happened in a session: its last event, or else its beginning.
import { sql } from 'drizzle-orm'
import { sessions } from '../../db/schema.ts'

/** As SQL, of a session `s`. */
export const LAST_EVENT_AT = 'coalesce(s.last_event_at, s.created_at)'

/** As Drizzle has it. */
export const lastEventAt = sql<string>`coalesce(${sessions.lastEventAt}, ${sessions.createdAt})`
