/** Counters and gauges in Prometheus' text format. Names get the prefix `parley_`. */
export class Metrics {
  #counters = new Map<string, Map<string, number>>()
  #gauges: { name: string; help: string; read: () => number }[] = []

  /** `labels` as Prometheus writes them: `operation="post_message",outcome="ok"`. */
  add(name: string, by = 1, labels = '') {
    let series = this.#counters.get(name)
    if (!series) this.#counters.set(name, (series = new Map()))
    series.set(labels, (series.get(labels) ?? 0) + by)
  }

  /** `read` is called whenever somebody looks. */
  gauge(name: string, help: string, read: () => number) {
    this.#gauges.push({ name, help, read })
  }

  text(): string {
    const lines: string[] = []
    for (const [name, series] of this.#counters) {
      lines.push(`# TYPE parley_${name}_total counter`)
      for (const [labels, value] of series) lines.push(`parley_${name}_total${labels && `{${labels}}`} ${value}`)
    }
    for (const { name, help, read } of this.#gauges)
      lines.push(`# HELP parley_${name} ${help}`, `# TYPE parley_${name} gauge`, `parley_${name} ${read()}`)
    return `${lines.join('\n')}\n`
  }
}
