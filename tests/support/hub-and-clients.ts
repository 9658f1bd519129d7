// What tests of the program `parley` begin with: a hub, homes that are connected to it or not, and clients in them. All ends with the test.
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import { buildPublic } from './built.ts'
import { newHome, type Home } from './client.ts'
import { fakeClient, type FakeClient } from './fake-client.ts'
import { callsTo } from './hub.ts'
import { serveSite } from './site.ts'

const START_MS = 180_000

export type ServedHub = Awaited<ReturnType<typeof serveHub>>

/** A hub in this process; once it has stopped, nothing listens at its address. */
const serveHub = async (env: Record<string, string>) => {
  const { url, stop } = await serveSite(env)
  let stopped: Promise<void> | undefined
  return { ...callsTo(url, env.ACCESS_TOKEN), url, link: `${url}/mcp`, stop: () => (stopped ??= stop()) }
}

/** One hub for all tests of a file, and an empty home for each. Both are there when a test runs. `env`: the hub's variables. */
export const withHub = (env: Record<string, string> = {}) => {
  const [hub, home] = [{} as ServedHub, {} as Home]
  const clients: FakeClient[] = []
  beforeAll(async () => {
    buildPublic()
    Object.assign(hub, await serveHub(env))
  }, START_MS)
  afterAll(() => hub.stop?.())
  beforeEach(() => void Object.assign(home, newHome(hub.link)))
  afterEach(() => {
    for (const client of clients.splice(0)) client.kill()
    home.drop()
  })
  /** A client in the test's home. `link`: where it finds the hub. */
  const client = ({ link = hub.link, ...options }: Parameters<typeof fakeClient>[2] & { link?: string } = {}): FakeClient => {
    const made = fakeClient(home, link, options)
    clients.push(made)
    return made
  }
  return { hub, home, client }
}

/** For tests that start, stop and move hubs of their own. */
export const withHubsOfTheirOwn = () => {
  const ending: (() => unknown)[] = []
  beforeAll(buildPublic, START_MS)
  afterEach(async () => {
    for (const end of ending.splice(0).toReversed()) await end()
  }, START_MS)
  const endingWith = <Made>(made: Made, end: () => unknown): Made => {
    ending.push(end)
    return made
  }
  return {
    /** Something else that ends with the test. */
    atTheEnd: (end: () => unknown): void => void ending.push(end),
    homeOf: (link: string): Home => {
      const home = newHome(link)
      return endingWith(home, home.drop)
    },
    clientOf: (home: Home, link: string): FakeClient => {
      const client = fakeClient(home, link)
      return endingWith(client, client.kill)
    },
    hubWith: async (env: Record<string, string> = {}): Promise<ServedHub> => {
      const hub = await serveHub(env)
      return endingWith(hub, hub.stop)
    },
  }
}
