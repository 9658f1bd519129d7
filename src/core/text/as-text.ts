/** A value of an event as text; empty where there is none. In an imported event a field may hold anything, and String() throws for an object
 *  with a field `toString`. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
