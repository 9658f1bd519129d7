import { beforeAll, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright'
import { FULL, shortOf } from '../support/full.ts'
import { KEY, MOBILE, serveSite, withSite, type Site } from '../support/site.ts'

const PASSWORD = 'the viewers password'
const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>"'>`

const { parley, using } = withSite()
let session: string

beforeAll(async () => {
  session = await meeting(parley)
}, 120_000)

const meeting = async ({ post }: Site) => {
  const alex = await post('/sessions', {
    title: `Ship ${HOSTILE}`,
    description: HOSTILE,
    creator_team_name: `Alex ${HOSTILE}`,
    expected_teams: 3,
  })
  const at = `/sessions/${alex.session_id}`
  const bea = await post(`${at}/join`, { team_name: "Bea's Team" })
  for (const text of [
    '**First** finding',
    'Second',
    HOSTILE,
    `[x](javascript:document.title='owned')`,
    '|a|b|\n|-|-|\n|1|2|',
    'word'.repeat(500),
  ])
    await post(`${at}/messages`, { content: { text } }, bea.team_id)
  await post(`${at}/metadata`, { title: `Shipped ${HOSTILE}`, reason: `Because ${HOSTILE}` }, alex.team_id)
  await post(`${at}/doc`, { content: `# Plan\n\n${HOSTILE}\n\n- [x] done`, expected_version: 0 }, alex.team_id)
  return alex.session_id!
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

const LOOKS = [
  ['at 390 px', MOBILE],
  ['wide', {}],
  ['dark', { colorScheme: 'dark' }],
] as const

for (const [name, options] of shortOf(LOOKS, 1)) {
  test(`${name}: every page renders, keeps its policy and does not scroll sideways`, () =>
    using(options, async (page, complaints) => {
      for (const path of ['/', `/sessions/${session}`, '/settings', '/connect', '/sign-in', '/?q=nothing-like-it', '/?status=concluded']) {
        const response = await page.goto(path)
        expect(response?.status()).toBe(200)
        const headers = response!.headers()
        expect(headers['content-security-policy']).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'")
        expect(headers['x-content-type-options']).toBe('nosniff')
        expect(headers['referrer-policy']).toBe('same-origin')
        expect(headers['cache-control']).toBe('no-store')
        expect(await page.locator('h1:not(.prose h1)').count()).toBe(1)
        expect(await overflow(page)).toBe(0)
      }
      expect(complaints).toEqual([])
    }))
}

test('a session shows feed and document side by side, each with its own scroller', () =>
  using({ viewport: { width: 1024, height: 700 } }, async (page) => {
    await page.goto(`/sessions/${session}`)
    const [feed, document] = [(await page.locator('#feed').boundingBox())!, (await page.locator('#document').boundingBox())!]
    expect(document.x).toBeGreaterThanOrEqual(feed.x + feed.width - 1)
    expect(Math.abs(document.y - feed.y)).toBeLessThan(2)
    expect(await page.locator('#tabs').isVisible()).toBe(false)
    expect(await page.evaluate('document.documentElement.scrollHeight <= innerHeight')).toBe(true)
  }))

test('what a team writes, names and titles itself does nothing and is shown as text', () =>
  using({}, async (page, complaints) => {
    for (const path of ['/', `/sessions/${session}`]) {
      await page.goto(path)
      expect(await page.title()).not.toBe('owned')
      expect(await page.locator('img, iframe, object, embed, form[action^="http"]').count()).toBe(0)
      expect(await page.locator('script:not([src^="/public/"])').count()).toBe(0)
      expect(await page.locator('[onerror], [onclick], [onload], [style], a[href^="javascript"]').count()).toBe(0)
      expect(await page.locator('main').textContent()).toContain('<script>')
    }
    expect(complaints).toEqual([])
  }))

test('a session shows who is here, what changed and why, and posts of one breath under one name', () =>
  using({}, async (page) => {
    await page.goto(`/sessions/${session}`)
    const main = page.locator('main')
    expect(await main.textContent()).toContain('Waiting for 1 more team')
    expect(await main.textContent()).toContain('convener')
    expect(await page.locator('h1 + [data-slot=badge]').textContent()).toBe('Live')
    expect(await page.locator('#feed s').first().textContent()).toStartWith('Ship ')
    expect(await page.locator('#feed q').first().textContent()).toStartWith('Because ')
    expect(await page.locator('.row-message').count()).toBe(6)
    expect(await page.locator('.row-message b[data-hue]').count()).toBe(1)
    expect(await page.locator('#m2 strong').textContent()).toBe('First')
    expect(await page.locator('#document').textContent()).toContain('v1')
    await page.locator('label', { hasText: 'Messages' }).click()
    expect(await page.locator('.row-event').first().isVisible()).toBe(false)
  }))

test('the status page says while it cannot be brought up to date, stays as it is meanwhile, and goes on', () =>
  using({}, async (page) => {
    await page.clock.install()
    await page.goto('/status')
    const bar = page.locator('#reconnecting')
    const passes = async (visible: boolean) => {
      while ((await bar.isVisible()) !== visible) await page.clock.runFor(1_000)
    }
    const gone = [
      (route: Route) => route.fulfill({ status: 503, contentType: 'text/html', body: '<!doctype html><title>x</title><h1>Not now</h1>' }),
      (route: Route) => route.abort('connectionrefused'),
    ]
    expect(await bar.isVisible()).toBe(false)
    for (const answer of gone) {
      await page.route('**/status', answer)
      await passes(true)
      expect(await page.locator('h1').allInnerTexts()).toEqual(['Status'])
      await page.unroute('**/status', answer)
      await passes(false)
    }
    await page.route('**/status', gone[0]!)
    await passes(true)
    await page.unroute('**/status', gone[0])
    await bar.getByRole('button', { name: 'Retry now' }).click()
    await bar.waitFor({ state: 'hidden' })
    expect(await page.locator('#status').innerText()).toContain('as of')
  }))

test('the theme is kept without any script', () =>
  using({ javaScriptEnabled: false }, async (page, _, context) => {
    await page.goto('/settings')
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    expect(new URL(page.url()).pathname).toBe('/settings')
    expect((await context.cookies()).find(({ name }) => name === 'parley_theme')?.value).toBe('dark')
    await page.goto('/')
    expect(await page.locator('html.dark').count()).toBe(1)
  }))

const textAt = async (path: string) => (await fetch(parley.url + path, { headers: { accept: 'text/html' } })).text()
const linkNow = async () => ((await (await fetch(`${parley.url}/api/config`)).json()) as { mcp_url: string }).mcp_url

test('a person signs in by the link, saves another MCP link, which takes effect at once, and goes back', () =>
  using({}, async (page, complaints) => {
    const before = await linkNow()
    await page.goto(`/sign-in?key=${KEY}&name=Robin&next=/settings`)
    expect(page.url()).toBe(`${parley.url}/settings`)
    expect(await page.locator('header').textContent()).toContain('Robin')
    await page.getByLabel('New link').fill('https://parley.example.com/mcp')
    await page.locator('#link').getByRole('button', { name: 'Save' }).click()
    expect(new URL(page.url()).pathname).toBe('/settings')
    expect(await linkNow()).toBe('https://parley.example.com/mcp')
    expect(await page.getByRole('alert').textContent()).toMatch(/^Saved, and agents are given this link .* Not reachable/)
    for (const line of await page.locator('#link pre').allTextContents()) expect(line).toContain('https://parley.example.com/')
    expect(await page.locator('#link pre').first().textContent()).toMatch(/^npx -y https:.*\.tgz connect$/)
    await page.goto('/connect')
    expect(await page.locator('main').textContent()).toContain('codex mcp add parley --url https://parley.example.com/mcp')
    const colleague = page.locator('figure', { hasText: 'To a colleague' }).locator('pre')
    expect(await colleague.textContent()).toMatch(/npx -y https:\/\/parley.example.com\/parley-.*\.tgz connect\n[^]*\/AGENTS\.md first\./)
    await page.goto('/settings')
    await page.getByRole('button', { name: 'Forget the saved link' }).click()
    expect(await linkNow()).toBe(before)
    expect(await page.getByRole('alert').textContent()).toBe(`The saved link is forgotten. Agents are given ${before} from now on.`)
    expect(await textAt('/connect')).toContain('through a tunnel alone')
    await page.getByLabel('New link').fill(before)
    await page.locator('#link').getByRole('button', { name: 'Save' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Saved\. .* Reachable: Parley answered/)
    await page.getByLabel('New link').fill('')
    await page.locator('#link').getByRole('button', { name: 'Save', exact: true }).click()
    expect(await page.getByRole('alert').textContent()).toBe(`The saved link is forgotten. Agents are given ${before} from now on.`)
    expect(await linkNow()).toBe(before)
    expect(await page.locator('#server').textContent()).toContain('4294967296 (4 GiB)')
    const current = page.locator('#sections [aria-current]')
    expect(await current.allTextContents()).toEqual(['Connection'])
    await page.getByRole('link', { name: 'Permissions' }).click()
    await page.locator('#sections [aria-current]', { hasText: 'Permissions' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    expect(await page.locator('header').textContent()).toContain('Sign in')
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('a saved loop guard says what holds without it, and is forgotten', () =>
  using({}, async (page, complaints) => {
    await page.goto(`/sign-in?key=${KEY}&name=Robin&next=/settings`)
    const forget = page.getByRole('button', { name: 'Forget what is set here' })
    expect(await forget.count()).toBe(0)
    const guard = page.locator('form[action="/settings/loop-guard"]')
    await guard.getByLabel('Do nothing').check()
    await guard.getByRole('button', { name: 'Save' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Loop guard saved.')
    expect(await guard.getByLabel('Do nothing').isChecked()).toBe(true)
    expect(await guard.innerText()).toContain('Then it is “Mark the session” with 12 posts and a threshold of 0.9, the default.')
    await forget.click()
    expect(await page.getByRole('alert').textContent()).toBe('What was saved for the loop guard is forgotten.')
    expect(await guard.getByLabel('Mark the session', { exact: true }).isChecked()).toBe(true)
    expect(await forget.count()).toBe(0)
    expect(complaints).toEqual([])
  }),
)

const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${parley.url}${path}`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers })

const cookieFrom = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

test('no link that is none is saved', async () => {
  const cookie = cookieFrom(await form('/sign-in', { key: KEY, name: 'Robin' }))
  for (const mcp_url of ['javascript:alert(1)', 'ftp://a.example', 'https://a.example/$(id)', 'nonsense'])
    expect((await form('/settings/mcp-url', { mcp_url }, { cookie })).status).toBe(400)
  expect((await form('/settings/mcp-url', {}, { cookie })).status).toBe(400)
  expect(await linkNow()).toBe(`${parley.url}/mcp`)
})

test('a stranger and a page of somebody else change nothing', async () => {
  const mcp_url = 'https://evil.example/mcp'
  expect((await form('/settings/mcp-url', { mcp_url })).status).toBe(401)
  const cookie = cookieFrom(await form('/sign-in', { key: KEY, name: 'Robin' }))
  expect((await form('/settings/mcp-url', { mcp_url }, { cookie, origin: 'https://evil.example' })).status).toBe(403)
  expect((await form('/settings/mcp-url', { mcp_url }, { cookie, origin: 'null', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await form('/settings/mcp-url', { mcp_url }, { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(await linkNow()).toBe(`${parley.url}/mcp`)
  await using({}, async (page) => {
    await page.goto('/settings')
    expect(await page.locator('form[action="/settings/mcp-url"]').count()).toBe(0)
    expect(await page.locator('main').textContent()).toContain('Sign in to change this')
  })
})

test('the sign-in link works from a page of somebody else too, whose redirect a strict cookie would not follow', async () => {
  const response = await fetch(`${parley.url}/sign-in?key=${KEY}&next=/settings`, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('refresh')).toBe('0; url=/settings')
  expect(cookieFrom(response)).toStartWith('parley_person=')
})

test('next leads nowhere but to our own pages', async () => {
  for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/\tevil', '/sign-in'])
    expect((await form('/sign-in', { key: KEY, next })).headers.get('location') ?? '/').toBe('/')
})

test('the link for agents leads a browser to the page that explains it, and an agent nowhere else', () =>
  using({}, async (page) => {
    await page.goto('/mcp')
    expect(page.url()).toBe(`${parley.url}/connect`)
    const agent = await fetch(`${parley.url}/mcp`, { headers: { accept: 'application/json, text/event-stream' }, redirect: 'manual' })
    expect(agent.status).toBe(405)
    await agent.body?.cancel()
  }))

test('what is not there is a page for people and JSON for programs', async () => {
  const browserLike = { headers: { accept: 'text/html,*/*' } }
  for (const path of ['/nothing', '/sessions/nothing', `/sessions/${crypto.randomUUID()}`, `/approvals/${crypto.randomUUID()}`]) {
    const response = await fetch(parley.url + path, browserLike)
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toStartWith('text/html')
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await response.text()).not.toMatch(/AGENTS|openapi|get_/) // that is for programs
    expect((await fetch(parley.url + path)).headers.get('content-type')).toStartWith('application/json')
  }
  expect((await fetch(`${parley.url}/api/nothing`, browserLike)).headers.get('content-type')).toStartWith('application/json')
})

test('with a password all pages are closed but to those who signed in, and a reader changes nothing', async () => {
  const closed = await serveSite({ VIEWER_PASSWORD: PASSWORD })
  try {
    const get = (path: string, headers: Record<string, string> = {}) => fetch(closed.url + path, { redirect: 'manual', headers })
    for (const path of ['/', '/settings', '/connect', '/sessions/x?all=1']) {
      const response = await get(path)
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
      const part = await get(path, { 'hx-request': 'true' }) // an open page would show what a redirect leads to as its own
      expect([part.status, part.headers.get('hx-redirect'), await part.text()]).toEqual([200, response.headers.get('location'), ''])
    }
    const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(closed.url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers })
    const cookie = cookieFrom(await post('/sign-in', { key: PASSWORD, name: 'Kim' }))
    expect((await get('/settings', { cookie })).status).toBe(200)
    expect((await post('/settings/mcp-url', { mcp_url: 'https://a.example/mcp' }, { cookie })).status).toBe(403)
    for (let i = 0; i < 10; i++) expect((await get('/sign-in?key=wrong')).status).toBe(401)
    const refused = await get('/sign-in?key=wrong')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await closed.stop()
  }
})
