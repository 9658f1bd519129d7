// The trace viewer as people use it: from turn to turn, into what is folded, and to one event by its link.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { demoTranscript } from '../support/demo-transcript.ts'
import { indexed, trace, type Step } from '../support/history.ts'
import { FULL } from '../support/full.ts'
import { MOBILE, withSite } from '../support/site.ts'

const TURNS = 1_050

const { parley, using } = withSite()
let at: string
let long: string

beforeAll(async () => {
  const answer = await fetch(`${parley.url}/api/traces`, { method: 'POST', body: demoTranscript() })
  at = `/sessions/${((await answer.json()) as { session_id: string }).session_id}`
  const turn = (n: number): Step[] => [
    { type: 'user_input', text: `Prompt ${n}` },
    { type: 'assistant_response', text: `Answer ${n}`, terminal: true },
  ]
  const served = { ...parley, database: parley.services.database } as never
  long = `/sessions/${
    (
      await trace(
        served,
        Array.from({ length: TURNS }, (_, i) => turn(i + 1)),
      )
    ).id
  }`
}, 120_000)

const heading = (page: Page) => page.locator('#turn h2').innerText()
const current = (page: Page) =>
  page.locator('#turns [aria-current=page]').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
const turnLink = (page: Page, n: number) => page.locator(`#turns a[href="${at}/turns/${n}"]`)
const shows = (page: Page, turn: number) =>
  page.waitForFunction((n) => document.querySelector('#turn h2')?.textContent.startsWith(`Turn ${n} `), turn)
const isOpen = (page: Page, id: string) => page.locator(id).evaluate((fold) => (fold as HTMLDetailsElement).open)
const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
const unfoldAll = (page: Page) =>
  page.evaluate(() => document.querySelectorAll('#turn details').forEach((fold) => ((fold as HTMLDetailsElement).open = true)))
/** A mark on the page that a new page would not have. */
const remember = (page: Page) => page.evaluate(() => void ((window as any).still = true))
const isStill = (page: Page) => page.evaluate(() => (window as any).still === true)

test('a turn comes into the page that is open; back, forward and the keys lead from turn to turn', () =>
  using({}, async (page, complaints) => {
    await page.goto(at)
    await remember(page)
    expect([await heading(page), await current(page)]).toEqual(['Turn 1 of 4', [`${at}/turns/1`]])
    await turnLink(page, 3).click()
    await shows(page, 3)
    expect([new URL(page.url()).pathname, await current(page)]).toEqual([`${at}/turns/3`, [`${at}/turns/3`]])
    expect(await page.title()).toStartWith('Turn 3 · The parser loses')
    await page.getByRole('link', { name: 'Next turn' }).click()
    await shows(page, 4)
    expect(await page.getByRole('link', { name: 'Next turn' }).count()).toBe(0)
    await page.keyboard.press('p')
    await shows(page, 3)
    await page.keyboard.press('[')
    await shows(page, 2)
    await page.keyboard.press('n')
    await shows(page, 3)
    await page.goBack()
    await shows(page, 2)
    expect(await current(page)).toEqual([`${at}/turns/2`])
    await page.goForward()
    await shows(page, 3)
    for (let i = 0; i < 5; i++) await page.goBack()
    await shows(page, 1)
    expect([new URL(page.url()).pathname, await isStill(page)]).toEqual([at, true])
    await page.getByLabel('Search in this session').press('n')
    expect(await heading(page)).toBe('Turn 1 of 4')
    expect(complaints).toEqual([])
  }))

test('a call and its result stand together and unfold; what is long comes when it is asked for', () =>
  using({}, async (page, complaints) => {
    await page.goto(at)
    const card = page.locator('#e5').locator('..')
    expect(await card.innerText()).toMatch(/Bash\s+bun test tests\/parser --bail\s+Result\s+Error: Exit code 1\s+2 s\s+exit 1/)
    expect(await card.locator('#e6').count()).toBe(1)
    expect(await page.getByText('git status --short').isVisible()).toBe(false)
    await page.locator('#e5 summary').click()
    expect(await page.getByText('git status --short').isVisible()).toBe(true)
    expect(await page.locator('#e6 pre').isVisible()).toBe(false)
    await page.locator('#e10 summary').click()
    await remember(page)
    expect(await page.locator('#e10').innerText()).not.toContain('part259')
    await page
      .locator('#e10')
      .getByRole('link', { name: /^Show all [\d,]+ characters$/ })
      .click()
    await page.locator('#e10', { hasText: 'part259' }).waitFor()
    expect([await isStill(page), await page.locator('#e10').getByText('Show all').count()]).toEqual([true, 0])
    const { inner, outer } = await page.locator('#e10 pre').evaluate((pre) => ({ inner: pre.scrollHeight, outer: pre.clientHeight }))
    expect(inner).toBeGreaterThan(outer) // it scrolls in itself
    expect(await page.getByText('2 notes').count()).toBe(1)
    expect(complaints).toEqual([])
  }))

test('a link to an event shows it unfolded, in sight and marked, also when only its hash says so', () =>
  using({ viewport: { width: 1000, height: 500 } }, async (page, complaints) => {
    const inSight = (id: string) =>
      page.waitForFunction((id) => {
        const { top } = document.querySelector(id)!.getBoundingClientRect()
        return top >= 0 && top < innerHeight
      }, id)
    const background = (id: string) => page.locator(id).evaluate((element) => getComputedStyle(element).backgroundColor)
    await page.goto(`${at}/turns/1?event=10#e10`)
    await inSight('#e10')
    expect([await isOpen(page, '#e10'), await isOpen(page, '#e6')]).toEqual([true, false])
    expect(await page.locator('#e10').innerText()).toContain('part259')
    expect(await background('#e10')).not.toBe(await background('#e6'))
    await page.goto(`${at}/turns/1#e14`)
    await inSight('#e14')
    expect([await isOpen(page, '#e14'), await isOpen(page, '#e13')]).toEqual([true, false])
    await page.goto(`${at}/turns/1#e12`) // among gathered notes
    await inSight('#e12')
    expect(await page.locator('#e12 dt').isVisible()).toBe(true)
    expect(complaints).toEqual([])
  }))

test('without script all of it is there: links, folds, the whole of what is long, the turns on a phone', () =>
  using({ ...MOBILE, javaScriptEnabled: false }, async (page) => {
    await page.goto(at)
    expect(await turnLink(page, 3).isVisible()).toBe(false)
    await page.getByText('Turns 4').click()
    await turnLink(page, 3).click()
    await page.waitForURL(`**${at}/turns/3`)
    expect(await heading(page)).toBe('Turn 3 of 4')
    await page.getByRole('link', { name: /^Show all/ }).click()
    await page.waitForURL(/event=\d+#e\d+$/)
    expect(await page.getByRole('link', { name: /^Show all/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Previous turn' }).click()
    expect(await heading(page)).toBe('Turn 2 of 4')
    await page.getByLabel('Search in this session').fill('regexp')
    await page.getByLabel('Search in this session').press('Enter')
    await page.waitForURL(
      ({ pathname, searchParams }) => pathname === '/search' && searchParams.get('session') === at.slice('/sessions/'.length),
    )
  }))

test.skipIf(!FULL)('the turns of a meeting say who spoke, and its joins look like joins', () =>
  using({}, async (page, complaints) => {
    const alex = await parley.post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
    const room = `/sessions/${alex.session_id}`
    const bea = await parley.post(`${room}/join`, { team_name: "Bea's Team" })
    await parley.post(`${room}/messages`, { content: { text: 'The lexer is mine.' } }, alex.team_id)
    await parley.post(`${room}/messages`, { content: { text: 'Then the printer is mine.' } }, bea.team_id)
    await page.goto(`${room}/turns/1`)
    const rows = await page.locator('#turns a[data-part=turn]').allInnerTexts()
    expect(rows).toEqual([expect.stringMatching(/Alex's Team[^]*2 events/), expect.stringContaining("Bea's Team")])
    expect(rows[1]).not.toContain('event')
    expect(await page.locator('#turns [data-hue]').count()).toBe(2)
    expect(await page.locator('#e1 use').first().getAttribute('href')).toBe('#i-join')
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('a session of a thousand turns begins with a hundred, and more of them come when they are asked for', () =>
  using({}, async (page, complaints) => {
    await page.goto(`${long}/turns/950`)
    await remember(page)
    const listed = () => page.locator('#turns a[data-part=turn]').count()
    expect([await listed(), await current(page)]).toEqual([100, [`${long}/turns/950`]])
    await page
      .getByRole('link', { name: '50 more' })
      .or(page.getByRole('link', { name: '100 more' }))
      .click()
    await page.waitForFunction(() => document.querySelectorAll('#turns a[data-part=turn]').length > 100)
    await page.getByRole('link', { name: 'Earlier turns' }).click()
    await page.waitForFunction(() => document.querySelectorAll('#turns a[data-part=turn]').length > 200)
    expect([await listed(), await isStill(page), await current(page)]).toEqual([250, true, [`${long}/turns/950`]])
    const numbers = await page
      .locator('#turns a[data-part=turn]')
      .evaluateAll((all) => all.map((link) => Number(link.getAttribute('href')!.split('/').at(-1))))
    expect(numbers).toEqual(Array.from({ length: 250 }, (_, i) => 801 + i))
    await page.goto(`${long}/turns/700`)
    await page.getByRole('link', { name: 'Next turn' }).click() // not in the list: a page of its own
    await page.waitForURL(`**${long}/turns/701`)
    expect([await heading(page), await listed()]).toEqual(['Turn 701 of 1,050', 100])
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('a piece that cannot be brought leads to its page, which says why', () =>
  using({}, async (page) => {
    await page.goto(at)
    await page.evaluate(() => document.querySelector('#turns a[href$="/turns/2"]')!.setAttribute('href', `${location.pathname}/turns/77`))
    await page.locator('#turns a[href$="/turns/77"]').click()
    await page.getByText('There is no turn 77').waitFor()
    expect(new URL(page.url()).pathname).toBe(`${at}/turns/77`)
  }),
)

test('a hit of the search leads to its event', () =>
  using({}, async (page, complaints) => {
    await indexed({ database: parley.services.database } as never)
    await page.goto(at)
    await page.getByLabel('Search in this session').fill('subtracted')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.locator('main ol').getByRole('link', { name: 'subtracted' }).first().click()
    await page.waitForURL(`**${at}/turns/1?event=17#e17`)
    expect(await page.locator('#e17').innerText()).toContain('All 42 tests pass.')
    expect(complaints).toEqual([])
  }))

for (const colorScheme of ['light', 'dark'] as const)
  test.skipIf(!FULL)(
    `${colorScheme}: folded and unfolded it hinders nobody, wide or at 390 px, and nothing scrolls sideways`,
    async () => {
      for (const options of [{ viewport: { width: 1280, height: 800 } }, MOBILE])
        await using({ ...options, colorScheme }, async (page, complaints) => {
          for (const path of [at, `${at}/turns/2`, `${at}/turns/4`]) {
            await page.goto(path)
            expect(await violations(page, colorScheme)).toEqual([])
            await unfoldAll(page)
            if (options === MOBILE) await page.getByText('Turns 4').click()
            expect([path, await violations(page, colorScheme), await sideways(page)]).toEqual([path, [], 0])
          }
          expect(complaints).toEqual([])
        })
    },
    180_000,
  )
