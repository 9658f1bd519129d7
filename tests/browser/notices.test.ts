// Being told in a browser: the section of the settings page in each of its states, and the service worker.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContext, Page, Worker } from 'playwright'
import { violations } from '../support/axe.ts'
import { findFullChromium } from '../support/browser.ts'
import { soon } from '../support/parley.ts'
import { startPushService, type PushBrowser, type PushService } from '../support/push-service.ts'
import { FULL } from '../support/full.ts'
import { KEY, MOBILE, serveSite, startBrowser, usingPage, type Site } from '../support/site.ts'

const ELSEWHERE = 'parley.example'

let browser: Browser
let parley: Site
let service: PushService
beforeAll(async () => {
  service = await startPushService()
  const executable = await findFullChromium()
  browser = await startBrowser([`--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`], executable)
  parley = await serveSite({ ALLOWED_HOSTS: ELSEWHERE }, { pushSender: service.sender(), intervals: { notices: 50 } })
}, 300_000)
afterAll(async () => {
  await browser?.close()
  await parley?.stop()
  await service?.stop()
})

type Options = NonNullable<Parameters<Browser['newContext']>[0]>
type Work = (page: Page, complaints: string[], context: BrowserContext) => Promise<void>

/** A page of Robin, in a browser that allows notifications unless it is said to be asked first. */
const asRobin = (options: Options & { asks?: boolean }, work: Work) => {
  const { asks, ...others } = options
  return usingPage(browser, parley.url, others, async (page, complaints, context) => {
    if (!asks) await context.grantPermissions(['notifications'], { origin: parley.url })
    await page.goto(`/sign-in?key=${KEY}&name=Robin`)
    await work(page, complaints, context)
  })
}

/** Stands in for the browser's own push service, which tests cannot reach: subscribes at ours. */
const subscribesAt = (context: BrowserContext, { endpoint, p256dh, auth }: PushBrowser) =>
  context.addInitScript(
    ([endpoint, p256dh, auth]) => {
      const subscription = { endpoint, toJSON: () => ({ endpoint, keys: { p256dh, auth } }) } as unknown as PushSubscription
      const isOn = () => localStorage.getItem('subscribed') !== null
      PushManager.prototype.getSubscription = async () => (isOn() ? subscription : null)
      PushManager.prototype.subscribe = async () => (localStorage.setItem('subscribed', 'yes'), subscription)
    },
    [endpoint, p256dh, auth],
  )

const state = (page: Page) => page.locator('#push [data-of]:visible')
const turnOn = (page: Page) => page.getByRole('button', { name: 'Turn on' })

const workerOf = async (context: BrowserContext): Promise<Worker> => {
  await soon('the service worker runs', () => context.serviceWorkers().length > 0)
  return context.serviceWorkers()[0]!
}

/** Hands the service worker a push, through DevTools. */
const deliver = async (page: Page, context: BrowserContext, data: string) => {
  const devTools = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) =>
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const { registrationId, scopeURL } of registrations) if (scopeURL === `${parley.url}/`) resolve(registrationId)
    }),
  )
  await devTools.send('ServiceWorker.enable')
  await devTools.send('ServiceWorker.deliverPushMessage', { origin: parley.url, registrationId: await registered, data })
  await devTools.detach()
}

const notifications = (page: Page): Promise<{ title: string; body: string }[]> =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration()
    return (await registration!.getNotifications()).map(({ title, body }) => ({ title, body }))
  })

/** Clicks the first notification. A headless browser shows it nowhere, so the event is dispatched; and as only a real click may open or
 *  focus a window, the answer is what would have been opened or focused. */
const click = (worker: Worker): Promise<string> =>
  worker.evaluate(async () => {
    const scope = self as any
    const [notification] = await scope.registration.getNotifications()
    const done = Promise.withResolvers<string>()
    scope.clients.openWindow = async (path: string) => done.resolve(`opens ${path}`)
    scope.WindowClient.prototype.focus = async function (this: { url: string }) {
      done.resolve(`focuses ${new URL(this.url).pathname}`)
    }
    scope.dispatchEvent(new scope.NotificationEvent('notificationclick', { notification }))
    return done.promise
  })

const conclude = async (title: string) => {
  const { session_id, team_id } = await parley.post('/sessions', { title, description: '', creator_team_name: "Alex's Team" })
  await parley.post(`/sessions/${session_id}/messages`, { content: 'The secret ingredient is nutmeg.' }, team_id)
  await parley.post(`/sessions/${session_id}/conclude`, { summary_section: 'Nutmeg it is.' }, team_id)
  return session_id!
}

test('turned on with titles, a browser is told of a conclusion: the notification names the session, and a click opens its page', async () => {
  await asRobin({}, async (page, complaints, context) => {
    const subscriber = service.browser()
    await subscribesAt(context, subscriber)
    await page.goto('/settings#notifications')
    expect(await state(page).innerText()).toStartWith('Off.')
    await page.getByLabel('Show the session’s title').check()
    await turnOn(page).click()
    await page.getByText('This browser is told from now on.').waitFor()
    expect(await state(page).innerText()).toMatch(
      /^On, until you sign out or remove it, or until \d+ \w+ \d{4}: signing in again here prolongs that\.$/,
    )
    expect(await page.getByText('This browser', { exact: true }).count()).toBe(1)
    expect(await page.getByLabel('Show the session’s title').isChecked()).toBe(true)

    const id = await conclude('Shipping the parser')
    await soon('it is pushed', () => service.at(new URL(subscriber.endpoint).pathname).length === 1)
    const message = await subscriber.read(service.at(new URL(subscriber.endpoint).pathname)[0]!)
    await deliver(page, context, JSON.stringify(message))
    await soon('the notification shows', async () => (await notifications(page)).length > 0)
    expect(await notifications(page)).toEqual([{ title: 'Shipping the parser', body: 'The session is concluded.' }])
    const worker = await workerOf(context)
    expect(await click(worker)).toBe(`opens /sessions/${id}`)
    await page.goto(`/sessions/${id}`)
    await deliver(page, context, JSON.stringify(message))
    await soon('it shows again', async () => (await notifications(page)).length > 0)
    expect(await click(worker)).toBe(`focuses /sessions/${id}`)
    expect(complaints).toEqual([])
  })
}, 180_000)

test.skipIf(!FULL)(
  'a test is sent by a button and answered on the page; removing the browser turns it off',
  async () => {
    await asRobin(MOBILE, async (page, complaints, context) => {
      await subscribesAt(context, service.browser())
      await page.goto('/settings')
      await turnOn(page).click()
      await page.getByText('This browser is told from now on.').waitFor()
      await page.getByRole('button', { name: 'Send a test to my browsers' }).click()
      await page.getByText(/^Test sent: .*Chrome on .* took it\.$/).waitFor()
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      await page.locator('li', { hasText: 'This browser' }).getByRole('button').click()
      await page.getByText('That browser is told no more.').waitFor()
      expect(await state(page).innerText()).toStartWith('Off.')
      expect(complaints).toEqual([])
    })
  },
  180_000,
)

describe('the service worker', () => {
  const registered = (work: (page: Page, context: BrowserContext) => Promise<void>) =>
    asRobin({}, async (page, complaints, context) => {
      await page.goto('/connect')
      await page.evaluate(
        async () => void (await navigator.serviceWorker.register('/sw.js', { scope: '/' }), await navigator.serviceWorker.ready),
      )
      await work(page, context)
      expect(complaints).toEqual([])
    })

  test('shows something for a push that it cannot read', () =>
    registered(async (page, context) => {
      await deliver(page, context, 'no JSON')
      await soon('the notification shows', async () => (await notifications(page)).length > 0)
      expect(await notifications(page)).toEqual([{ title: 'Parley', body: 'You are needed.' }])
      expect(await click(await workerOf(context))).toBe('opens /')
    }))

  test('opens no page of another site, whatever is pushed', () =>
    registered(async (page, context) => {
      await deliver(page, context, JSON.stringify({ kind: 'session_concluded', url: 'https://evil.example/sessions/1', text: 'Look.' }))
      await soon('the notification shows', async () => (await notifications(page)).length > 0)
      expect(await click(await workerOf(context))).toBe('opens /')
    }))

  test.skipIf(!FULL)('shows one notification for each kind and session, the newest', () =>
    registered(async (page, context) => {
      for (const text of ['First.', 'Second.'])
        await deliver(page, context, JSON.stringify({ kind: 'loop_suspected', session_id: 'one', url: '/sessions/one', text }))
      await deliver(page, context, JSON.stringify({ kind: 'loop_suspected', session_id: 'two', url: '/sessions/two', text: 'Other.' }))
      await soon('both show', async () => (await notifications(page)).length === 2)
      expect((await notifications(page)).map(({ body }) => body).toSorted()).toEqual(['Other.', 'Second.'])
    }),
  )
})

describe('where it cannot be turned on, the page says why:', () => {
  test.skipIf(!FULL)('it came over plain http from another machine', async () => {
    await usingPage(browser, `http://${ELSEWHERE}:${parley.port}`, {}, async (page) => {
      await page.goto(`/sign-in?key=${KEY}&name=Robin`)
      await page.goto('/settings')
      expect(await state(page).innerText()).toContain('only to pages that come over https or from their own machine')
      expect(await turnOn(page).isVisible()).toBe(false)
    })
  })

  test.skipIf(!FULL)('the person denied it', () =>
    asRobin({ asks: true }, async (page, _, context) => {
      await subscribesAt(context, service.browser())
      await context.addInitScript(() => Object.defineProperty(Notification, 'permission', { value: 'denied' }))
      await page.goto('/settings')
      expect(await state(page).innerText()).toContain('You have blocked notifications of this page. Allow them')
      expect(await turnOn(page).isVisible()).toBe(false)
    }),
  )

  test.skipIf(!FULL)('its push service does not let it subscribe', () =>
    asRobin({}, async (page, _, context) => {
      await context.addInitScript(() => {
        PushManager.prototype.subscribe = () => Promise.reject(new DOMException('Registration failed', 'AbortError'))
      })
      await page.goto('/settings')
      await turnOn(page).click()
      await page.getByText('The browser could not subscribe at its push service.').waitFor()
      expect(await turnOn(page).isVisible()).toBe(true)
    }),
  )

  test.skipIf(!FULL)('it has no Web Push', () =>
    asRobin({}, async (page, _, context) => {
      await context.addInitScript(() => void delete (window as any).PushManager)
      await page.goto('/settings')
      expect(await state(page).innerText()).toContain('This browser has no Web Push')
    }),
  )

  test('no script runs', () =>
    usingPage(browser, parley.url, { javaScriptEnabled: false }, async (page) => {
      await page.goto(`/sign-in?key=${KEY}&name=Robin`)
      await page.goto('/settings')
      expect(await state(page).innerText()).toContain('NOTIFY_URL works without.')
      expect(await turnOn(page).isVisible()).toBe(false)
    }))
})

test.skipIf(!FULL)('the menu of a session leads signed-in people there', () =>
  asRobin({}, async (page) => {
    const id = await conclude('Shipping the printer')
    await page.goto(`/sessions/${id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('link', { name: 'Be told when you are needed' }).click()
    await page.waitForURL('**/settings#notifications')
    expect(await page.locator('#notifications').isVisible()).toBe(true)
  }),
)
