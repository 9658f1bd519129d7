// As much of Prometheus' query language as our alert rules use, over samples of one scrape or of two. Throws for everything else.
import type { Sample } from './metrics.ts'

/** Whether the rule's expression holds for the newer scrape. `before`: an earlier one, for `rate` and `increase`. */
export const fires = (expr: string, now: readonly Sample[], before: readonly Sample[] = []): boolean => {
  const absent = /^absent\((\w+)\)$/.exec(expr)
  if (absent) return !now.some(({ name }) => name === absent[1])
  const [, left, comparison, limit] = /^(.*\S) (>=|<=) (-?[\d.]+)$/.exec(expr) ?? unknown(expr)
  return valuesOf(left!, now, before).some((value) => (comparison === '>=' ? value >= Number(limit) : value <= Number(limit)))
}

/** The metrics that an expression names. */
export const metricsIn = (expr: string): string[] => [...new Set(expr.match(/\bparley_\w+/g))]

const unknown = (expr: string): never => {
  throw new Error(`the evaluator does not know: ${expr}`)
}

const valuesOf = (expr: string, now: readonly Sample[], before: readonly Sample[]): number[] => {
  if (/^parley_\w+$/.test(expr)) return selected(expr, now).map(({ value }) => value)
  const sum = /^\((parley_\w+) \+ (parley_\w+)\) \/ (parley_\w+)$/.exec(expr)
  if (sum) return [(one(sum[1]!, now) + one(sum[2]!, now)) / one(sum[3]!, now)]
  const ratio = /^(parley_\w+) \/ (parley_\w+)$/.exec(expr)
  if (ratio) return [one(ratio[1]!, now) / one(ratio[2]!, now)]
  const increase = /^increase\((parley_\w+(?:\{.*\})?)\[5m\]\)$/.exec(expr)
  if (increase) return grown(increase[1]!, now, before).map(({ value }) => value)
  const quantile = /^histogram_quantile\(([\d.]+), rate\((parley_\w+_bucket)\[5m\]\)\)$/.exec(expr)
  return quantile ? [quantileOf(Number(quantile[1]), grown(quantile[2]!, now, before))] : unknown(expr)
}

const selected = (selector: string, samples: readonly Sample[]): Sample[] => {
  const [, name, label, value] = /^(\w+)(?:\{(\w+)="([^"]*)"\})?$/.exec(selector) ?? unknown(selector)
  return samples.filter((sample) => sample.name === name && (label === undefined || sample.labels[label] === value))
}

const one = (name: string, samples: readonly Sample[]): number => {
  const found = selected(name, samples)
  if (found.length !== 1) throw new Error(`${found.length} samples of ${name}`)
  return found[0]!.value
}

// A series that the earlier scrape does not have has not grown yet, for Prometheus.
const grown = (selector: string, now: readonly Sample[], before: readonly Sample[]): Sample[] =>
  selected(selector, now).flatMap((sample) => {
    const earlier = before.find(({ name, labels }) => name === sample.name && Bun.deepEquals(labels, sample.labels))
    return earlier ? [{ ...sample, value: sample.value - earlier.value }] : []
  })

const quantileOf = (q: number, buckets: Sample[]): number => {
  const rank = q * (buckets.at(-1)?.value ?? 0)
  const at = buckets.findIndex(({ value }) => value >= rank)
  if (rank === 0 || at < 0) return NaN
  const limit = (n: number) => (n < 0 ? 0 : Number(buckets[n]!.labels.le!.replace('+Inf', 'Infinity')))
  if (limit(at) === Infinity) return limit(at - 1)
  const before = buckets[at - 1]?.value ?? 0
  return limit(at - 1) + ((limit(at) - limit(at - 1)) * (rank - before)) / (buckets[at]!.value - before)
}
