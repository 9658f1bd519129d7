// Figures of the last five minutes: snapshots of counters that only grow, subtracted.
import type { Job } from '../../core/runtime/job.ts'
import type { Metrics } from '../../core/runtime/metrics.ts'

const EVERY_MS = 15_000
const KEPT = 20 // five minutes

interface Counted {
  /** Wakes that took at most so many seconds, by that limit. */
  wakes: [limit: number, count: number][]
  notices: number
  failures: number
}

export interface RecentFigures {
  p50: number
  p99: number
  wakes: number
  /** Notices that were given up. */
  notices: number
  /** Calls that could not be done. */
  failures: number
}

/** `now` compares with the oldest count that is kept. */
export class Recent {
  #kept: Counted[] = []

  constructor(readonly metrics: Metrics) {}

  job(): Job {
    return {
      name: 'recent-figures',
      everyMs: EVERY_MS,
      run: async () => void (this.#kept = [...this.#kept, await this.#count()].slice(-KEPT)),
    }
  }

  async now(): Promise<RecentFigures> {
    const count = await this.#count()
    const before = this.#kept[0]
    const wakes = count.wakes.map(([limit, n], i): [number, number] => [limit, n - (before?.wakes[i]?.[1] ?? 0)])
    return {
      p50: quantile(wakes, 0.5),
      p99: quantile(wakes, 0.99),
      wakes: wakes.at(-1)?.[1] ?? 0,
      notices: count.notices - (before?.notices ?? 0),
      failures: count.failures - (before?.failures ?? 0),
    }
  }

  async #count(): Promise<Counted> {
    const buckets = (await this.metrics.wakeSeconds.get()).values.filter(({ labels }) => labels.le !== undefined)
    const notices = (await this.metrics.noticesSent.get()).values.filter(({ labels }) => labels.outcome === 'failed')
    const [failed] = (await this.metrics.callsFailed.get()).values
    return {
      wakes: buckets.map(({ labels, value }) => [labels.le === '+Inf' ? Infinity : Number(labels.le), value]),
      notices: notices.reduce((sum, { value }) => sum + value, 0),
      failures: failed!.value,
    }
  }
}

/** As Prometheus' histogram_quantile: within a bucket values are taken to lie evenly. NaN when there are none. */
export const quantile = (buckets: [limit: number, count: number][], q: number): number => {
  const rank = q * (buckets.at(-1)?.[1] ?? 0)
  const at = buckets.findIndex(([, count]) => count >= rank)
  if (rank === 0 || at < 0) return NaN
  const [limit, count] = buckets[at]!
  const [below, before] = buckets[at - 1] ?? [0, 0]
  return limit === Infinity ? below : below + ((limit - below) * (rank - before)) / (count - before)
}
