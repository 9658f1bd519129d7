// Action items that people approved: items of the board from then on. Changed under the session's lock alone.
import { sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { items } from '../../../db/records-schema.ts'
import { setItem, UNCLAIMED } from './items.ts'

export type ActionItem = typeof items.$inferSelect

type NewActionItem = Pick<
  ActionItem,
  | 'id'
  | 'sessionId'
  | 'proposalId'
  | 'title'
  | 'description'
  | 'priority'
  | 'owner'
  | 'ownerId'
  | 'dueDate'
  | 'plannedBy'
  | 'plannedByTeamId'
>

/** Puts it at the end of its session's board. */
export const insertActionItem = async ({ db }: Queries, values: NewActionItem): Promise<ActionItem> => {
  const [row] = await db
    .insert(items)
    .values({
      ...values,
      kind: 'action',
      dependsOn: [],
      paths: [],
      place: sql`(select coalesce(max(place), 0) + 1 from items where session_id = ${values.sessionId})`,
      createdAt: sql`clock_timestamp()`,
      updatedAt: sql`clock_timestamp()`,
    })
    .returning()
  return row!
}

/** Drops an action item as withdrawn, with the reason as its note, and ends its claim. One that was done keeps who did it. */
export const withdrawActionItem = async (queries: Queries, { id, status }: ActionItem, reason: string): Promise<void> =>
  setItem(queries, id, { ...(status !== 'done' && UNCLAIMED), status: 'dropped', note: reason, withdrawnAt: sql`clock_timestamp()` })
