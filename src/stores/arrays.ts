// Lists in Postgres' own notation, which both drivers pass on as it is.

type Element = string | number | boolean | undefined

/** Of whatever texts and values; undefined is NULL. */
export const pgArray = (values: readonly Element[]): string => `{${values.map(elementText).join(',')}}`
const elementText = (value: Element) =>
  value === undefined ? 'NULL' : typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value

/** Of what needs no quotes, such as ids and numbers, or has them already: without a look at each, since a batch of posts has thousands. */
export const plainArray = (values: readonly (string | number)[]): string => `{${values.join(',')}}`
