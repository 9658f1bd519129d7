// What the operator sees at /metrics, over prom-client. Its classes are imported one by one: its index loads node:cluster, node:http, node:v8
// and more, which an edge runtime may lack; these need node:util alone.
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** The counters, gauges and histograms of one process. Names begin with `parley_`; durations are in seconds. */
export class Metrics {
  #registry = new Registry() // not prom-client's global one: tests run several instances in one process

  readonly calls = new Counter({
    name: 'parley_calls_total',
    help: 'Calls of operations through any door, by outcome: ok or the code of the error',
    labelNames: ['operation', 'outcome'],
    registers: [this.#registry],
  })
  readonly callsFailed = this.#counter(
    'parley_calls_failed_total',
    'Calls that could not be done: the database was away, full or too slow (unavailable), or this server failed (internal_error)',
  )
  readonly eventsAppended = this.#counter('parley_events_appended_total', 'Events that this process committed to session logs')
  readonly noticesSent = new Counter({
    name: 'parley_notices_total',
    help: 'Notices to people, by way (notify_url or push) and outcome: ok, failed after the last try, or gone: that browser is forgotten',
    labelNames: ['way', 'outcome'],
    registers: [this.#registry],
  })
  readonly viewersCut = this.#counter('parley_viewers_cut_total', 'Live pages disconnected because they read too slowly')
  readonly wakes = new Counter({
    name: 'parley_wakes_total',
    help: 'Teams that slept when a message came, by outcome: allowed (it woke them) or refused (WAKES_PER_HOUR was used up)',
    labelNames: ['outcome'],
    registers: [this.#registry],
  })
  readonly wakeSeconds = this.#histogram(
    'parley_wake_seconds',
    'Held waits and peeks that an event ended: from when this process committed the event, or was notified of it, to the complete answer, without the time to send it',
  )
  readonly postSeconds = this.#histogram(
    'parley_post_seconds',
    'Posts: from joining the queue of the group commit to the outcome, refusals by the database included',
  )
  readonly searchSeconds = this.#histogram(
    'parley_search_seconds',
    'search_sessions: the search itself, from checked arguments to results, failures included',
  )

  constructor() {
    // a sample from the beginning, so that a rate has its first
    for (const outcome of ['allowed', 'refused']) this.wakes.inc({ outcome }, 0)
    for (const way of ['notify_url', 'push']) this.noticesSent.inc({ way, outcome: 'failed' }, 0)
  }

  /** `read` is called whenever somebody asks for /metrics. */
  gauge(name: string, help: string, read: () => number) {
    this.#registry.removeSingleMetric(name) // a second app over the same services registers its own
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read())
      },
    })
    this.#registry.registerMetric(gauge)
  }

  /** All of them in Prometheus' text format. */
  text = (): Promise<string> => this.#registry.metrics()
  readonly contentType = this.#registry.contentType

  #counter(name: string, help: string) {
    return new Counter({ name, help, registers: [this.#registry] })
  }

  #histogram(name: string, help: string) {
    return new Histogram({ name, help, buckets: BUCKETS_S, registers: [this.#registry] })
  }
}

/** For a histogram: the seconds since `at`, a time by performance.now(). */
export const secondsSince = (at: number): number => (performance.now() - at) / 1_000
