// What the reading tools ask for: ids, and times of which both ends count.
import { z } from 'zod'
import { isUuid } from '../../core/ids.ts'
import { moment, personId } from '../schemas.ts'

/** A person_id as a filter: one that nobody was given matches nothing. */
export const personFilter = personId.refine(isUuid, 'must be a person_id, as answers have them')
export const seriesFilter = personId.refine(isUuid, "must be a series_id, as get_meetings has them (the id of the series' first session)")

/** 400 names the end that is wrong. */
export const ORDER = 'the earlier time comes first'
export const inOrder = (from: string | undefined, to: string | undefined): boolean =>
  from === undefined || to === undefined || Date.parse(from) <= Date.parse(to)

/** From one time to another, both included. */
export const range = z
  .strictObject({ from: moment.optional(), to: moment.optional() })
  .refine(({ from, to }) => inOrder(from, to), `from is after to: ${ORDER}`)
