// Times as people read them. The server does not know the reader's time zone: all are UTC, and say so where they stand alone.

/** `12s`, `41m`, `3h`, `2d`: how long ago. */
export const ago = (at: string, nowMs: number): string => {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

/** The same, in steps of ten seconds below a minute, so that a live page changes less often. */
export const agoRoughly = (at: string, nowMs: number): string => {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(at)) / 1000))
  return ago(at, seconds < 10 || seconds >= 60 ? nowMs : nowMs - (seconds % 10) * 1000)
}

const NOW_MS = 10_000

/** `just now`, `20s ago`, `41m ago`: the same as words. */
export const agoInWords = (at: string, nowMs: number): string =>
  nowMs - Date.parse(at) < NOW_MS ? 'just now' : `${agoRoughly(at, nowMs)} ago`

/** `14:35` */
export const clock = (at: string): string => at.slice(11, 16)

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/** `21 November 2026` */
export const day = (at: string): string => DAY.format(Date.parse(at))

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** `21 Nov 2026` */
export const shortDay = (at: string): string => SHORT_DAY.format(Date.parse(at))

/** `21 November 2026, 14:35 UTC` */
export const moment = (at: string): string => `${day(at)}, ${clock(at)} UTC`

const isOfDay = (at: string, nowMs: number): boolean => at.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10)

/** `14:35 UTC` of today, and `21 November 2026, 14:35 UTC` of another day. */
export const clockOrMoment = (at: string, nowMs: number): string => (isOfDay(at, nowMs) ? `${clock(at)} UTC` : moment(at))

/** `14:35 UTC` of today, and `21 Nov 2026` of another day. */
export const clockOrDay = (at: string, nowMs: number): string => (isOfDay(at, nowMs) ? `${clock(at)} UTC` : shortDay(at))

/** `1 March 2027`: when something is due; with the time, if it is more than a day. */
export const dueAt = (at: string): string => {
  const exact = new Date(at).toISOString()
  return clock(exact) === '00:00' ? day(exact) : moment(exact)
}
