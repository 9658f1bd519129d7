// What one instance measures of itself, by the names of the limits, each with its words.
import type { Failing } from '../../core/runtime/failures-in-a-row.ts'
import type { LoopLag } from '../../core/runtime/loop-lag.ts'
import { inBytes } from '../../core/text/numbers.ts'
import type { LimitName } from './alarm-levels.ts'
import type { Recent } from './recent.ts'

export interface Figure {
  /** null: nothing was measured yet. */
  value: number | null
  text: string
}
export type Figures = Partial<Record<LimitName, Figure>>

export interface Measured {
  config: { MAX_WAITS: number; MAX_STREAMS: number }
  waits: { held: number }
  peeks: { held: number }
  streams: { open: number }
  indexer: { readonly lagSeconds: number }
  outages: { failing(): Failing[] }
  failingJobs(): Failing[]
  hearsItself: () => boolean
}

/** The memory of this process, in bytes. */
export const residentBytes = (): number => process.memoryUsage.rss()

/** What a process says of itself from its start. */
export const ofProcess = (lag: LoopLag): Figures => ({
  event_loop: { value: lag.p99Seconds, text: `${inTime(lag.p99Seconds)} for 99 of 100 moments of the last minute` },
  memory: { value: residentBytes(), text: inBytes(residentBytes()) },
})

export const ownFigures = async (measured: Measured, recent: Recent, several: boolean): Promise<Figures> => {
  const { config, waits, peeks, streams, indexer } = measured
  const { p50, p99, wakes, notices, failures } = await recent.now()
  return {
    waits: share(waits.held + peeks.held, config.MAX_WAITS),
    streams: share(streams.open, config.MAX_STREAMS),
    wakes:
      wakes === 0
        ? { value: null, text: 'none in the last minutes' }
        : { value: p99, text: `${inTime(p99)}, half of them ${inTime(p50)}; ${wakes} in the last minutes` },
    index: { value: indexer.lagSeconds, text: indexer.lagSeconds === 0 ? 'up to date' : inTime(indexer.lagSeconds) },
    telling: failing(measured.outages.failing()),
    notices: counted(notices),
    jobs: failing(measured.failingJobs()),
    failures: counted(failures),
    ...(several && { listening: { value: Number(measured.hearsItself()), text: measured.hearsItself() ? 'yes' : 'no' } }),
  }
}

const counted = (count: number): Figure => ({
  value: count,
  text: count === 0 ? 'none in the last minutes' : `${number(count)} in the last minutes`,
})

const failing = (those: Failing[]): Figure => ({
  value: those.length,
  text: those.map(({ name, since }) => `${name} fails since ${minute(since)}`).join(', ') || 'nothing fails',
})

/** `2026-11-28 14:35 UTC` */
const minute = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

const share = (count: number, limit: number): Figure => ({ value: count / limit, text: `${number(count)} of ${number(limit)}` })

const number = (count: number) => count.toLocaleString('en')

/** `3 ms`, `1.2 s`, `5 min` */
export const inTime = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1_000)} ms` : seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`
