// Where a page of a list ended: the time and id of its last row, as the caller brings them back, opaque and bound to the list's filters.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid, sha256 } from '../core/ids.ts'
import { inYears } from '../core/years.ts'
import { jsonIn } from '../core/text/json.ts'
import type { ListPosition } from '../stores/list-position.ts'

/** What a list was asked for beside the place: a cursor of one list says nothing in another. */
type Filters = Readonly<Record<string, unknown>>

// Other spellings of a time the database may refuse.
const place = z.tuple([z.iso.datetime().refine(inYears), z.string().refine(isUuid), z.string()])

const hashOf = (filters: Filters): string =>
  sha256(JSON.stringify(Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 8)

/** The place that a cursor names; what is wrong with a text that no list gave, and with the cursor of a list with other filters. */
export const parseCursor = (cursor: string, filters: Filters): ListPosition | 'no cursor' | 'other filters' => {
  const { success, data } = place.safeParse(jsonIn(Buffer.from(cursor, 'base64url').toString()))
  if (!success) return 'no cursor'
  const [at, id, of] = data
  return of === hashOf(filters) ? { at, id } : 'other filters'
}

/** The place that a cursor names. 400 for a text that no list gave, and for the cursor of a list with other filters. */
export const readCursor = (cursor: string | undefined, filters: Filters = {}): ListPosition | undefined => {
  const found = cursor === undefined ? undefined : parseCursor(cursor, filters)
  if (found === 'no cursor')
    return refuse('invalid_request', 'cursor: send the next_cursor of the answer before, or none.', { field: 'cursor' })
  if (found === 'other filters')
    return refuse('invalid_request', 'cursor: it belongs to a list with other filters. Send the same ones as before, or no cursor.', {
      field: 'cursor',
    })
  return found
}

/** A page of rows, of which one more than `limit` was read where there is more. */
export const pageOf = <Row>(rows: Row[], limit: number, placeOf: (row: Row) => ListPosition, filters: Filters = {}) => {
  const shown = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { shown, next_cursor: has_more ? cursorOf(placeOf(shown.at(-1)!), filters) : null, has_more }
}

const cursorOf = ({ at, id }: ListPosition, filters: Filters): string =>
  Buffer.from(JSON.stringify([at, id, hashOf(filters)])).toString('base64url')

export const pageFields = { next_cursor: z.string().nullable(), has_more: z.boolean() }
