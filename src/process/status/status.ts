// How this server is, for its operator: each instance, and what they share, line by line with a level and what to do.
import manifest from '../../../package.json' with { type: 'json' }
import type { Database } from '../../../db/database.ts'
import type { Job } from '../../core/runtime/job.ts'
import { LoopLag } from '../../core/runtime/loop-lag.ts'
import type { Metrics } from '../../core/runtime/metrics.ts'
import { inBytes } from '../../core/text/numbers.ts'
import type { Notifier } from '../../log/notifier.ts'
import { databaseBytes, runnerCounts } from '../../stores/status.ts'
import { inTime, ofProcess, ownFigures, type Figure, type Figures, type Measured } from './figures.ts'
import { Instances, wireOf, type Report } from './instances.ts'
import { levelOf, LIMITS, type Level, type LimitName } from './alarm-levels.ts'
import { Recent } from './recent.ts'

export interface Check {
  name: LimitName
  title: string
  level: Level
  value: string
  /** What to do, unless the level is green. */
  todo?: string
}

export interface InstanceStatus extends Omit<Report, 'figures'> {
  /** It is the one that answers. */
  own: boolean
  checks: Check[]
}

export interface Status {
  /** The worst of all. */
  level: Level
  at: string
  instances: InstanceStatus[]
  shared: Check[]
}

interface StatusParts {
  database: Database
  notifier: Notifier | undefined
  instance: string | undefined
  metrics: Metrics
}

export type StatusWatch = ReturnType<typeof createStatus>

/** Measures from now on. */
export const createStatus = ({ database, notifier, instance = 'embedded', metrics }: StatusParts) => {
  let measured: (() => Measured) | undefined
  const lag = new LoopLag()
  const recent = new Recent(metrics)
  const instances = new Instances(database, notifier)
  const startedAt = new Date().toISOString()
  const answers = createAnswerTimes()
  const own = async (): Promise<Report> => ({
    id: instance,
    version: manifest.version,
    started_at: startedAt,
    figures: { ...ofProcess(lag), ...(measured && (await ownFigures(measured(), recent, notifier !== undefined))) },
  })
  return {
    lag,
    /** From now on `of` is read, too, whenever somebody looks: an instance that is still starting says the rest of itself. */
    measure: (of: () => Measured) => void (measured = of),
    /** For how long the database took to answer last, or has not answered by now: in seconds. */
    databaseSeconds: answers.seconds,
    /** A background call of the database, timed. */
    timed: answers.timed,
    jobs: (): Job[] => [recent.job()],
    receiveReport: (from: string, text: string) => instances.receiveReport(from, text),
    /** Reports how this instance is, to another one that asked. */
    answer: async () => void (await notifier?.report(wireOf(await own()))),
    stop: () => lag.stop(),

    async read(): Promise<Status> {
      const [self, shared, { reports, silent }] = await Promise.all([own(), sharedFigures(database), instances.others()])
      const checks = checksOf({
        ...shared,
        ...(silent !== 0 && { instances: { value: silent ?? null, text: String(silent ?? 'unknown') } }),
      })
      const all = [self, ...reports.toSorted((a, b) => a.id.localeCompare(b.id))].map(({ figures, ...rest }) => ({
        ...rest,
        own: rest.id === self.id,
        checks: checksOf(figures),
      }))
      const level = worst([...checks, ...all.flatMap((one) => one.checks)])
      return { level, at: new Date().toISOString(), instances: all, shared: checks }
    },
  }
}

const createAnswerTimes = () => {
  let last = 0
  let asked: number | undefined
  return {
    seconds: () => Math.max(last, asked === undefined ? 0 : (performance.now() - asked) / 1_000),
    async timed<T>(work: () => Promise<T>): Promise<T> {
      const from = performance.now()
      asked ??= from // since the first that was not answered
      const result = await work()
      last = (performance.now() - from) / 1_000
      asked = undefined
      return result
    },
  }
}

const sharedFigures = async (database: Database): Promise<Figures> => {
  const from = performance.now()
  try {
    const [bytes, runners] = await Promise.all([databaseBytes(database), runnerCounts(database)])
    const seconds = (performance.now() - from) / 1_000
    const engine = database.engine === 'postgres' ? 'Postgres' : 'embedded'
    const lost = `${runners.lost} lost, ${runners.online} online`
    return {
      database: { value: seconds, text: `${engine}, in ${inTime(seconds)}; ${inBytes(bytes)}` },
      ...diskOf(database),
      runners: { value: runners.lost, text: runners.lost + runners.online === 0 ? 'none, and none online' : lost },
    }
  } catch {
    return { database: { value: Infinity, text: 'not at all' }, ...diskOf(database) }
  }
}

const diskOf = ({ freeBytes }: Database): { disk?: Figure } => {
  const free = freeBytes?.()
  return free === undefined ? {} : { disk: { value: free, text: `${inBytes(free)} free` } }
}

const checksOf = (figures: Figures): Check[] =>
  (Object.entries(figures) as [LimitName, Figure][]).flatMap(([name, { value, text }]) => {
    const limit = LIMITS.find((each) => each.name === name)
    if (!limit) return [] // of an instance of another version
    const level = value === null ? 'green' : levelOf(limit, value)
    return { name, title: limit.title, level, value: text, ...(level !== 'green' && { todo: limit.todo }) }
  })

const worst = (checks: Check[]): Level =>
  checks.some(({ level }) => level === 'red') ? 'red' : checks.some(({ level }) => level === 'amber') ? 'amber' : 'green'
