/** The long form of tests that repeat something many times, or with many settings: `bun run test:faults`, before a release. */
export const FULL = process.env.FULL === '1'

/** Of a list of cases the first few; all of them in the long form. */
export const shortOf = <Case>(cases: readonly Case[], few: number): Case[] => (FULL ? [...cases] : cases.slice(0, few))

/** For fast-check: the short form draws the same inputs each time, so that a commit passes or fails whenever it is tried; the long form draws
 *  others each time. */
export const DRAWN = FULL ? {} : { seed: 7_423 }
