// The rules for Prometheus' alerts, made from the table of limits.
import { LIMITS, type Limit } from './alarm-levels.ts'

const GONE = {
  name: 'ParleyGone',
  expr: 'absent(parley_resident_bytes)',
  minutes: 2,
  severity: 'critical',
  summary: 'No Parley is scraped.',
  todo: 'Check that it runs, that Prometheus reaches it, and that its token or key is good.',
}

export interface Rule {
  name: string
  expr: string
  minutes: number
  severity: string
  summary: string
  todo: string
}

const rulesOf = ({ title, amber, red, worse, todo, alert }: Limit): Rule[] =>
  (
    [
      ['warning', amber],
      ['critical', red],
    ] as const
  ).flatMap(([severity, limit]) => {
    if (!alert || limit === undefined) return []
    const expr = `${alert.expr} ${worse === 'more' ? '>=' : '<='} ${limit}`
    return { ...alert, expr, severity, summary: `${title}: {{ $value }}, at {{ $labels.instance }}`, todo }
  })

/** Every rule: one for each level of each limit that has a metric. */
export const RULES: readonly Rule[] = [GONE, ...LIMITS.flatMap(rulesOf)]

/** The rules as a file that Prometheus loads (`rule_files`). Its strings are JSON, which YAML contains. */
export const alertRules = (): string => {
  const lines = RULES.flatMap(({ name, expr, minutes, severity, summary, todo }) => [
    `      - alert: ${name}`,
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${minutes}m`,
    `        labels: { severity: ${severity} }`,
    `        annotations: { summary: ${JSON.stringify(summary)}, description: ${JSON.stringify(todo)} }`,
  ])
  return ['groups:', '  - name: parley', '    rules:', ...lines, ''].join('\n')
}
