// Which paths overlap one of many others. However many there are and whatever they look like, telling it takes a bounded number of steps.
import { patternOf, patternsOverlap, type Pattern, type Steps } from './path-overlap.ts'

// 100 to 200 ns each. Boards of projects need a few thousand, since most paths are told apart by the names before their first star.
const MOST_STEPS = 100_000

export const stepsForAll = (): Steps => ({ left: MOST_STEPS })

/** Returns a function that says of a path whether it overlaps one of these; 'untold' where the steps have run out before that was told. */
export const overlapping = (paths: readonly string[], steps: Steps): ((path: string) => boolean | 'untold') => {
  const near = nearby(paths.map(patternOf))
  const decide = (path: string): boolean | 'untold' => {
    const pattern = patternOf(path)
    for (const other of near(pattern)) {
      if (steps.left < 0) return 'untold'
      if (patternsOverlap(pattern, other, steps)) return steps.left < 0 ? 'untold' : true
    }
    return false
  }
  const known = new Map<string, boolean | 'untold'>()
  return (path) => {
    const answer = known.get(path) ?? decide(path)
    known.set(path, answer)
    return answer
  }
}

/** Returns a function that finds those of these whose path overlaps another one, as far as the steps last. */
export const overlappingOnes = <One extends { path: string }>(ones: readonly One[], steps: Steps): ((path: string) => One[]) => {
  const near = nearby(ones.map((one) => ({ ...patternOf(one.path), one })))
  return (path) => {
    const pattern = patternOf(path)
    const found: One[] = []
    for (const other of near(pattern)) {
      if (steps.left < 0) break
      if (patternsOverlap(pattern, other, steps) && steps.left >= 0) found.push(other.one)
    }
    return found
  }
}

// The patterns that may overlap another: the leading names of the one begin with all of the other's.
const nearby = <Each extends Pattern>(patterns: readonly Each[]) => {
  const byLead = Map.groupBy(patterns, ({ lead }) => lead)
  const leads = [...byLead.keys()].sort()
  const above = nearestAbove(leads)
  return function* ({ lead }: Pattern): Generator<Each> {
    const place = placeIn(leads, lead)
    for (let i = place - 1; i >= 0; i = above[i]!) if (lead.startsWith(leads[i]!)) yield* byLead.get(leads[i]!)!
    for (let i = place; leads[i]?.startsWith(lead); i++) yield* byLead.get(leads[i]!)!
  }
}

// For each of these sorted texts the place of the longest other one that it begins with; -1 for none.
const nearestAbove = (sorted: readonly string[]): number[] => {
  const above: number[] = []
  for (const [i, text] of sorted.entries()) {
    let at = i - 1
    while (at >= 0 && !text.startsWith(sorted[at]!)) at = above[at]!
    above.push(at)
  }
  return above
}

// Where a text stands among sorted ones, or would.
const placeIn = (sorted: readonly string[], text: string): number => {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < text) from = middle + 1
    else to = middle
  }
  return from
}
