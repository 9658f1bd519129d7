// Lists as Postgres array literals, which both drivers send unchanged.
import { sql, type Column, type SQL } from 'drizzle-orm'

type Element = string | number | boolean | undefined

/** An array literal of any texts and values; undefined becomes NULL. */
export const pgArray = (values: readonly Element[]): string => `{${values.map(elementText).join(',')}}`
const elementText = (value: Element) =>
  value === undefined ? 'NULL' : typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value

/** An array literal of values that need no quotes (ids, numbers) or have them already. None is examined: a batch of posts has thousands. */
export const plainArray = (values: readonly (string | number)[]): string => `{${values.join(',')}}`

/** `column = any(ids)`, with one parameter for all ids. drizzle's inArray makes another statement for each number of ids, and every
 *  connection keeps each statement that it prepared: those for 1 to 400 watched sessions took 1.4 GB of Postgres' memory. */
export const isAmong = (column: Column, ids: readonly string[]): SQL => sql`${column} = any(${plainArray(ids)}::uuid[])`
