// Leases and what is told again after a while, by the database's clock, which may be set while they run.

const AHEAD_S = 5 // a clock that is corrected by less is let pass

/** A condition: so many seconds have passed since `at`, a column of times that were "now" once. One that is still to come was written before
 *  the clock was set back: how long ago nobody knows, so it has passed, rather than hold until the clock is there again. */
export const elapsed = (at: string, seconds: number): string =>
  `(${at} not between clock_timestamp() - interval '${seconds} s' and clock_timestamp() + interval '${AHEAD_S} s')`
