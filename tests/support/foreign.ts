// PARLEY_URL=http://… runs the conformance tests against a server that runs elsewhere (on RATE_LIMIT=0, else with its defaults). A test that
// speaks only through doors runs as it is; one that reaches for what only a server in this process has is skipped. Bun cannot skip a test
// that has begun: it counts such a one as passed, so a line after each part says how many ran, and how many did not and why.
import { afterAll, afterEach as bunAfterEach, beforeAll as bunBeforeAll, test as bunTest } from 'bun:test'

/** The server that runs elsewhere; undefined when the tests start their own. */
export const foreignUrl = process.env.PARLEY_URL?.replace(/\/$/, '')

let missing: string | undefined // what the running test asked for and a foreign server does not have
const missingInScope: string[] = [] // what a beforeAll of a describe around it asked for
let ran = 0
const skipped = new Map<string, number>() // by reason

/** Ends the test that asks for this, as skipped. */
export const onlyInProcess = (what: string): never => {
  missing ??= what
  throw new Error(`The server at ${foreignUrl} runs elsewhere: it has no ${what} for a test.`)
}

const attempt = async (work: () => unknown): Promise<string | undefined> => {
  missing = undefined
  try {
    await work()
  } catch (error) {
    if (missing === undefined) throw error
  }
  return missing
}

type Body = (...args: any[]) => unknown

const runOrSkip =
  (body: Body) =>
  async (...args: unknown[]) => {
    const reason = missingInScope.at(-1) ?? (await attempt(() => body(...args)))
    if (reason === undefined) ran++
    else skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  }

const foreignTest = Object.assign((name: string, body: Body, options?: any) => bunTest(name, runOrSkip(body), options), {
  each: (rows: any) => (name: string, body: Body, options?: any) => (bunTest.each as any)(rows)(name, runOrSkip(body), options),
})

/** Bun's `test`. Against a foreign server it skips a test that needs a server in this process. */
export const test = (foreignUrl === undefined ? bunTest : foreignTest) as typeof bunTest

export const beforeAll: typeof bunBeforeAll =
  foreignUrl === undefined
    ? bunBeforeAll
    : (work, options) => {
        let failed = false
        bunBeforeAll(async () => {
          const reason = await attempt(work as Body)
          if (reason !== undefined) failed = missingInScope.push(reason) > 0
        }, options)
        afterAll(() => void (failed && missingInScope.pop()))
      }

export const afterEach: typeof bunAfterEach =
  foreignUrl === undefined
    ? bunAfterEach
    : (work, options) => bunAfterEach(async () => void (missingInScope.length === 0 && (await attempt(work as Body))), options)

/** How many tests ran and how many were skipped so far, in one line. */
export const foreignSummary = (): string => {
  const all = [...skipped.values()].reduce((sum, count) => sum + count, 0)
  const reasons = [...skipped].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `${count} need ${reason}`)
  return `Against ${foreignUrl} so far: ${ran} tests ran, ${all} were skipped${all > 0 ? ` (${reasons.join(', ')})` : ''}.`
}
