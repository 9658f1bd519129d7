// Home while it is open: it follows what happens, and does not disturb its reader.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { serveSite, withSite, type Site } from '../support/site.ts'

const { parley, using } = withSite()
let empty: Site

beforeAll(async () => {
  empty = await serveSite()
  for (let n = 0; n < 12; n++) await begin(`Session ${n}`)
}, 120_000)

afterAll(() => empty?.stop())

const EVERY_MS = 15_000
const WIDE = { viewport: { width: 1280, height: 500 } }

const begin = async (title: string, { post } = parley) => {
  const { session_id, team_id } = await post('/sessions', { title, description: '', creator_team_name: "Alex's Team" })
  const act = (name: string, input: object) => post(`/sessions/${session_id}/${name}`, input, team_id)
  return { id: session_id!, act, say: (text: string) => act('messages', { content: { text } }) }
}

/** Home, with a clock that the test moves on, and how often the page has asked for news. */
const atHome = (
  path: string,
  work: (page: Page, asked: () => number, complaints: string[]) => Promise<void>,
  site = parley,
): Promise<void> =>
  using(
    WIDE,
    async (page, complaints) => {
      let asked = 0
      page.on('request', (request) => void (new URL(request.url()).searchParams.has('part') && asked++))
      await page.clock.install()
      await page.goto(path)
      await work(page, () => asked, complaints)
    },
    site,
  )

const passes = async (page: Page) => {
  const answered = page.waitForResponse((response) => response.url().includes('part=live'))
  await page.clock.runFor(EVERY_MS + 1_000)
  await (await answered).finished()
}
const titles = (page: Page) => page.locator('#sessions li a').allTextContents()
const figure = (page: Page, label: string) => page.locator('#figures div', { hasText: label }).locator('dd').textContent()
const row = (page: Page, id: string) => page.locator(`#s-${id}`)
const hide = (page: Page, hidden: boolean) =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { value: is, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

test('what begins and is said meanwhile comes by itself, and the figures with it', () =>
  atHome('/', async (page, asked, complaints) => {
    const before = (await titles(page)).length
    expect(asked()).toBe(0)
    const later = await begin('A later one')
    await later.say('its first word')
    await passes(page)
    await row(page, later.id).waitFor()
    expect(await titles(page)).toHaveLength(before + 1)
    expect((await titles(page))[0]).toBe('A later one')
    expect(await row(page, later.id).textContent()).toContain("Alex's Team: its first word")
    expect(await figure(page, 'Live sessions')).toBe(`${before + 1}of ${before + 1}`)
    await later.say('and its second')
    await passes(page)
    await row(page, later.id).getByText('and its second').waitFor()
    expect(complaints).toEqual([])
  }))

test('a session whose teams go round in circles says so by itself, comes first, and is counted until it is released', () =>
  atHome('/', async (page, _, complaints) => {
    const { query } = parley.services.database
    const last = (await page.locator('#sessions li').last().getAttribute('id'))!.slice(2)
    expect(await page.locator('#figures').textContent()).toContain('Last event')
    await query('insert into loops (session_id, suspected_at) values ($1, now())', [last])
    await passes(page)
    await page.locator(`#sessions li:first-child[id="s-${last}"]`, { hasText: 'Needs a person' }).waitFor()
    expect(await titles(page)).toHaveLength(new Set(await titles(page)).size)
    expect(await figure(page, 'Need a person')).toBe('1')
    await page.setViewportSize({ width: 390, height: 700 })
    expect(await row(page, last).getByText('Needs a person').isVisible()).toBe(true)
    await query('update loops set suspected_at = null where session_id = $1', [last])
    await passes(page)
    await row(page, last).getByText('Needs a person').waitFor({ state: 'detached' })
    expect(await page.locator('#figures').textContent()).toContain('Last event')
    expect(complaints).toEqual([])
  }))

test('a concluded session says what was concluded, and a renamed one its new title', () =>
  atHome('/', async (page, _, complaints) => {
    const [plain, long, renamed] = [await begin('A plain one'), await begin('A long one'), await begin('A renamed one')]
    await plain.say('the last word')
    await plain.act('conclude', { summary_section: '### Agreed\n\nThe **lexer** stays:\n\n```ts\nlex()\n```' })
    await long.act('doc', { content: `# Notes\n\n${'All that was said. '.repeat(9_000)}\n`, expected_version: 0 })
    await long.act('conclude', { summary_section: `Nothing is split. ${'Because. '.repeat(90)}` })
    await renamed.act('metadata', { title: 'The new name', reason: 'the old one was wrong' })
    await passes(page)
    await row(page, plain.id).getByText('Agreed The lexer stays: lex()', { exact: true }).waitFor()
    await row(page, long.id).getByText('Nothing is split. Because.').waitFor()
    await row(page, renamed.id).getByText("Alex's Team renamed the session to “The new name”", { exact: true }).waitFor()
    await parley.services.database.query(`update session_docs set content = '' where session_id = $1`, [plain.id])
    await passes(page)
    await row(page, plain.id).getByText("Alex's Team concluded the session").waitFor()
    expect(complaints).toEqual([])
  }))

test('whoever reads further down keeps the place and the focus while a session goes to the top', () =>
  atHome('/', async (page) => {
    const read = await page.locator('#sessions li').nth(7).getAttribute('id')
    await page.locator(`#${read} a`).focus()
    await page.evaluate(() => scrollTo(0, 300))
    await page.screenshot() // the browser chooses what it keeps in place when it paints
    const top = () => page.locator(`#${read}`).evaluate((element) => Math.round(element.getBoundingClientRect().top))
    const before = await top()
    await page.evaluate((id) => Object.assign(document.getElementById(id)!, { same: true }), read!)
    const later = await begin('A later one')
    await passes(page)
    await row(page, later.id).waitFor({ state: 'attached' })
    expect(Math.abs((await top()) - before)).toBeLessThan(4)
    const focused = () => page.evaluate(() => document.activeElement?.closest('li')?.id)
    expect(await focused()).toBe(read!)
    expect(await page.evaluate((id) => 'same' in document.getElementById(id)!, read!)).toBe(true)
    const query = 'update sessions set last_event_at = now() where id = $1'
    await parley.services.database.query(query, [read!.slice(2)])
    await passes(page)
    await page.locator(`#sessions li:first-child[id="${read}"]`).waitFor({ state: 'attached' })
    expect(await focused()).toBe(read!) // it went to the top itself
  }))

test('what is being typed into the search stays, with the caret', () =>
  atHome('/', async (page) => {
    const search = page.locator('#sessions input[type=search]')
    await search.pressSequentially('parser')
    await page.keyboard.press('ArrowLeft')
    const later = await begin('A later one')
    await passes(page)
    await row(page, later.id).waitFor()
    expect(await search.inputValue()).toBe('parser')
    await page.keyboard.type('-')
    expect(await search.inputValue()).toBe('parse-r')
  }))

test('before the first session what is there to copy can be copied for as long as the page is open', () =>
  atHome(
    '/',
    async (page) => {
      const copy = page.locator('#sessions [data-copy]')
      expect(await copy.first().isVisible()).toBe(true)
      await page.evaluate("document.addEventListener('htmx:after:swap', () => (document.body.dataset.swapped = ''))")
      await passes(page)
      await page.waitForFunction("document.body.matches('[data-swapped]')")
      expect(await copy.count()).toBe(2)
      for (const button of await copy.all()) expect(await button.isVisible()).toBe(true)
    },
    empty,
  ))

test('the first session takes the place of what stands there before', () =>
  atHome(
    '/',
    async (page) => {
      expect(await page.locator('#sessions').textContent()).toContain('No session yet')
      const first = await begin('The first', empty)
      await passes(page)
      await row(page, first.id).waitFor()
      expect(await page.locator('#sessions').textContent()).not.toContain('No session yet')
      expect(await page.locator('#sessions input[type=search]').isVisible()).toBe(true)
    },
    empty,
  ))

test('a filter stays, and a session that is no longer of it goes', () =>
  atHome('/?status=live', async (page) => {
    const [id] = await page.locator('#sessions li').evaluateAll((rows) => rows.map((one) => one.id.slice(2)))
    await parley.services.database.query(`update sessions set last_event_at = now() - interval '1 hour' where id = $1`, [id])
    await parley.services.database.query(`update participants set last_seen_at = now() - interval '1 hour' where session_id = $1`, [id])
    await passes(page)
    await row(page, id!).waitFor({ state: 'detached' })
    expect(await page.locator('#sessions nav [aria-current]').textContent()).toBe('Live')
    await page.goto('/?status=idle')
    expect(await page.locator('#sessions li').count()).toBe(1)
    expect(await row(page, id!).locator('.sr-only').first().textContent()).toBe('Idle')
  }))

test('nothing is asked for while nobody sees it, and at once when somebody does again', () =>
  atHome('/', async (page, asked) => {
    await hide(page, true)
    await page.clock.runFor(10 * EVERY_MS)
    expect(asked()).toBe(0)
    const later = await begin('A later one')
    await hide(page, false)
    await page.clock.runFor(1_000)
    await row(page, later.id).waitFor()
    expect(asked()).toBe(1)
  }))

test('while the server is away the page says that it is not up to date, and when it was closed to its reader, that it was', () =>
  atHome('/', async (page) => {
    const bar = page.locator('#reconnecting')
    const shown = async (text: string) => {
      while (!(await bar.filter({ hasText: text }).isVisible())) await page.clock.runFor(1_000)
    }
    expect(await bar.isVisible()).toBe(false)
    await page.route('**/*part=live', (route) => route.abort('connectionrefused'))
    await shown('Reconnecting…')
    await page.unroute('**/*part=live')
    const later = await begin('A later one')
    await bar.getByRole('button', { name: 'Retry now' }).click()
    await row(page, later.id).waitFor()
    await bar.waitFor({ state: 'hidden' })
    await page.route('**/*part=live', (route) => route.fulfill({ status: 503, body: 'not now' }))
    await shown('Reconnecting…')
    await page.route('**/*part=live', (route) => route.fulfill({ status: 303, headers: { location: '/sign-in' } }))
    await shown('You no longer have access to this page.')
  }))

test('what a search has found stays as it was given', () =>
  atHome('/?q=session', async (page, asked) => {
    await page.clock.runFor(4 * EVERY_MS)
    expect(asked()).toBe(0)
  }))
