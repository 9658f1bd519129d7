// Where a page of a list ended: the time and id of its last row, as the caller brings them back.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'

export interface Place {
  at: string
  id: string
}

const place = z.tuple([z.iso.datetime(), z.string().refine(isUuid)])

const cursorOf = ({ at, id }: Place): string => Buffer.from(JSON.stringify([at, id])).toString('base64url')

/** The place that a cursor names. 400 for a text that no list gave. */
export const readCursor = (cursor: string | undefined): Place | undefined => {
  if (cursor === undefined) return undefined
  const { success, data } = place.safeParse(parsed(cursor))
  if (!success) return refuse('invalid_request', 'cursor: send the next_cursor of the answer before, or none.', { field: 'cursor' })
  return { at: data[0], id: data[1] }
}

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** A page of rows, of which one more than `limit` was read where there is more. */
export const pageOf = <Row>(rows: Row[], limit: number, placeOf: (row: Row) => Place) => {
  const shown = rows.slice(0, limit)
  const has_more = rows.length > limit
  return { shown, next_cursor: has_more ? cursorOf(placeOf(shown.at(-1)!)) : null, has_more }
}

export const pageFields = { next_cursor: z.string().nullable(), has_more: z.boolean() }
