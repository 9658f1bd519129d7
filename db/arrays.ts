// Lists in Postgres' own notation, which both drivers pass on as it is.
import { sql, type Column, type SQL } from 'drizzle-orm'

type Element = string | number | boolean | undefined

/** Of whatever texts and values; undefined is NULL. */
export const pgArray = (values: readonly Element[]): string => `{${values.map(elementText).join(',')}}`
const elementText = (value: Element) =>
  value === undefined ? 'NULL' : typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value

/** Of what needs no quotes, such as ids and numbers, or has them already: without a look at each, since a batch of posts has thousands. */
export const plainArray = (values: readonly (string | number)[]): string => `{${values.join(',')}}`

/** One parameter, however many there are. drizzle's inArray makes a statement of its own for each number of ids, and every connection
 *  keeps all that it ever prepared: those for 1 to 400 watched sessions took 1.4 GB of Postgres. */
export const isAmong = (column: Column, ids: readonly string[]): SQL => sql`${column} = any(${plainArray(ids)}::uuid[])`
