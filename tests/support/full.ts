/** The long form of the tests: `bun run test:faults`, before a release. It repeats many times what the short form, `bun run test`, does a few
 *  times; it looks at each page in each way where the short form looks in one; and it alone has the tests marked `skipIf(!FULL)`, which are of
 *  what goes wrong around a feature or takes long to come about. What a feature is for, who may do what, and of each row of PROMISES.md a test
 *  is in both. */
export const FULL = process.env.FULL === '1'

/** Of a list of cases the first few; all of them in the long form. */
export const shortOf = <Case>(cases: readonly Case[], few: number): Case[] => (FULL ? [...cases] : cases.slice(0, few))

/** For fast-check: the short form draws the same inputs each time, so that a commit passes or fails whenever it is tried; the long form draws
 *  others each time. */
export const DRAWN = FULL ? {} : { seed: 7_423 }
