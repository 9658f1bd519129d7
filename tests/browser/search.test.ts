// Searching as people do it: what is found, where a hit leads, and that nothing in a query or a hit is more than text.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { FULL } from '../support/full.ts'
import { HOSTILE, together } from '../support/payloads.ts'
import { indexed, sessionsIndexed, trace } from '../support/history.ts'
import { MOBILE, serveSite, withSite } from '../support/site.ts'

const LINES = 120 // before and after what is looked for: more than a page of the feed
const FOUND = 'Tokens of parseTree keep their spans, see `src/parser/ledgerQuill.ts`.'

const { parley, using } = withSite()
let session: string
let sought: number

beforeAll(async () => {
  const alex = await parley.post('/sessions', { title: 'Shipping the parser', description: 'Split it.', creator_team_name: "Alex's Team" })
  session = alex.session_id!
  const at = `/sessions/${session}`
  const bea = await parley.post(`${at}/join`, { team_name: "Bea's Team" })
  const say = (text: string) => parley.post(`${at}/messages`, { content: { text } }, bea.team_id)
  const lines = (from: number) => Array.from({ length: LINES - 1 }, (_, n) => `Line ${from + n} of the talk.`)
  await together(lines(1), say)
  sought = Number((await say(FOUND)).cursor)
  await together([...lines(LINES), `Line ${2 * LINES - 1} of the talk.`], say)
  await trace(
    { ...parley, database: parley.services.database } as never,
    [
      [
        { type: 'user_input', text: 'Where is ledgerQuill?' },
        { type: 'tool_response', text: 'rg: 12 matches of ledgerQuill' },
      ],
    ],
    { title: 'A run of the agent' },
  )
  await together(HOSTILE, (text) => say(`payload ${text}`))
  const written = `# Notes\n\n## Decisions\n\n- **quillVault** keeps the spans.\n- ${HOSTILE.filter((text) => text.includes('<')).join('\n- ')}\n`
  await parley.post(`${at}/doc`, { content: written, expected_version: 0 }, alex.team_id)
  await indexed(parley.services)
  await sessionsIndexed(parley)
}, 120_000)

const hits = (page: Page) => page.locator('main ol > li')
const marks = (page: Page) => page.locator('mark').allTextContents()

test('a hit says who, marks the words as they stand in names, and leads to its row in a long feed', () =>
  using({}, async (page, complaints) => {
    await page.goto('/search?q=ledger+quill&type=assistant_response')
    expect(await hits(page).count()).toBe(1)
    expect(await hits(page).first().innerText()).toContain("Bea's Team")
    expect(await hits(page).locator('[data-hue]').count()).toBe(2)
    expect(await marks(page)).toEqual(['ledgerQuill'])
    await page.goto('/search?q=ledgre&type=assistant_response')
    expect(await page.locator('main').innerText()).toContain('No event has "ledgre"')
    expect(await marks(page)).toEqual(['ledger'])
    await hits(page)
      .getByRole('link', { name: FOUND.replaceAll('`', '') })
      .click()
    await page.waitForURL(({ pathname, search, hash }) => pathname + search + hash === `/sessions/${session}?around=${sought}#m${sought}`)
    expect(await page.locator(`#m${sought}`).innerText()).toContain('keep their spans')
    await page.waitForFunction((id) => {
      const { top, bottom } = document.querySelector(id)!.getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight
    }, `#m${sought}`)
    expect(complaints).toEqual([])
  }))

test('without script the form narrows by kind, days and session, and says what it looks for', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    await page.goto('/search')
    expect(await page.locator('main').innerText()).toContain('Titles, documents, messages and tool results')
    await page.getByLabel('Search for').fill('ledgerQuill')
    const search = () => page.getByRole('button', { name: 'Search', exact: true }).click()
    await search()
    expect(await hits(page).count()).toBe(3)
    await page.getByLabel('Search in').selectOption('Tool results')
    await search()
    expect(await hits(page).allInnerTexts()).toEqual([expect.stringContaining('12 matches')])
    expect(await hits(page).getByRole('link', { name: 'rg: 12 matches of ledgerQuill' }).getAttribute('href')).toMatch(/\/turns\/1/)
    await page.getByLabel('Search in').selectOption('Everything')
    await page.getByLabel('From').fill('2026-04-29')
    await page.getByLabel('To (inclusive)').fill('2026-04-29')
    await search()
    expect(await hits(page).count()).toBe(2)
    expect(await page.getByRole('status').innerText()).toBe('2 results')
    await page.getByLabel('Said by').fill("Bea's Team")
    await search()
    expect(await page.locator('main').innerText()).toContain('or a name exactly as messages show it')
    await page.getByLabel('From').fill('')
    await page.getByLabel('To (inclusive)').fill('')
    await search()
    expect(await hits(page).allInnerTexts()).toEqual([expect.stringContaining("Bea's Team")])
    expect(page.url()).toEndWith('/search?q=ledgerQuill&type=all&by=Bea%27s+Team&from=&to=')
    await page.getByLabel('Said by').fill('')
    await page.getByLabel('From').fill('2026-04-29')
    await page.getByLabel('To (inclusive)').fill('2026-04-28')
    await search()
    expect(await page.getByRole('alert').innerText()).toBe('The first date is after the last one.')
    await page.goto(`/search?q=ledgerQuill&type=all`)
    const together = await page.locator('main div:has(> ol)').evaluateAll((groups) => groups.map((one) => (one as HTMLElement).innerText))
    expect(together.toSorted()).toEqual([
      expect.stringMatching(/^A run of the agent\s+Only this session[^]*Codex[^]*asked[^]*Where is[^]*12 matches/),
      expect.stringMatching(/^Shipping the parser\s+Only this session[^]*Bea's Team/),
    ])
    expect(together.join()).not.toMatch(/\bsaid\b/)
    await page.getByRole('link', { name: 'Only this session: Shipping the parser' }).click()
    expect(await hits(page).count()).toBe(1)
    expect(await page.getByRole('link', { name: 'Only this session' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Search all sessions' }).click()
    expect(await hits(page).count()).toBe(3)
    expect(await page.getByLabel('Search for').inputValue()).toBe('ledgerQuill')
  }))

test.skipIf(!FULL)('titles and documents are found beside messages, and the days are kept while one leafs on', () =>
  using({ javaScriptEnabled: false }, async (page, complaints) => {
    const rows = page.getByRole('region', { name: 'Sessions and documents' }).locator('li')
    await page.goto('/search?q=quill+vault')
    expect(await rows.count()).toBe(1)
    expect(await rows.innerText()).toMatch(/In the document[^]*quillVault keeps the spans/)
    expect(await page.getByRole('status').innerText()).toStartWith('1 session · ')
    await rows.getByRole('link').click()
    expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe(`/sessions/${session}#document`)
    await page.goto('/search?q=agent&type=sessions')
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('A run of the agent')])
    expect(await hits(page).count()).toBe(0)
    await page.goto('/search?q=talk&from=2026-01-01')
    const first = await hits(page).allInnerTexts()
    await page.getByRole('link', { name: 'Next page' }).click()
    expect(page.url()).toEndWith('/search?q=talk&from=2026-01-01&page=2')
    expect(await page.getByRole('status').innerText()).toBe('Results 51 to 100, best first')
    const second = await hits(page).allInnerTexts()
    expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([50, 50, 100])
    await page.getByRole('link', { name: 'Previous page' }).click()
    expect(await hits(page).allInnerTexts()).toEqual(first)
    await page.goto('/search?q=talk&page=5')
    expect(await page.locator('main').innerText()).toContain('Results 201 to')
    await page.goto('/search?q=ledgerQuill&page=2')
    await page.getByRole('link', { name: 'Back to the first page' }).click()
    expect(await hits(page).count()).toBe(3)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('the name beside a hit narrows to what that team said, and the slash key leads to the box', () =>
  using({}, async (page, complaints) => {
    await page.goto('/search?q=ledgerQuill')
    await page.getByRole('link', { name: "Bea's Team" }).click()
    expect(await page.getByLabel('Said by').inputValue()).toBe("Bea's Team")
    expect(await hits(page).count()).toBe(1)
    await page.keyboard.press('/')
    await page.keyboard.press('End')
    await page.keyboard.type(' spans')
    await page.keyboard.press('Enter')
    await page.waitForURL(/q=ledgerQuill\+spans/)
    expect(await page.getByLabel('Said by').inputValue()).toBe("Bea's Team")
    await page.getByLabel('Search for').focus()
    const labels: (string | null)[] = []
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('Tab')
      labels.push(await page.evaluate(() => document.activeElement!.id || document.activeElement!.textContent))
    }
    expect(labels).toEqual(['Search', 'type', 'by', 'from'])
    expect(complaints).toEqual([])
  }),
)

test(
  'what is in a query or in a hit stays text',
  () =>
    using({}, async (page, complaints) => {
      const inert = async () => {
        expect(await page.locator('script').count()).toBe(1)
        expect(await page.locator('main :is(img, iframe, object, embed, style, base, video, audio, math)').count()).toBe(0)
        expect(await page.locator('main svg:not(:has(> use[href^="#i-"]))').count()).toBe(0)
        expect(await page.locator('main :is([onerror], [onclick], [onload], [style], [data-hx-get], [hx-get])').count()).toBe(0)
        const links = await page.locator('main a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).origin))
        expect([...new Set(links)].filter((origin) => origin !== parley.url)).toEqual([])
      }
      await page.goto('/search?q=payload+alert+script')
      expect(await hits(page).count()).toBe(50)
      expect(await page.locator('main').innerText()).toContain('<script>')
      expect(await page.locator('main').getByRole('status').innerText()).toContain('results 1 to 50, best first')
      await inert()
      await page.goto('/search?q=script&type=sessions')
      expect(await page.locator('main section').innerText()).toContain('<script')
      await inert()
      for (const payload of HOSTILE.filter((text) => text.trim() !== '').slice(0, FULL ? 60 : 6)) {
        const said = new URLSearchParams({ q: payload, type: 'reasoning' })
        expect((await page.goto(`/search?${said}`))!.status()).toBe(200)
        await inert()
      }
      expect(complaints).toEqual([])
    }),
  120_000,
)

test.skipIf(!FULL)('a query that cannot be answered is explained, and a credential in it is not shown again', async () => {
  const { team_id } = await parley.post(`/sessions/${session}/join`, { team_name: "Chidi's Team" })
  const ask = async (given: Record<string, string>) => {
    const answer = await fetch(`${parley.url}/search?${new URLSearchParams(given)}`, { headers: { accept: 'text/html' } })
    return { status: answer.status, html: await answer.text() }
  }
  const secret = await ask({ q: `who has ${team_id}?` })
  expect(secret.status).toBe(400)
  expect(secret.html).toContain('role="alert"')
  expect(secret.html).not.toContain(team_id!.split('.')[1]!)
  expect(await ask({ q: 'x'.repeat(4_097) })).toEqual({ status: 400, html: expect.stringContaining('at most 4096 characters') })
  expect(await ask({ q: 'x', type: 'gossip' })).toEqual({ status: 400, html: expect.stringContaining('Unsupported event type: gossip') })
  for (const from of ['2026-02-31x', '0000-01-01'])
    expect(await ask({ q: 'x', from })).toEqual({ status: 400, html: expect.stringContaining('Write dates like') })
  expect((await ask({ q: 'x', session: 'nowhere' })).status).toBe(404)
  expect(await ask({ q: 'zyzzogeton' })).toEqual({ status: 200, html: expect.stringContaining('No results') })
})

test('a search that finds nothing, or nothing more, says why', async () => {
  const html = async (given: Record<string, string>) => {
    const answer = await fetch(`${parley.url}/search?${new URLSearchParams(given)}`, { headers: { accept: 'text/html' } })
    expect(answer.status).toBe(200)
    return answer.text()
  }
  const beyond = await html({ q: 'ledgerQuill', page: '2' })
  expect(beyond).toContain('No more results')
  expect(/role="status"[^>]*>([^<]*)/.exec(beyond)![1]).toBe('3 results')
  const titles = await html({ q: 'quillVault', type: 'sessions', by: "Bea's Team" })
  expect(titles).toContain('Titles and documents have no author')
  expect(titles).not.toContain('Try fewer or different words')
  expect(titles).toContain('href="/search?q=quillVault&amp;type=sessions"')
  expect(await html({ q: '🚀' })).toContain('The query has no word that is searched for')
  expect(await html({ q: 'ledgerQuill', to: '9999-12-31' })).toContain('3 results')
})

test('only those who may read the sessions may search them', async () => {
  const closed = await serveSite({ VIEWER_PASSWORD: 'a-password-for-viewers' })
  try {
    const answer = await fetch(`${closed.url}/search?q=parser`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in?next=%2Fsearch%3Fq%3Dparser'])
  } finally {
    await closed.stop()
  }
})

test('the box of the home page finds sessions, documents and messages, and leads on to all of them', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const sessions = page.locator('main ul > li')
    await page.goto('/')
    const search = async (query: string) => {
      await page.getByLabel('Search titles, messages and documents').fill(query)
      await page.getByRole('button', { name: 'Search', exact: true }).click()
    }
    await search('quillVault')
    expect(await sessions.allInnerTexts()).toEqual([expect.stringMatching(/Shipping the parser[^]*Document: .*quillVault keeps the spans/)])
    expect(await marks(page)).toContain('quillVault')
    await search('talk line')
    expect(await hits(page).count()).toBe(5)
    await page.getByRole('link', { name: 'All 50+ results' }).click()
    expect(page.url()).toEndWith('/search?q=talk+line')
    expect(await hits(page).count()).toBe(50)
    await page.goto('/')
    await search('ippin')
    expect(await sessions.count()).toBe(1)
    await search('zyzzogeton')
    expect(await page.locator('main').innerText()).toContain('Nothing matches “zyzzogeton”')
    await page.getByRole('link', { name: 'search everything that was done' }).click()
    expect(page.url()).toEndWith('/search?q=zyzzogeton&type=all')
    const { team_id } = await parley.post(`/sessions/${session}/join`, { team_name: "Emi's Team" })
    await page.goto(`/?q=${team_id}`)
    expect(await page.getByRole('alert').innerText()).toContain('which would open the room')
    expect(await page.content()).not.toContain(team_id!.split('.')[1]!)
  }))

test.skipIf(!FULL)('at 390 px nothing is wider than the page, and long words break', () =>
  using(MOBILE, async (page, complaints) => {
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    for (const q of ['ledgerQuill', 'quillVault', `payload ${'word'.repeat(200)}`, 'w'.repeat(2_000)])
      for (const path of [
        `/search?${new URLSearchParams({ q, session })}`,
        `/search?${new URLSearchParams({ q })}`,
        `/?${new URLSearchParams({ q })}`,
      ]) {
        await page.goto(path)
        expect([path.slice(0, 40), await overflow()]).toEqual([path.slice(0, 40), 0])
      }
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('a hit of a session with a long title hinders nobody', () =>
  using({}, async (page) => {
    const alex = await parley.post('/sessions', { title: 'A very long title '.repeat(11), description: '', creator_team_name: 'Alex' })
    await parley.post(`/sessions/${alex.session_id}/messages`, { content: { text: 'Zanzibarite at last.' } }, alex.team_id)
    const found = page.getByRole('link', { name: /^Only this session/ })
    for (let tries = 0; tries < 100 && (await found.count()) === 0; tries++) await page.goto('/search?q=zanzibarite')
    expect(await violations(page)).toEqual([])
  }),
)
