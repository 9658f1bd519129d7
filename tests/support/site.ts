// A whole Parley behind a port of its own, with its pages, for tests in a real browser.
import { afterAll, beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright'
import type { Database } from '../../db/database.ts'
import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/core/runtime/log.ts'
import { readClientProgram } from '../../src/doors/rest/client-package.ts'
import { createServices, type Options } from '../../src/process/services.ts'
import { findChromium, launchArgs } from './browser.ts'
import { buildPublic } from './built.ts'
import { embeddedDatabase } from './pglite.ts'

export const KEY = 'operator-key-of-the-test'
export const MOBILE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

const ROOT = join(import.meta.dir, '../..')

/** Reads a file of public/, as the server does. */
export const asset = async (path: string) => {
  const file = Bun.file(join(ROOT, 'public', path))
  return (await file.exists()) ? new Response(file) : undefined
}

type SiteOptions = Options & { database?: Database }

export type Site = Awaited<ReturnType<typeof serveSite>>

/** On a new embedded database unless another is given. */
export const serveSite = async (environment: Record<string, string> = {}, { database: given, ...options }: SiteOptions = {}) => {
  const database = given ?? (await embeddedDatabase())
  const services = await createServices(
    database,
    readConfig({ OPERATOR_KEY: KEY, ...environment }),
    createLog('silent', () => {}, false),
    options,
  )
  const app = await createApp(services, { asset, program: await readClientProgram(asset) })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0, // no connection is closed just when a fetch uses it again
    fetch: (request, bun) =>
      app.fetch(request, {
        get address() {
          return bun.requestIP(request)?.address ?? 'unknown'
        },
        untimed: () => bun.timeout(request, 0),
        patient: () => bun.timeout(request, 120),
      }),
  })
  const url = `http://127.0.0.1:${server.port}`
  const post = async (path: string, body: unknown, team?: string) => {
    const headers = { 'content-type': 'application/json', ...(team && { 'x-team-id': team }) }
    const response = await fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(200)
    return (await response.json()) as Record<string, string>
  }
  const stop = async () => {
    services.drain()
    await server.stop(true)
    await services.close()
  }
  return { url, port: server.port!, post, stop, services }
}

/** Builds what browsers load, and starts one: the one that is found unless another is given. */
export const startBrowser = async (moreArgs: string[] = [], executable?: string): Promise<Browser> => {
  buildPublic()
  return chromium.launch({ executablePath: executable ?? (await findChromium()), args: [...launchArgs, ...moreArgs] })
}

// One for all files of a process: each test has a context of its own. It ends when the pipe to it closes, however the process ends.
let shared: Promise<Browser> | undefined
const sharedBrowser = async (): Promise<Browser> => {
  if (!(await shared)?.isConnected()) shared = startBrowser()
  return shared!
}

type ContextOptions = Parameters<Browser['newContext']>[0]
type Work<T> = (page: Page, complaints: string[], context: BrowserContext) => Promise<T>

/** The browser, and a Parley for the tests of a file. `parley` is there when the file's own `beforeAll` runs. */
export const withSite = (environment: Record<string, string> = {}) => {
  const parley = {} as Site
  let browser: Browser
  let signedIn: Promise<string> | undefined
  beforeAll(async () => {
    browser = await sharedBrowser()
    Object.assign(parley, await serveSite(environment))
  }, 120_000)
  afterAll(() => parley.stop?.())
  const using = (options: ContextOptions, work: Work<void>, { url } = parley) => usingPage(browser, url, options, work)
  /** Robin's cookie, as a header has it. Signed in once: ten tries a minute are granted. */
  const robin = () => (signedIn ??= signIn(parley.url))
  const asRobin = async (page: Page, path?: string) => {
    const [name = '', value = ''] = (await robin()).split('=')
    await page.context().addCookies([{ name, value, url: parley.url }])
    if (path !== undefined) await page.goto(path)
  }
  return { parley, using, robin, asRobin }
}

const signIn = async (url: string): Promise<string> => {
  const body = new URLSearchParams({ key: KEY, name: 'Robin' })
  const response = await fetch(`${url}/sign-in`, { method: 'POST', redirect: 'manual', body })
  return response.headers.getSetCookie()[0]!.split(';')[0]!
}

/** Opens a browser context of its own, and collects what goes wrong in its page. Nothing moves in it unless the test asks for that: drawn
 *  without a graphics card, the dots of active teams take a twentieth of a processor on each open page. */
export const usingPage = async <T>(browser: Browser, baseURL: string, options: ContextOptions, work: Work<T>): Promise<T> => {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options })
  try {
    context.on('page', seenWhole)
    const page = await context.newPage()
    return await work(page, complaintsOf(page), context)
  } finally {
    await context.close()
  }
}

// A click, or a key on an element, waits until the page that it leads to begins, not until it is whole: what is counted or read at once would
// miss a part of it. Whatever else leads to a page (a tap, the keyboard, a box) does not wait at all: a test says what it waits for.
const ACTIONS = ['click', 'press']

const seenWhole = (page: Page) => {
  const whole = () => page.waitForLoadState()
  waitAfter(page, ACTIONS, whole)
  waitAfter(Object.getPrototypeOf(page.locator('html')), ACTIONS, (locator: Locator) => locator.page().waitForLoadState())
}

const waiting = new WeakSet<object>()

const waitAfter = (subject: any, names: string[], wait: (self: any) => Promise<void>) => {
  if (waiting.has(subject)) return // all locators have one prototype
  waiting.add(subject)
  for (const name of names.filter((each) => each in subject)) {
    const act = subject[name]
    subject[name] = async function (...given: unknown[]) {
      const result = await act.apply(this, given)
      await wait(this)
      return result
    }
  }
}

/** Opens a page, and waits until its stream is there. */
export const openLive = async (page: Page, path: string): Promise<void> => {
  const stream = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/live'))
  await page.goto(path)
  await stream
}

/** Adds up how far the layout of each page that is opened from now on shifts. */
export const observeShifts = (page: Page) =>
  page.addInitScript(() => {
    const found = { shift: 0 }
    Object.assign(window, { found })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) found.shift += (entry as unknown as { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
  })

/** The shift of the page as it is, or the least of three visits where it shifted: on a busy machine the font may come after the first paint. */
export const leastShift = async (page: Page): Promise<number> => {
  const shift = () => page.evaluate<number>('found.shift')
  let least = await shift()
  for (let tries = 0; tries < 2 && least > 0; tries++) {
    await page.reload()
    await page.waitForTimeout(1_000)
    least = Math.min(least, await shift())
  }
  return least
}

const complaintsOf = (page: Page): string[] => {
  const complaints: string[] = []
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => void complaints.push(`dialog: ${dialog.message()}`))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${reason}: ${request.url()}`) // aborted: the test went on to the next page
  })
  return complaints
}
