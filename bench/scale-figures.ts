// The figures of bench/scale.ts: what an agent and a post cost, from what was used before and after.
import type { Report } from './scale-agents.ts'
import { percentile, row } from './support.ts'

export const AIM_MS = 150 // for the p99 of wakes

export interface Phase {
  agents: number
  rate: number
  seconds: number
}

export interface Used {
  at: number // seconds
  servers: number // seconds of processor time, both together
  postgres: number
  loaders: number
  statements: number
  resident: number[] // bytes, of each server
}

export interface Measured {
  agents: number
  empty: Used // no wait is held
  held: Used // all are
  idle: Used // all have been, for IDLE_S
  before: Used
  after: Used
  report: Report
}

/** What an agent and a post cost: times in microseconds of processor time. */
export const figuresOf = ({ agents, empty, held, idle, before, after, report }: Measured) => {
  const idleSeconds = idle.at - held.at
  const seconds = after.at - before.at
  const perSecond = (of: (used: Used) => number) => (of(idle) - of(held)) / idleSeconds
  const perPost = (of: (used: Used) => number) => (of(after) - of(before) - perSecond(of) * seconds) / report.posted
  const residentOf = ({ resident }: Used) => resident.reduce((sum, bytes) => sum + bytes, 0)
  return {
    bytes: (residentOf(idle) - residentOf(empty)) / agents,
    resident: after.resident,
    agentCpu: (perSecond(({ servers }) => servers) / agents) * 1e6,
    idleStatements: perSecond(({ statements }) => statements),
    postCpu: perPost(({ servers }) => servers) * 1e6,
    postPostgresCpu: perPost(({ postgres }) => postgres) * 1e6,
    statements: perPost(({ statements }) => statements),
  }
}

type Figures = ReturnType<typeof figuresOf>

const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(0)} MiB`
export const wakes = (took: number[]) => {
  const worst = took.reduce((most, ms) => Math.max(most, ms), 0)
  return `${[0.5, 0.95, 0.99].map((part) => `p${part * 100} ${percentile(took, part).toFixed(1)}`).join('  ')}  max ${worst.toFixed(0)} ms`
}
export const faults = ({ lost, disordered, refused, brokenWaits }: Report) =>
  `lost ${lost}, out of order ${disordered}, refused ${refused}, waits that broke ${brokenWaits}`

/** What each part used of one processor, in percent. */
export const parts = (from: Used, to: Used) => {
  const share = (of: (used: Used) => number) => `${((100 * (of(to) - of(from))) / (to.at - from.at)).toFixed(0)} %`
  return `servers ${share(({ servers }) => servers)}, Postgres ${share(({ postgres }) => postgres)}, loaders ${share(({ loaders }) => loaders)} of a processor`
}

export const printFigures = (figures: Figures, report: Report, used: string) => {
  row('  memory for each agent', `${(figures.bytes / 1024).toFixed(1)} KiB; ${figures.resident.map(mib).join(' and ')} in all`)
  row('  an idle agent', `${figures.agentCpu.toFixed(1)} µs of a server’s processor a second`)
  row('  statements while all are idle', `${figures.idleStatements.toFixed(1)} a second`)
  row('  a post', `${figures.postCpu.toFixed(0)} µs of the servers, ${figures.postPostgresCpu.toFixed(0)} µs of Postgres`)
  row('  statements for each post', figures.statements.toFixed(2))
  row('  wakes, all', `${wakes([...report.here, ...report.there])}  (aim: p99 ${AIM_MS})`)
  row('  wakes, at the instance that took the post', wakes(report.here))
  row('  wakes, at the other', wakes(report.there))
  row('  of all deliveries', `${report.here.length + report.there.length} of ${report.posted} posts: ${faults(report)}  (aim: 0)`)
  row('  meanwhile', `${used}; the loader sent p99 ${report.lagMs.toFixed(1)} ms late`)
}

export const HEAD = `| agents | posts/s, s | KiB for each | idle, µs/s for each | statements/s idle | servers, µs/post | Postgres, µs/post | statements/post | wake p50, p99, max, ms | lost |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |`

export const lineOf = ({ agents, rate, seconds }: Phase, figures: Figures, { here, there, lost, disordered }: Report) => {
  const all = [...here, ...there]
  const took = [0.5, 0.99, 1].map((part) => percentile(all, part).toFixed(1)).join(', ')
  const cells = [
    agents,
    `${rate}, ${seconds}`,
    (figures.bytes / 1024).toFixed(1),
    figures.agentCpu.toFixed(1),
    figures.idleStatements.toFixed(1),
  ]
  const posts = [figures.postCpu.toFixed(0), figures.postPostgresCpu.toFixed(0), figures.statements.toFixed(2), took, lost + disordered]
  return `| ${[...cells, ...posts].join(' | ')} |`
}
