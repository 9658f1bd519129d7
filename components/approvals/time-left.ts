import { clockOrMoment } from '../parts/time.ts'
import type { TimeLeft } from './proposal-view.ts'

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
const SOON_MS = 2 * HOUR_MS

export const timeLeft = (expiresAt: string, now: number): TimeLeft => {
  const ms = Math.max(0, Date.parse(expiresAt) - now)
  const words = `expires ${ms < MINUTE_MS ? 'within a minute' : `in ${wordsOf(ms)}`}`
  return { words, until: clockOrMoment(expiresAt, now), soon: ms < SOON_MS }
}

// Up to two hours in minutes, up to two days in hours.
const wordsOf = (ms: number): string => {
  if (ms < SOON_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`
}
