// A browser that has a page of somebody else open, which does all that it can to have wrong keys sent: its person signs in all the same.
// Once on loopback, where browsers tell whose page asks, and once under a name on plain http, where they do not.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright'
import { linkForPerson } from '../../src/process/sign-ins.ts'
import { FULL } from '../support/full.ts'
import { KEY, serveSite, startBrowser, usingPage, type Site } from '../support/site.ts'

const HUB = 'hub.example'
const EVIL = 'evil.example'
const PASSWORD = 'the viewers password'

let parley: Site
let browser: Browser
let evil: ReturnType<typeof serveEvil>
beforeAll(async () => {
  parley = await serveSite({ ALLOWED_HOSTS: HUB, VIEWER_PASSWORD: PASSWORD })
  evil = serveEvil()
  browser = await startBrowser([`--host-resolver-rules=MAP ${HUB} 127.0.0.1,MAP ${EVIL} 127.0.0.1`])
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await evil?.stop(true)
  await parley?.stop()
})

const ELEVEN = Array.from({ length: 11 }, (_, n) => n) // one more than the tries of a minute

const serveEvil = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { searchParams } = new URL(request.url)
      const to = searchParams.get('to')
      return new Response(to ? `<script>setTimeout(() => (location = '${to}'))</script>` : attack(searchParams.get('at')!), {
        headers: { 'content-type': 'text/html' },
      })
    },
  })

const attack = (at: string) =>
  `${ELEVEN.map(
    (n) => `<img src="${at}/sign-in?key=image${n}"><iframe src="${at}/sign-in?key=frame${n}"></iframe>
      <iframe name="in${n}"></iframe><form method="post" target="in${n}" action="${at}/sign-in"><input name="key" value="form${n}"></form>`,
  ).join('')}
  <iframe sandbox="allow-forms allow-scripts allow-same-origin" srcdoc="<form method=post action='${at}/sign-in'><input name=key value=x></form><script>document.forms[0].submit()</script>"></iframe>
  <script>
    for (const form of document.forms) form.submit()
    const body = new URLSearchParams({ key: 'x' })
    for (let n = 0; n < 11; n++) {
      fetch('${at}/sign-in?key=fetch' + n, { mode: 'no-cors', credentials: 'include' }).catch(() => {})
      fetch('${at}/sign-in', { mode: 'no-cors', method: 'POST', body, referrerPolicy: 'no-referrer' }).catch(() => {})
    }
  </script>`

test.skipIf(!FULL).each(['127.0.0.1', HUB])(
  'at %s a page of somebody else keeps nobody from signing in',
  async (host) => {
    const at = `http://${host}:${parley.port}`
    await usingPage(browser, at, {}, async (page, _, context) => {
      await page.goto(`http://${EVIL}:${evil.port}/?at=${at}`, { waitUntil: 'networkidle' })
      // A browser asks for a click before each window that a page opens: it sends one that it has from place to place.
      for (const n of ELEVEN) {
        await page.goto(`http://${EVIL}:${evil.port}/?to=${at}/sign-in?key=window${n}`)
        await page.waitForURL(`${at}/sign-in?key=window${n}`)
      }
      for (const key of [KEY, PASSWORD]) {
        const own = await context.newPage()
        await own.goto('/sign-in?next=/settings')
        await own.getByLabel(/^Operator key/).fill(key)
        await own.getByLabel('Your name').fill('Robin')
        await own.getByRole('button', { name: 'Sign in' }).click()
        await own.waitForURL(`${at}/settings`)
        expect(await own.getByText('Robin').first().isVisible()).toBe(true)
        await context.clearCookies()
      }
      const pasted = await context.newPage()
      await pasted.goto(`/sign-in?key=${KEY}&name=Kim&next=/settings`)
      if (host !== HUB) expect(new URL(pasted.url()).pathname).toBe('/settings')
      else expect(await pasted.getByRole('alert').innerText()).toContain('Enter the key below') // nobody can tell whose link it is
    })
  },
  180_000,
)

test('under a name on plain http a person signs in and takes part, with and without script', async () => {
  const { session_id } = await parley.post('/sessions', { title: 'Plain', description: '', creator_team_name: "Alex's Team" })
  for (const javaScriptEnabled of [true, false])
    await usingPage(browser, `http://${HUB}:${parley.port}`, { javaScriptEnabled }, async (page) => {
      await page.goto(`/sign-in?next=/sessions/${session_id}`)
      await page.getByLabel(/^Operator key/).fill(KEY)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('#message').fill(`Here, ${javaScriptEnabled}`)
      await page.locator('#composer button[type=submit]').click()
      await page.locator('#rows .row-message', { hasText: `Here, ${javaScriptEnabled}` }).waitFor({ timeout: 10_000 })

      const { token } = await linkForPerson(parley.services, `Noa ${javaScriptEnabled}`)
      await page.goto(`/sign-in?key=${token.handle}.${token.secret}&next=/settings`)
      await page.getByRole('button', { name: `Sign in as Noa ${javaScriptEnabled}` }).click()
      await page.waitForURL('**/settings')
      expect(await page.getByText(`Noa ${javaScriptEnabled}`).first().isVisible()).toBe(true)
    })
}, 180_000)
