// Wide content and long names stay in their place, down to 320 px; who has no mouse sees where the focus is, and meets what a finger is to tap.
import { beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright'
import { proposalRoom } from '../support/demo-proposals.ts'
import { trace } from '../support/history.ts'
import { FULL } from '../support/full.ts'
import { MOBILE, withSite } from '../support/site.ts'

const LONG_NAME = 'The team that measures how long every parser takes on the corpus'
const LONG_LINE = `bun run measure ${'--corpus=fixtures/callers '.repeat(8)}--end`
const WIDE_TABLE = `| ${'Column with a title | '.repeat(6)}\n| ${'--- | '.repeat(6)}\n| ${'`notToBeBroken()` | '.repeat(6)}`
const NARROW = { ...MOBILE, viewport: { width: 320, height: 640 } }

const { parley, using, asRobin } = withSite()
let at: string
let traced: string
let room: Awaited<ReturnType<typeof proposalRoom>>
let documented: string
let resumed: string

beforeAll(async () => {
  room = await proposalRoom(parley.post, 'A title that is long enough to need the whole width of a phone')
  const { id, path, alex, propose } = room
  at = path
  await parley.post(`${at}/join`, { team_name: LONG_NAME })
  await propose({ title: 'Measure again', description: `${WIDE_TABLE}\n\n\`\`\`sh\n${LONG_LINE}\n\`\`\`` })
  for (const title of ['Write it down', 'Tell the editors']) await propose({ title, description: 'In the document.' })
  await parley.post(
    `/sessions/${id}/messages`,
    { content: { text: 'The parser takes 9.6 s.' } },
    (await parley.post(`${at}/join`, { team_name: 'Cleo' })).team_id,
  )
  await parley.post(`${at}/work`, { items: [{ title: `Measure ${'again '.repeat(20)}` }] }, alex)
  const old = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: LONG_NAME })
  documented = `/sessions/${old.session_id}`
  await parley.post(`${documented}/doc/append`, { text: 'It is 4.0.' }, old.team_id)
  await parley.post(`${documented}/conclude`, { summary_section: 'It is 4.0.' }, old.team_id)
  const title = 'Naming everything else that has a name by now'
  const next = await parley.post('/sessions', { title, description: '', creator_team_name: LONG_NAME, resume_from: old.session_id })
  resumed = `/sessions/${next.session_id}`
  await parley.post(`${resumed}/doc/append`, { text: 'The tools.' }, next.team_id)
  const call = { type: 'tool_call', tool: 'shell', content: { tool: 'shell', arguments: { command: LONG_LINE } } }
  const served = { ...parley, database: parley.services.database } as never
  traced = `/sessions/${(await trace(served, [[{ type: 'user_input', text: 'Measure' }, call]], { title: 'Measured once' })).id}`
}, 120_000)

const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

/** How far an element is cut off at the sides: by the window, or by an ancestor that cannot be scrolled. */
const cutBy = (one: Locator) =>
  one.evaluate((element) => {
    const { left, right } = element.getBoundingClientRect()
    let cut = Math.max(0, right - innerWidth, -left)
    for (let box = element.parentElement; box; box = box.parentElement) {
      const { overflowX } = getComputedStyle(box)
      if (overflowX !== 'hidden' && overflowX !== 'clip') continue
      const edge = box.getBoundingClientRect()
      cut = Math.max(cut, right - edge.right, edge.left - left)
    }
    return Math.round(cut)
  })

test('wide content scrolls in its own box: in a proposal, in the inbox and the feed, and in a tool call', async () => {
  const wrong: string[] = []
  for (const options of [NARROW, {}])
    await using(options, async (page) => {
      for (const path of ['/approvals', at, `${traced}/turns/1?event=2`]) {
        await page.goto(path)
        const code = page.locator('pre:visible', { hasText: '--end' }).first()
        const scrolls = await code.evaluate((pre) => pre.scrollWidth > pre.clientWidth)
        if ((await sideways(page)) > 0 || (await cutBy(code)) > 0 || !scrolls) wrong.push(path)
      }
    })
  expect(wrong).toEqual([])
}, 180_000)

test.skipIf(!FULL)('a long name fits into the choice of the convener', () =>
  using(NARROW, async (page) => {
    await asRobin(page, `${at}/convener`)
    expect(await sideways(page)).toBe(0)
    const label = page.locator('label', { hasText: LONG_NAME })
    expect(await cutBy(label)).toBe(0)
    expect(await label.evaluate((box) => box.scrollHeight - box.clientHeight)).toBe(0)
  }),
)

/** The focus comes by the keyboard to the first such element; what is around it: an outline that nothing cuts off. */
const ringOf = (page: Page, selector: string, pseudo?: string) =>
  page.evaluate(
    ([wanted, around]) => {
      const element = [...document.querySelectorAll<HTMLElement>(wanted!)].find((one) => one.checkVisibility())!
      element.focus()
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element, around)
      return outlineStyle === 'none' ? 'none' : `${outlineWidth} ${parseFloat(outlineOffset) < 0 ? 'inside' : 'outside'}`
    },
    [selector, pseudo] as const,
  )

test.skipIf(!FULL)('the focus shows on rows that are links, and where a box would cut it off it lies inside', () =>
  using({ viewport: { width: 800, height: 700 } }, async (page) => {
    const rings: Record<string, string> = {}
    for (const [path, selector, pseudo] of [
      ['/', `#sessions a[href="${at}"]`, '::after'],
      ['/search?q=parser', '#main ol a[href*="#m"]', '::after'],
      [at, '#tabs a'],
      ['/settings', '#sections a'],
      ['/approvals', '#groups h2 a'],
      [traced, '#turn summary'],
    ] as const) {
      await page.goto(path)
      await page.keyboard.press('Tab') // so that the focus is one of the keyboard
      rings[path] = await ringOf(page, selector, pseudo)
    }
    expect([...new Set(Object.values(rings))], JSON.stringify(rings)).toEqual(['2px inside'])
  }),
)

const boxes = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) =>
    all
      .filter((one) => one.checkVisibility())
      .map((one) => {
        const { width, height } = one.getBoundingClientRect()
        return { name: one.getAttribute('aria-label') ?? one.textContent.trim(), width: Math.round(width), height: Math.round(height) }
      }),
  )

test.skipIf(!FULL)('a phone leads from home to the records in one tap, and what a finger is to tap is large enough', () =>
  using(NARROW, async (page) => {
    const small: string[] = []
    for (const path of ['/', '/sign-in', at, '/approvals']) {
      if (path === at) await asRobin(page)
      await page.goto(path)
      expect([path, await sideways(page)]).toEqual([path, 0])
      for (const { name, width, height } of await boxes(page, ':is(header, main) [data-slot=button], #message'))
        if (Math.min(width, height) < 36) small.push(`${path}: ${name}, ${width} x ${height}`)
    }
    expect(small).toEqual([])
    await page.goto('/')
    await page.locator('header').getByRole('link', { name: 'Records' }).tap()
    await page.waitForURL('**/records')
    await page.goto('/search')
    expect(await page.locator('header [href="/search"]').count()).toBe(0)
  }),
)

test.skipIf(!FULL)('at 320 px a heading stands above the tabs, and what compares versions is whole', () =>
  using(NARROW, async (page) => {
    await page.goto('/approvals')
    const [heading, tabs] = [(await page.locator('h1').boundingBox())!, (await page.locator('[aria-label=Which]').boundingBox())!]
    const text = await page.locator('h1').evaluate((h1) => {
      const range = document.createRange()
      range.selectNodeContents(h1)
      return range.getBoundingClientRect().width
    })
    expect(heading.y + heading.height <= tabs.y || heading.x + text <= tabs.x).toBe(true)
    const summary = page.locator('#groups summary', { hasText: 'Approve these' })
    await asRobin(page, '/approvals')
    expect(await summary.locator('svg').isVisible()).toBe(true)
    await page.goto(`${documented}/history`)
    expect(await cutBy(page.getByRole('button', { name: 'Compare' }))).toBe(0)
  }),
)

test.skipIf(!FULL)('in the list of sessions the title goes before its badges, and a phone has them below it', async () => {
  for (const [options, least] of [
    [MOBILE, 200],
    [{ viewport: { width: 700, height: 800 } }, 250],
  ] as const)
    await using(options, async (page) => {
      await page.goto('/')
      const title = page.locator(`#sessions a[href="${resumed}"]`)
      expect((await title.boundingBox())!.width).toBeGreaterThan(least)
      expect(
        await page.locator(`#sessions li:has(a[href="${documented}"])`).locator('[data-slot=badge]', { hasText: 'Concluded' }).isVisible(),
      ).toBe(true)
    })
})

test.skipIf(!FULL)('what can be done about an item of the board lies over nothing that one reads', () =>
  using({ viewport: { width: 1280, height: 800 } }, async (page) => {
    await asRobin(page, `${at}/board`)
    const item = page.locator('.work').first()
    await item.hover()
    const [acts, title] = [(await item.locator('.work-acts').boundingBox())!, (await item.locator('p').first().boundingBox())!]
    expect(acts.y).toBeGreaterThanOrEqual(title.y + title.height - 6)
    const facts = (await item.locator('.work-facts').boundingBox())!
    expect(facts.x + facts.width).toBeLessThanOrEqual(acts.x)
  }),
)

test.skipIf(!FULL)('a name is cut before what is said of it; a command breaks, a configuration keeps its lines', () =>
  using({ viewport: { width: 1024, height: 700 } }, async (page) => {
    await asRobin(page, resumed)
    for (const said of ['is to conclude', ' · '])
      expect([
        said,
        await page
          .locator('#listening span, #written span')
          .getByText(said)
          .last()
          .evaluate((one) => one.scrollWidth - one.clientWidth),
      ]).toEqual([said, 0])
    expect(await cutBy(page.locator('#written'))).toBe(0)
    await page.goto('/connect')
    for (const [name, breaks] of [
      ['Post', true],
      ['opencode.json', false],
    ] as const) {
      const style = await page
        .locator('figure', { hasText: name })
        .first()
        .locator('pre')
        .evaluate((pre) => getComputedStyle(pre).whiteSpace)
      expect([name, style]).toEqual([name, breaks ? 'pre-wrap' : 'pre'])
    }
  }),
)

test.skipIf(!FULL)('in a low window the last chip of the teams keeps its dot', () =>
  using({ ...MOBILE, viewport: { width: 844, height: 390 } }, async (page) => {
    await page.goto(at)
    await page.locator('#roster').evaluate((list) => list.scrollTo(1_000, 0))
    const dot = page.locator('#roster li').last().locator('.dot').last()
    const [{ x, width }, list] = [(await dot.boundingBox())!, (await page.locator('#roster').boundingBox())!]
    expect(x + width + 2).toBeLessThanOrEqual(list.x + list.width)
  }),
)

test('a zoomed window of a laptop, as low as a phone on its side, shows what its session is about and who is there, and scrolls', () =>
  using({ viewport: { width: 720, height: 380 } }, async (page) => {
    const description = 'Every caller, with its line.'
    const zoomed = await parley.post('/sessions', { title: 'Measure again', description, creator_team_name: LONG_NAME })
    await page.goto(`/sessions/${zoomed.session_id}`)
    const chip = page.locator('#roster li').first()
    for (const shown of [page.locator('#session-head').getByText(description), chip.getByText(LONG_NAME)])
      expect((await shown.boundingBox())!.width).toBeGreaterThan(100)
    expect(await chip.getAttribute('title')).toStartWith(LONG_NAME) // the chip cuts it
    for (const width of [720, 1280]) {
      await page.setViewportSize({ width, height: 380 })
      await page.locator('#feed').evaluate((feed) => feed.scrollIntoView({ block: 'end' }))
      expect([width, (await page.evaluate<number>('scrollY')) > 0]).toEqual([width, true])
      expect((await page.locator('#scroller').boundingBox())!.height).toBeGreaterThan(100)
      expect(await sideways(page)).toBe(0)
    }
  }))

test('the same thing has the same name and the same words on every page, and a time says that it is UTC', () =>
  using({}, async (page) => {
    for (const path of ['/connect', '/settings']) {
      await page.goto(path)
      const labels = await page.locator('figcaption').allInnerTexts()
      expect(labels).toContain('Claude Code')
      expect(labels).toContain('Codex, config.toml')
    }
    await page.goto('/sign-in')
    await page.getByLabel('Key').fill('not-the-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').innerText()).toBe('That key is not valid.')
    await page.goto(`${documented}/history`)
    expect(await page.locator('[aria-label=Versions]').innerText()).toMatch(/just now|\d0s ago/)
    const id = await room.propose({ title: 'Tell the plugins', due_date: '2027-03-01T00:00:00Z' })
    await asRobin(page, `/approvals/${id}`)
    const card = page.locator(`#p${id}`)
    expect(await card.innerText()).toMatch(/Due\s+1 March 2027\n/)
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByText(/by Robin, \d\d:\d\d UTC/).waitFor()
    await page.goto(`${at}/records`)
    expect(await page.locator('.record-origin').last().innerText()).toMatch(/at \d\d:\d\d UTC/)
  }))
