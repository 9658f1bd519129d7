// Chooses the events worth scoring: all events with a rare term, and of terms that too many events have, those in which they weigh much, alone
// or together. bench/search compares the answers with scoring everything.
import { atLevel, LEVELS, quoted } from './tokenizer.ts'

export interface QueryTerm {
  term: string
  events: number // that have it
  levels: number[] | null // how many of these have it at each level (tokenizer.ts has an example)
  weight: number
  whole?: boolean // a path, identifier or code, not one of its parts
}

/** Candidates match any of these queries, each on its column of the index. */
export type Plan = { column: 'tsv' | 'hot'; query: string }[]

const BUDGET = 1_500 // candidates, expected: this many rows are read and scored in 5 to 20 ms
export const MOST_CANDIDATES = 4 * BUDGET // the limit, should the expectation be wrong
const SCANNED = 400 // entries of the index are passed over in the time that one candidate takes
const COMBINED = 4 // common terms are combined: the rarest of them
const PARTNERS = 2 // terms of one subject are this much more often together than by chance
const AT_NO_LEVEL = 0.35 // the part of a term's weight where it is at no level

/** BM25's weight of a term: the rarer, the more. */
export const weightOf = (events: number, all: number) => Math.log(1 + (Math.max(all, events) - events + 0.5) / (events + 0.5))

/** All events that have any of the terms. */
export const everyEvent = (terms: QueryTerm[]): Plan => [{ column: 'tsv', query: either(terms.map(({ term }) => quoted(term))) }]

/** The events most likely to be the best. `terms` come rarest first. Each group of common terms is a query of its own, for which the index
 *  scans only the shortest of the group's lists; as one query for all groups it scanned all lists, in twice the time (bench/search). */
export const likelyEvents = (terms: QueryTerm[], all: number): Plan => {
  let left = BUDGET
  const rare = terms.filter(({ events }) => (left -= events) >= 0)
  const common = terms.slice(rare.length)
  if (common.length === 0) return everyEvent(terms)
  const spent = rare.reduce((sum, { events }) => sum + events, 0)
  const chosen = choose(optionsOf(common.slice(0, COMBINED), all), Math.max(BUDGET - spent, BUDGET / 2))
  return [...(rare.length > 0 ? everyEvent(rare) : []), ...chosen.map(({ column, query }) => ({ column, query }))]
}

const either = (queries: string[]) => queries.join('|')
const both = (queries: string[]) => queries.map((query) => `(${query})`).join('&')

interface Option {
  group: number // bit mask of its terms
  column: Plan[number]['column']
  level: number // the least level of each term in the events found; -1: any
  query: string
  expected: number // events
  cost: number // of finding and scoring them, in candidates
  least: number // a lower bound of each event's score
}

// For each group of terms: the events that have all of them at some level or above, for each level, and all events that have them.
const optionsOf = (terms: QueryTerm[], all: number): Option[] =>
  Array.from({ length: 2 ** terms.length - 1 }, (_, i) => i + 1).flatMap((group) => {
    const own = terms.filter((_, place) => (group >> place) & 1)
    const weight = own.reduce((sum, term) => sum + term.weight, 0)
    const found = (eventsOf: (term: QueryTerm) => number) => {
      const expected = own.reduce((share, term) => (share * eventsOf(term)) / all, all) * PARTNERS ** (own.length - 1)
      return { expected, cost: expected + own.reduce((sum, term) => sum + eventsOf(term), 0) / SCANNED }
    }
    const atLevels = LEVELS.map((least, level): Option => ({
      group,
      column: 'hot',
      level,
      query: both(own.map((term) => either(LEVELS.flatMap((_, n) => (n >= level ? [atLevel(term.term, n)] : []))))),
      ...found((term) => (term.levels ?? []).slice(level).reduce((sum, events) => sum + events, 0)),
      least: weight * least,
    }))
    const anywhere: Option = {
      group,
      column: 'tsv',
      level: -1,
      query: both(own.map(({ term }) => quoted(term))),
      ...found(({ events }) => events),
      least: weight * AT_NO_LEVEL,
    }
    return [...atLevels, anywhere]
  })

// The options with the highest scores, within the budget. If none fits, the cheapest.
const choose = (options: Option[], budget: number): Option[] => {
  const possible = options.filter(({ expected }) => expected > 0)
  const chosen = new Map<number, Option>()
  let left = budget
  for (const option of possible.toSorted((a, b) => b.least - a.least)) {
    const more = option.cost - (chosen.get(option.group)?.cost ?? 0)
    if (more > left) continue
    left -= more
    chosen.set(option.group, option)
  }
  const some = [...chosen.values()]
  if (some.length === 0) return possible.toSorted((a, b) => a.cost - b.cost).slice(0, 1)
  return some.filter((option) => !some.some((other) => includes(other, option)))
}

// Whether `wide` finds all that `narrow` finds: it has fewer terms, or the same, at the same level or below.
const includes = (wide: Option, narrow: Option) =>
  wide !== narrow && (wide.group & narrow.group) === wide.group && wide.level <= narrow.level
