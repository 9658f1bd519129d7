// The session page where there is room for one pane, and for those who use no mouse.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { FULL, shortOf } from '../support/full.ts'
import { MOBILE, openLive, withSite } from '../support/site.ts'

const DESCRIPTION = 'Which parser ships with release 4, and who ports the callers. '.repeat(12)
const MESSAGES = 130 // more than a page begins with
const SOON = { timeout: 10_000 }

const { parley, using, asRobin } = withSite()
let at: string
let team: string

beforeAll(async () => {
  const alex = await parley.post('/sessions', {
    title: 'Shipping the parser',
    description: DESCRIPTION,
    creator_team_name: "Alex's Team",
    expected_teams: 1,
  })
  at = `/sessions/${alex.session_id}`
  team = alex.team_id!
  for (let n = 1; n <= MESSAGES; n++) await parley.post(`${at}/messages`, { content: { text: `Finding ${n}` } }, team)
  await parley.post(`${at}/doc`, { content: '# Plan\n\nWe ship it.\n\n'.repeat(40), expected_version: 0 }, team)
}, 120_000)

const tab = (page: Page, name: 'Feed' | 'Document') => page.locator('#tabs').getByRole('link', { name })

const underlined = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('#tabs a')]
      .filter((link) => !/, 0\)$|transparent/.test(getComputedStyle(link).borderBottomColor))
      .map((link) => link.firstChild!.textContent),
  )

/** One pane shows, its tab is underlined, and everything above it is in sight. */
const expectPane = async (page: Page, pane: 'Feed' | 'Document') => {
  await page.locator(pane === 'Feed' ? '#feed' : '#document').waitFor(SOON)
  expect(await page.locator('#feed').isVisible()).toBe(pane === 'Feed')
  expect(await page.locator('#document').isVisible()).toBe(pane === 'Document')
  expect(await underlined(page)).toEqual([pane])
  expect(await page.evaluate('[scrollX, scrollY, document.documentElement.scrollHeight - innerHeight]')).toEqual([0, 0, 0])
  expect((await page.locator('body > header').boundingBox())!.y).toBe(0)
  expect((await page.locator('#tabs').boundingBox())!.y).toBeLessThan(400)
}

const place = (page: Page) => page.locator('#scroller').evaluate((scroller) => scroller.scrollTop)

/** Scrolls the feed up, and returns where that is. Rows that come into sight get their true height then, and move the others' places. */
const scrollUp = async (page: Page) => {
  await page.locator('#scroller').evaluate((scroller) => scroller.scrollTo(0, -400))
  for (let before = Infinity, now = await place(page); ; [before, now] = [now, await place(page)]) {
    if (now === before) return now
    await page.waitForTimeout(100)
  }
}

const WINDOWS = [
  ['at 390 px', MOBILE],
  ['at 390 px without script', { ...MOBILE, javaScriptEnabled: false }],
  ['at 768 px', { viewport: { width: 768, height: 1024 } }],
] as const

for (const [name, options] of shortOf(WINDOWS, 2))
  test(`${name}: feed and document are tabs, the back button knows them, and the feed keeps its place`, () =>
    using(options, async (page, complaints) => {
      await page.goto(at)
      await expectPane(page, 'Feed')
      expect(await tab(page, 'Document').innerText()).toMatch(/^Document\s+v1$/)
      const there = await scrollUp(page)
      expect(there).toBeLessThan(-300)
      await tab(page, 'Document').click()
      await expectPane(page, 'Document')
      expect(await page.locator('#document [role=region]').evaluate((pane) => pane.scrollHeight > pane.clientHeight)).toBe(true)
      await tab(page, 'Feed').click()
      await expectPane(page, 'Feed')
      expect(await place(page)).toBe(there)
      await page.goBack()
      await expectPane(page, 'Document')
      await page.goBack()
      await expectPane(page, 'Feed')
      expect(await place(page)).toBe(there)
      expect(complaints).toEqual([])
    }))

test('a link to a message opens the feed there, also where it was not yet, and a link to the document the document', () =>
  using(MOBILE, async (page) => {
    await page.goto(`${at}#document`)
    await expectPane(page, 'Document')
    await page.evaluate("location.hash = 'm120'")
    await expectPane(page, 'Feed')
    expect(await inSight(page, '#m120')).toBe(true)
    await page.goto(`${at}?around=5#m5`)
    await expectPane(page, 'Feed')
    expect(await inSight(page, '#m5')).toBe(true)
    await page.goto(`${at}#doc`) // something in the document
    await expectPane(page, 'Document')
  }))

test('from the board and the records a link at the head to what needs a person opens the feed there', () =>
  using(MOBILE, async (page, complaints) => {
    const alex = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: "Alex's Team" })
    await parley.services.database.query('insert into loops (session_id, suspected_at) values ($1, now())', [alex.session_id])
    const path = `/sessions/${alex.session_id}`
    for (const side of ['board', 'records']) {
      await page.goto(`${path}/${side}`)
      await page.getByRole('link', { name: 'Needs a person' }).tap()
      await page.waitForURL(`**${path}#loop`, SOON)
      await expectPane(page, 'Feed')
      expect(await page.locator('#loop').isVisible()).toBe(true)
      await page.goBack()
      await page.locator(`[data-panel=${side}]`).waitFor(SOON)
    }
    expect(complaints).toEqual([])
  }))

const inSight = (page: Page, row: string) =>
  page.locator(row).evaluate(async (element) => {
    for (let i = 0; i < 100; i++) {
      const { top, bottom } = element.getBoundingClientRect()
      const scroller = document.getElementById('scroller')!.getBoundingClientRect()
      if (top >= scroller.top - 1 && bottom <= scroller.bottom + 1) return true
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return false
  })

test.skipIf(!FULL)('the tab says the newest version, and to those who hear the page which one is chosen', () =>
  using(MOBILE, async (page, complaints) => {
    await page.goto(at)
    expect(await tab(page, 'Feed').getAttribute('aria-current')).toBe('true')
    await tab(page, 'Document').click()
    await page.locator('#tabs [href="#document"][aria-current=true]').waitFor(SOON)
    expect(await tab(page, 'Feed').getAttribute('aria-current')).toBe(null)
    const { version } = await parley.post(`${at}/doc/append`, { text: '\n\n## Risks\n' }, team)
    await page.locator('#tabs', { hasText: `v${version}` }).waitFor(SOON)
    await expectPane(page, 'Document')
    const news = page.locator('#tabs [data-news]')
    expect(await news.count()).toBe(0) // one looks at it
    await tab(page, 'Feed').click()
    await parley.post(`${at}/doc/append`, { text: '- none' }, team)
    await news.waitFor(SOON)
    expect(await violations(page)).toEqual([])
    await tab(page, 'Document').click()
    await news.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  }),
)

test('messages that come while something else shows are news: the title and the tab say so, and the next visit does', () =>
  using(MOBILE, async (page, complaints) => {
    const alex = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: "Alex's Team" })
    const path = `/sessions/${alex.session_id}`
    const say = (text: string) => parley.post(`${path}/messages`, { content: { text } }, alex.team_id)
    const titled = (title: string) => page.waitForFunction((is) => document.title === is, title, SOON)
    const news = page.locator('#tabs [data-side=feed][data-news]')
    await openLive(page, path)
    await say('seen')
    await page.locator('#m1').waitFor(SOON)
    await tab(page, 'Document').click()
    for (const text of ['one', 'two']) await say(text)
    await titled('(2) Naming the release · Parley')
    expect(await news.count()).toBe(1)
    await page.goto('/')
    await page.goto(path)
    expect(await page.locator('#unread + .row').getAttribute('id')).toBe('m2')
    await titled('Naming the release · Parley')
    await openLive(page, `${path}/board`)
    await say('three')
    await titled('(1) Naming the release · Parley')
    expect(await news.count()).toBe(1)
    await openLive(page, `${path}#document`)
    await say('four')
    await titled('(1) Naming the release · Parley')
    await tab(page, 'Feed').click()
    await titled('Naming the release · Parley')
    expect(await news.count()).toBe(0)
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('a link to a heading of the document opens it there, and stays in the document when the heading goes', () =>
  using(MOBILE, async (page, complaints) => {
    const alex = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: "Alex's Team" })
    const path = `/sessions/${alex.session_id}`
    const write = (content: string, expected_version: number) => parley.post(`${path}/doc`, { content, expected_version }, alex.team_id)
    const before = `# Plan\n\n${'We ship it.\n\n'.repeat(60)}`
    await write(`${before}## Größe\n\n${'Small.\n\n'.repeat(60)}`, 0)
    await page.goto(path)
    await tab(page, 'Document').click()
    const heading = page.locator('#doc h2')
    await heading.getByRole('link', { name: 'Link to this section' }).press('Enter')
    await page.waitForURL('**#doc-gr%C3%B6%C3%9Fe')
    const atTop = () => page.waitForFunction(() => document.querySelector('#doc h2')!.getBoundingClientRect().top < 300, null, SOON)
    await atTop()
    await page.goto('/')
    await page.goto(`${path}#doc-größe`)
    await expectPane(page, 'Document')
    await atTop()
    expect(await page.locator('#tabs [href="#document"]').getAttribute('aria-current')).toBe('true')
    await write(`${before}One more.\n\n## Größe\n\nSmall.`, 1)
    await page.locator('#doc[data-version="2"]').waitFor(SOON)
    await expectPane(page, 'Document')
    expect(await heading.evaluate((element) => element.matches(':target'))).toBe(true)
    await write(before, 2)
    await page.locator('#doc[data-version="3"]').waitFor(SOON)
    await expectPane(page, 'Document')
    expect(new URL(page.url()).hash).toBe('#document')
    await page.goto('/')
    await page.goto(`${path}#doc-no-more`)
    await page.waitForURL('**#document')
    await expectPane(page, 'Document')
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('in a window too low for all of it the page scrolls, and the tabs stay', () =>
  using({ ...MOBILE, viewport: { width: 844, height: 390 } }, async (page) => {
    await page.goto(at)
    await tab(page, 'Document').click()
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0)
    expect((await tab(page, 'Feed').boundingBox())!.y).toBeGreaterThanOrEqual(0)
    expect((await page.locator('#doc h1').first().boundingBox())!.y).toBeLessThan(390)
    await tab(page, 'Feed').click()
    expect((await page.locator('#scroller').boundingBox())!.height).toBeGreaterThan(150)
    expect((await page.locator('[aria-label=Session]').boundingBox())!.height).toBeLessThan(80) // the title and the teams' marks
  }),
)

test.skipIf(!FULL)('a long description opens and closes, by a click and by the keyboard', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    await page.goto(at)
    const [summary, text] = [page.locator('#session-head summary'), page.getByRole('region', { name: 'Description' })]
    await summary.click()
    expect(await text.isVisible()).toBe(true)
    expect(await summary.innerText()).toBe('Show less')
    await summary.click()
    expect(await text.isVisible()).toBe(false)
    expect(await summary.innerText()).toStartWith('Which parser ships')
    for (const open of [true, false]) {
      await page.keyboard.press('Enter')
      expect(await text.isVisible()).toBe(open)
      expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true)
    }
  }),
)

test('the first Tab stops lead to the content, the document and the composer', () =>
  using({ viewport: { width: 1280, height: 800 } }, async (page) => {
    const focused = () => page.evaluate(() => document.activeElement!.textContent!.trim())
    await asRobin(page, at)
    const skips = ['Skip to content', 'Skip to the document', 'Skip to the composer']
    for (const skip of skips) {
      await page.keyboard.press('Tab')
      expect(await focused()).toBe(skip)
    }
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('message')
    await page.goto(at)
    for (const key of ['Tab', 'Tab', 'Enter', 'Tab']) await page.keyboard.press(key)
    expect(await focused()).toBe('Document')
    expect(await page.evaluate(() => document.activeElement!.closest('section')!.id)).toBe('document')
    expect(await page.evaluate('scrollY')).toBe(0)
  }))

test.skipIf(!FULL)('on a phone the content is the tab that shows', () =>
  using({ ...MOBILE, javaScriptEnabled: false }, async (page) => {
    for (const [pane, address] of [
      ['Document', `${at}#document`],
      ['Feed', `${at}#feed`],
      ['Feed', at],
    ] as const) {
      await page.goto('/')
      await page.goto(address)
      const skip = page.locator('body > a:visible', { hasText: 'Skip to content' })
      expect(await skip.count()).toBe(1)
      await skip.press('Enter')
      await page.waitForURL(pane === 'Document' ? '**#document' : '**#main')
      await expectPane(page, pane)
    }
  }),
)

test.skipIf(!FULL)('the composer is a Tab stop of the first ones for as long as there is one', () =>
  using({}, async (page, complaints) => {
    const alex = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: "Alex's Team" })
    const path = `/sessions/${alex.session_id}`
    await asRobin(page, path)
    const skip = page.locator('body > a', { hasText: 'Skip to the composer' })
    expect(await skip.isVisible()).toBe(true)
    await parley.post(`${path}/conclude`, { summary_section: 'It is 4.0.' }, alex.team_id)
    await skip.waitFor({ state: 'hidden', ...SOON })
    await page.reload()
    expect(await skip.isVisible()).toBe(false)
    await parley.post(`${path}/reopen`, { reason: 'One more name.' }, alex.team_id)
    await page.evaluate(() => dispatchEvent(new Event('online'))) // else the page looks again within 30 s
    await skip.waitFor(SOON)
    expect(await skip.isVisible()).toBe(true)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('another theme keeps what was typed, where the focus was, and the next page', () =>
  using({ colorScheme: 'light' }, async (page, complaints) => {
    await asRobin(page, at)
    await page.locator('#message').fill('Half a sentence')
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    const switchTo = async (theme: string) => {
      const kept = page.waitForResponse('**/theme')
      await page.getByRole('button', { name: new RegExp(`Switch to ${theme}$`) }).press('Enter')
      await kept
      expect(await page.evaluate('document.documentElement.className')).toBe(theme)
      expect(await page.evaluate('document.activeElement.ariaLabel')).toStartWith(`Theme: ${theme}.`)
    }
    await switchTo('light')
    expect(await background()).toBe(light)
    await switchTo('dark')
    expect(await background()).not.toBe(light)
    expect(await page.locator('meta[name=color-scheme]').getAttribute('content')).toBe('dark')
    expect(await page.locator('#message').inputValue()).toBe('Half a sentence')
    await page.goto('/settings')
    expect(await page.locator('html.dark').count()).toBe(1)
    const pressed = page.locator('#theme [aria-pressed=true]')
    expect(await pressed.innerText()).toBe('Dark')
    await page.getByLabel('New link').fill('https://half.exam')
    await switchTo('system')
    expect(await pressed.innerText()).toBe('System')
    await page.getByRole('button', { name: 'Light', exact: true }).click()
    expect(await pressed.innerText()).toBe('Light')
    expect(await page.getByLabel('New link').inputValue()).toBe('https://half.exam')
    expect(await page.getByRole('button', { name: /^Theme: / }).count()).toBe(1)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)(
  'nothing in the header lies over another thing, whoever reads and however narrow the screen',
  async () => {
    const over = (page: Page) =>
      page.$$eval('header a, header button', (all) => {
        const seen = all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0)
        return seen.slice(1).filter(({ left }, i) => left < seen[i]!.right - 1).length
      })
    for (const width of [320, 360, 375, 390])
      for (const signedIn of [true, false])
        await using({ ...MOBILE, viewport: { width, height: 640 } }, async (page) => {
          if (signedIn) await asRobin(page)
          await page.goto(at)
          expect(`${width}: ${await over(page)}`).toBe(`${width}: 0`)
          expect(await page.locator('header a:visible, header button:visible').count()).toBeGreaterThan(4)
        })
  },
  180_000,
)

test.skipIf(!FULL)(
  'of a message to many one sees whose it is, and to whom it goes',
  async () => {
    const { post } = parley
    const convener = await post('/sessions', { title: 'Many teams', description: '', creator_team_name: 'Alex' })
    const path = `/sessions/${convener.session_id}`
    const names = Array.from({ length: 12 }, (_, i) => `The team with the number ${i}`)
    let last = convener
    for (const team_name of names) last = await post(`${path}/join`, { team_name })
    await post(`${path}/messages`, { content: { text: 'To all.' }, to: names }, convener.team_id)
    await post(`${path}/messages`, { content: { text: 'To most.' }, to: names.slice(1, -1) }, last.team_id)
    for (const options of [{}, { ...MOBILE, viewport: { width: 320, height: 640 } }])
      await using(options, async (page) => {
        await page.goto(path)
        const short = page.locator('.row-message', { hasText: 'To all.' }).locator('.truncate').first()
        expect(await short.evaluate((name) => name.scrollWidth - name.clientWidth)).toBe(0)
        for (const to of await page.locator('.row-message [title]:has(bdi)').all()) {
          expect((await to.boundingBox())!.width).toBeGreaterThan(20)
          expect(await to.getAttribute('title')).toContain('number 10')
        }
        expect(await page.locator('.row-message [title]:has(bdi)').count()).toBe(2)
      })
  },
  180_000,
)
