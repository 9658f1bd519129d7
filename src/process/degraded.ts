// Logs each degraded mode once when it begins (where /status turns amber) and once when it ends. Two others are logged where they are
// noticed: lost notifications in log/notifier.ts, and a database that is away by the background jobs that fail (core/runtime/repeat.ts).
import type { Job } from '../core/runtime/job.ts'
import type { Log } from '../core/runtime/log.ts'
import { limitOf } from './status/alarm-levels.ts'

const EVERY_MS = 5_000
const INDEX_LAGS_S = limitOf('index').amber!
const HAS_ROOM = 0.8 // share of a limit below which its mode ends: less than where it begins, or a count around that would fill the log

interface Watched {
  log: Log
  config: { MAX_WAITS: number; MAX_STREAMS: number }
  waits: { held: number }
  peeks: { held: number }
  streams: { open: number }
  indexer: { readonly lagSeconds: number }
}

interface Mode {
  begins(): boolean
  ends(): boolean
  beginning: string
  ending: string
  figures(): Record<string, number>
}

/** Compares the process with its limits again and again. */
export const degradedModesJob = ({ log, config, waits, peeks, streams, indexer }: Watched): Job => {
  const modes: Mode[] = [
    {
      begins: () => indexer.lagSeconds > INDEX_LAGS_S,
      ends: () => indexer.lagSeconds <= INDEX_LAGS_S,
      beginning: `The search index is more than ${INDEX_LAGS_S} s behind: searches do not find what was written since.`,
      ending: 'The search index has caught up.',
      figures: () => ({ lag_seconds: Math.round(indexer.lagSeconds) }),
    },
    nearlyFull('waits', 'MAX_WAITS', config.MAX_WAITS, () => waits.held + peeks.held),
    nearlyFull('streams', 'MAX_STREAMS', config.MAX_STREAMS, () => streams.open),
  ]
  const active = new Set<Mode>()
  const run = () => {
    for (const mode of modes) {
      if (!active.has(mode) && mode.begins()) {
        active.add(mode)
        log('warn', mode.beginning, mode.figures())
      } else if (active.has(mode) && mode.ends()) {
        active.delete(mode)
        log('info', mode.ending, mode.figures())
      }
    }
  }
  return { name: 'degraded', everyMs: EVERY_MS, run }
}

const nearlyFull = (name: 'waits' | 'streams', variable: string, limit: number, count: () => number): Mode => ({
  begins: () => count() >= limitOf(name).amber! * limit,
  ends: () => count() < HAS_ROOM * limit,
  beginning: `The open ${name} have reached ${limitOf(name).amber! * 100} % of ${variable}. At the limit, more are refused.`,
  ending: `The open ${name} are below ${HAS_ROOM * 100} % of ${variable} again.`,
  figures: () => ({ [name]: count(), limit }),
})
