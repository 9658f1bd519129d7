// Which events are worth scoring. Rare terms are taken whole; of terms that too many events have, those events where they weigh much,
// alone or together. bench/search compares what comes of it with scoring everything.
import { atLevel, LEVELS, quoted } from '../core/terms.ts'

export interface Term {
  term: string
  events: number // that have it
  levels: number[] | null // of these, how many at each level
  weight: number
}

/** What candidates match, in each column of the index. */
export interface Plan {
  tsv?: string
  hot?: string
}

const BUDGET = 2_000 // candidates, expected: so many rows are read and scored in 10 to 40 ms
export const MOST_CANDIDATES = 3 * BUDGET // of each column, however wrong that was
const COMBINED = 4 // of the common terms: the rarest
const PARTNERS = 2 // terms of one subject come together more often than chance has it
const AT_NO_LEVEL = 0.35 // the part of its weight that a term has where it is at no level

/** BM25's weight of a term: the rarer, the more. */
export const weightOf = (events: number, all: number) => Math.log(1 + (Math.max(all, events) - events + 0.5) / (events + 0.5))

/** All events that have any of the terms. */
export const everyEvent = (terms: Term[]): Plan => ({ tsv: either(terms.map(({ term }) => quoted(term))) })

/** The events most likely to be the best. `terms` come rarest first. */
export const likelyEvents = (terms: Term[], all: number): Plan => {
  let left = BUDGET
  const rare = terms.filter(({ events }) => (left -= events) >= 0)
  const common = terms.slice(rare.length)
  if (common.length === 0) return everyEvent(terms)
  const spent = rare.reduce((sum, { events }) => sum + events, 0)
  const chosen = choose(optionsOf(common.slice(0, COMBINED), all), Math.max(BUDGET - spent, BUDGET / 2))
  const queries = (column: keyof Plan) => chosen.filter((option) => option.column === column).map(({ query }) => query)
  const [tsv, hot] = [[...rare.map(({ term }) => quoted(term)), ...queries('tsv')], queries('hot')]
  return { ...(tsv.length > 0 && { tsv: either(tsv) }), ...(hot.length > 0 && { hot: either(hot) }) }
}

const either = (queries: string[]) => queries.join('|')
const both = (queries: string[]) => queries.map((query) => `(${query})`).join('&')

interface Option {
  group: number
  column: keyof Plan
  query: string
  expected: number // events
  least: number // what they score at least
}

// Each group of terms, at each level that all of them reach, and wherever they are together at all.
const optionsOf = (terms: Term[], all: number): Option[] =>
  Array.from({ length: 2 ** terms.length - 1 }, (_, i) => terms.filter((_, place) => ((i + 1) >> place) & 1)).flatMap((group, number) => {
    const weight = group.reduce((sum, term) => sum + term.weight, 0)
    const together = (eventsOf: (term: Term) => number) =>
      group.reduce((share, term) => (share * eventsOf(term)) / all, all) * PARTNERS ** (group.length - 1)
    const atLevels = LEVELS.map((least, level): Option => ({
      group: number,
      column: 'hot',
      query: both(group.map((term) => either(LEVELS.flatMap((_, n) => (n >= level ? [atLevel(term.term, n)] : []))))),
      expected: together((term) => (term.levels ?? []).slice(level).reduce((sum, events) => sum + events, 0)),
      least: weight * least,
    }))
    const anywhere: Option = {
      group: number,
      column: 'tsv',
      query: both(group.map(({ term }) => quoted(term))),
      expected: together(({ events }) => events),
      least: weight * AT_NO_LEVEL,
    }
    return [...atLevels, anywhere]
  })

// The highest scores first, as far as the budget goes; of a group, what includes the rest. Where nothing is that rare, the rarest.
const choose = (options: Option[], budget: number): Option[] => {
  const chosen = new Map<number, Option>()
  let left = budget
  for (const option of options.toSorted((a, b) => b.least - a.least)) {
    const more = option.expected - (chosen.get(option.group)?.expected ?? 0)
    if (more > left) continue
    left -= more
    chosen.set(option.group, option)
  }
  const some = [...chosen.values()].filter(({ expected }) => expected > 0)
  return some.length > 0
    ? some
    : options
        .filter(({ expected }) => expected > 0)
        .toSorted((a, b) => a.expected - b.expected)
        .slice(0, 1)
}
