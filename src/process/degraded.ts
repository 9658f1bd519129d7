// Logs each degraded mode once when it begins (where /status turns amber) and once when it ends. Two others are logged where they are
// noticed: lost notifications in log/notifier.ts, and a database that is away by the background jobs that fail (core/runtime/repeat.ts).
import { SPARE_BYTES } from '../../db/database.ts'
import type { Job } from '../core/runtime/job.ts'
import type { Log } from '../core/runtime/log.ts'
import { limitOf } from './status/alarm-levels.ts'

const EVERY_MS = 5_000
const INDEX_LAGS_S = limitOf('index').amber!
const LITTLE_DISK = limitOf('disk').amber!
const HAS_ROOM = 0.8 // share of a limit below which its mode ends: less than where it begins, or a count around that would fill the log
const MIB = 1024 ** 2

interface Watched {
  log: Log
  config: { MAX_WAITS: number; MAX_STREAMS: number }
  waits: { held: number }
  peeks: { held: number }
  streams: { open: number }
  indexer: { readonly lagSeconds: number }
  database: { freeBytes?(): number | undefined }
}

interface Mode {
  begins(): boolean
  ends(): boolean
  beginning: string
  ending: string
  figures(): Record<string, number>
}

/** Compares the process with its limits again and again. */
export const degradedModesJob = ({ log, config, waits, peeks, streams, indexer, database }: Watched): Job => {
  const freeBytes = () => database.freeBytes?.() ?? Infinity
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
    {
      begins: () => freeBytes() <= LITTLE_DISK,
      ends: () => freeBytes() > LITTLE_DISK / HAS_ROOM,
      beginning: `The disk of DATA_DIR has ${LITTLE_DISK / MIB} MiB left or less. Below ${SPARE_BYTES / MIB} MiB nothing is written.`,
      ending: 'The disk of DATA_DIR has room again.',
      figures: () => ({ free_mib: Math.floor(freeBytes() / MIB) }),
    },
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
