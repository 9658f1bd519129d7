// A file of tests about the runner: the program is built once, each test has a hub and a site of its own, and all is ended after it.
import { afterAll, afterEach, beforeAll } from 'bun:test'
import { buildRunner, newSite, type Site } from './runner.ts'
import { startRunnerHub, type RunnerHub } from './runner-hub.ts'

export const LONG_MS = 180_000

/** `scene` makes a hub and a site; what is pushed to `ending` is called after the test. `running` is a hub and a site with a runner that all
 *  tests of the file share which leave those as they are. */
export const withRunners = () => {
  const ending: (() => unknown)[] = []
  let program = ''
  beforeAll(async () => void (program = await buildRunner()), 180_000)
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end()
  }, LONG_MS)
  const scene = async (config?: Record<string, unknown>, name?: string): Promise<{ hub: RunnerHub; site: Site }> => {
    const hub = await startRunnerHub(config)
    const site = newSite(program, name)
    ending.push(hub.end, site.drop)
    return { hub, site }
  }
  let shared: ReturnType<typeof startShared> | undefined
  const running = () => (shared ??= startShared())
  const startShared = async () => {
    const [hub, site] = [await startRunnerHub(), newSite(program)]
    return { hub, site, runner: await site.start(hub) }
  }
  afterAll(async () => {
    const made = await shared
    await made?.site.drop()
    await made?.hub.end()
  })
  return { scene, ending, running }
}

/** What the scripted agent is to do, as a prompt. */
export const steps = (...all: object[]) => JSON.stringify(all)
