// Reads Prometheus' text format, as strictly as a scraper may.
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?\d[\d.e+-]*|[+-]Inf|NaN)$/
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/
const PLAIN: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

/** Every sample. Throws for a line that is none, and for one whose metric no TYPE line before it declares. */
export const samplesOf = (text: string): Sample[] => {
  const types = new Map<string, string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue
    const [, declared, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (declared && type) {
      if (types.has(declared)) throw new Error(`${declared} is declared twice`)
      types.set(declared, type)
      continue
    }
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (!name) throw new Error(`no sample: ${line}`)
    const ofHistogram = types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram'
    if (!ofHistogram && !['counter', 'gauge'].includes(types.get(name)!)) throw new Error(`${name} has no TYPE`)
    samples.push({ name, labels: labelsOf(labels), value: Number(value!.replace('Inf', 'Infinity')) })
  }
  return samples
}

const labelsOf = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== '';) {
    const [whole, name, value] = LABEL.exec(rest) ?? []
    if (!whole) throw new Error(`no labels: ${text}`)
    labels[name!] = value!.replace(/\\["\\n]/g, (escaped) => PLAIN[escaped]!)
    rest = rest.slice(whole.length)
  }
  return labels
}

/** One figure, by its name with its labels as they are written. */
export const figureIn = (text: string, name: string): number => {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  if (line === undefined) throw new Error(`no ${name} in /metrics`)
  return Number(line.slice(name.length + 1))
}
