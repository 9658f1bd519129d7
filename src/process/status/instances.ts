// How the other instances are: each is asked over the database's notifications when somebody looks, and nothing is sent or kept otherwise.
import { z } from 'zod'
import type { Database } from '../../../db/database.ts'
import { pause } from '../../core/runtime/pause.ts'
import type { Notifier } from '../../log/notifier.ts'
import type { Figures } from './figures.ts'

const ANSWERED_WITHIN_MS = 1_000
const CHECK_EVERY_MS = 20

export interface Report {
  id: string
  version: string
  started_at: string
  figures: Figures
}

export interface Others {
  reports: Report[]
  /** How many listen on the database beside, and did not answer; undefined when the database does not say who listens. */
  silent: number | undefined
}

/** The reports of the other instances. */
export class Instances {
  #reports = new Map<string, { report: Report; at: number }>()
  #asking: Promise<Others> | undefined

  constructor(
    readonly database: Database,
    readonly notifier: Notifier | undefined,
  ) {}

  /** Takes the report of another instance. One that cannot be read is ignored. */
  receiveReport(from: string, text: string) {
    const report = reportIn(text)
    if (report) this.#reports.set(from, { report: { id: from, ...report }, at: performance.now() })
  }

  /** Asks all, and waits a second at most for as many answers as there are listeners. Who looks meanwhile gets the same. */
  others(): Promise<Others> {
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)))
  }

  async #ask(): Promise<Others> {
    if (!this.notifier || !this.database.listeners) return { reports: [], silent: 0 }
    const listeners = await this.database.listeners().catch(() => undefined) // why it fails stands in the line of the database
    if (listeners === undefined) return { reports: [], silent: undefined }
    if (listeners <= 1) return { reports: [], silent: 0 }
    const from = performance.now()
    await this.notifier.ask()
    const fresh = () => [...this.#reports.values()].filter(({ at }) => at >= from).map(({ report }) => report)
    while (fresh().length < listeners - 1 && performance.now() - from < ANSWERED_WITHIN_MS) await pause(CHECK_EVERY_MS)
    const reports = fresh()
    this.#reports.clear()
    return { reports, silent: Math.max(0, listeners - 1 - reports.length) }
  }
}

// An instance of another version may report figures that this one does not know.
const figures = z.record(z.string(), z.object({ value: z.number().nullable(), text: z.string() }))
const wireReport = z.object({ version: z.string(), started_at: z.iso.datetime(), figures, more: figures.optional() })

/** A report as it is sent. An instance that was started before `telling` and `jobs` were figures has no status where it meets one that it does
 *  not know: these are beside the others. */
export const wireOf = ({ figures: { telling, jobs, ...rest }, ...report }: Report): string =>
  JSON.stringify({ ...report, figures: rest, more: { telling, jobs } })

const reportIn = (text: string): Omit<Report, 'id'> | undefined => {
  try {
    const { more, ...report } = wireReport.parse(JSON.parse(text))
    return { ...report, figures: { ...report.figures, ...more } }
  } catch {
    return undefined
  }
}
