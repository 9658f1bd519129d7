// Cuts answers to a number of characters, counted as JSON, and marks what was cut.
import { cutAt } from './text/cut-at.ts'

export const jsonLength = (value: unknown): number => JSON.stringify(value).length

/** As much of the beginning of a text as takes at most `limit` characters as JSON, with `…` where it was cut. */
export const cutText = (text: string, limit: number): string => {
  if (text.length + 2 <= limit && jsonLength(text) <= limit) return text
  let fits = 0
  for (let tooLong = Math.min(text.length, Math.max(limit, 0)) + 1; tooLong - fits > 1;) {
    const middle = (fits + tooLong) >> 1
    if (jsonLength(cutAt(text, middle)) + 1 <= limit) fits = middle
    else tooLong = middle
  }
  return `${cutAt(text, fits)}…`
}

/** As many of the first rows as take at most `limit` characters as a JSON list. */
export const fitting = <Row>(rows: readonly Row[], limit: number): Row[] => {
  let used = 1 // the opening bracket; each row adds a comma or the closing one
  const end = rows.findIndex((row) => (used += jsonLength(row) + 1) > limit)
  return end < 0 ? [...rows] : rows.slice(0, end)
}

/** The pages, shortened so that all of them together take at most `limit` bytes as JSON; each keeps at least one event. Each may take an
 *  even share, and what small pages leave of theirs goes to the large ones. */
export const pagesWithin = <Row extends object>(
  pages: { events: Row[]; hasMore: boolean }[],
  limit: number,
): { events: Row[]; hasMore: boolean }[] => {
  const sizes = pages.map(({ events }) => events.map(bytesOf))
  const share = evenShare(
    sizes.map((each) => each.reduce((sum, size) => sum + size, 0)),
    limit,
  )
  return pages.map((page, i) => {
    let used = 0
    const end = sizes[i]!.findIndex((size, n) => (used += size) > share && n > 0)
    return end < 0 ? page : { events: page.events.slice(0, end), hasMore: true }
  })
}

// With a comma. Cached by identity: events in memory are the same objects for all who read them.
const bytesOf = (event: object): number => {
  const bytes = measured.get(event) ?? Buffer.byteLength(JSON.stringify(event)) + 1
  measured.set(event, bytes)
  return bytes
}
const measured = new WeakMap<object, number>()

// The most that each may take so that all together keep to the limit.
const evenShare = (sizes: number[], limit: number): number => {
  let [left, takers] = [limit, sizes.length]
  for (const size of sizes.toSorted((a, b) => a - b)) {
    if (size * takers > left) return left / takers
    left -= size
    takers--
  }
  return Infinity
}

const PAGE_OVERHEAD = 120 // characters of a page's JSON beside its events

/** As much of a page, from its start or its end, as takes at most `limit` characters as JSON: at least one event, with its texts cut if
 *  need be. */
export const pageWithin = <Row extends object>(
  page: { events: Row[]; hasMore: boolean },
  limit: number | undefined,
  from: 'start' | 'end' = 'start',
): { events: Row[]; hasMore: boolean } => {
  if (limit === undefined || page.events.length === 0) return page
  const ordered = from === 'start' ? page.events : page.events.toReversed()
  const room = limit - PAGE_OVERHEAD
  const fits = fitting(ordered, room)
  const kept = fits.length > 0 ? fits : [rowWithin(ordered[0]!, room - 2)]
  return { events: from === 'start' ? kept : kept.toReversed(), hasMore: page.hasMore || kept.length < page.events.length }
}

const SHORTEST = 40 // characters: ids and times are shorter, and never cut

/** The row with its long texts cut until it takes at most `limit` characters as JSON, and then its lists, as far as that goes. `truncated`
 *  has the full length of the longest text, and how many entries each list has lost, or how many fields an object with too many. */
export const rowWithin = <Row extends object>(row: Row, limit: number): Row & { truncated?: Truncated } => {
  if (jsonLength(row) <= limit) return row
  const chars = longestIn(row)
  const entries = Object.fromEntries(Object.entries(row).map(([key, inner]) => [key, entriesIn(inner)]))
  const { begun, fieldsLost } = beginningsIn(row, Math.max(limit, LEAST_VALUES))
  for (let most = limit, lists = false; ; most = Math.floor(most * 0.8)) {
    const kept = cutIn(begun, most, lists)
    const cut = { ...kept, truncated: { chars, ...omittedOf(kept, entries, fieldsLost) } }
    if (jsonLength(cut) <= limit || (lists && most <= SHORTEST)) return cut
    if (most <= SHORTEST) [most, lists] = [limit, true]
  }
}

interface Truncated {
  chars: number
  omitted?: Record<string, number>
}
type Counts = Record<string, number>

const omittedOf = (kept: object, entries: Counts, fieldsLost: Counts): Pick<Truncated, 'omitted'> => {
  const lost = Object.entries(kept).map(([key, inner]) => [key, entries[key]! - entriesIn(inner) + fieldsLost[key]!] as const)
  const omitted = lost.filter(([, count]) => count > 0)
  return omitted.length > 0 ? { omitted: Object.fromEntries(omitted) } : {}
}

const LEAST_VALUES = 1_000 // a small limit takes no fields from an ordinary object

// The row with the first `most` values of each of its fields, as it is cut again and again, and may have millions. A value takes two characters
// at least, so that a list that ends here would not have fitted; what stands beside such a list has as much room again.
const beginningsIn = <Row extends object>(row: Row, most: number): { begun: Row; fieldsLost: Counts } => {
  const fieldsLost: Counts = {}
  const begun = Object.entries(row).map(([key, whole]) => {
    let [values, lost] = [0, 0]
    const beginning = (value: unknown): unknown => {
      values++
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) {
        const from = values
        return firstOf(value, (n) => n === 0 || (values < most && values - from < most / 2), beginning)
      }
      const fields = Object.entries(value)
      const first = firstOf(
        fields,
        () => values < most,
        ([name, inner]) => [name, beginning(inner)] as const,
      )
      lost += fields.length - first.length
      return Object.fromEntries(first)
    }
    const kept = beginning(whole)
    fieldsLost[key] = lost
    return [key, kept]
  })
  return { begun: Object.fromEntries(begun) as Row, fieldsLost }
}

const firstOf = <Item, Made>(items: Item[], more: (n: number) => boolean, make: (item: Item) => Made): Made[] => {
  const made: Made[] = []
  while (made.length < items.length && more(made.length)) made.push(make(items[made.length]!))
  return made
}

const entriesIn = (value: unknown): number =>
  valuesIn(value).reduce<number>((sum, inner) => sum + entriesIn(inner), Array.isArray(value) ? value.length : 0)

const longestIn = (value: unknown): number =>
  typeof value === 'string' ? value.length : valuesIn(value).reduce<number>((most, inner) => Math.max(most, longestIn(inner)), 0)

// A list that is cut keeps at least one entry.
const cutIn = <Value>(value: Value, most: number, lists: boolean): Value => {
  if (typeof value === 'string') return cutText(value, Math.max(most, SHORTEST)) as Value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const cut = value.map((inner) => cutIn(inner, most, lists))
    return (lists ? cut.slice(0, Math.max(1, fitting(cut, most).length)) : cut) as Value
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cutIn(inner, most, lists)])) as Value
}

const NONE: unknown[] = []
const valuesIn = (value: unknown): unknown[] =>
  typeof value !== 'object' || value === null ? NONE : Array.isArray(value) ? value : Object.values(value)
