// Wide content and long names stay in their place, down to 320 px; who has no mouse sees where the focus is, and meets what a finger is to tap.
import { beforeAll, expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright'
import { proposalRoom } from '../support/demo-proposals.ts'
import { trace } from '../support/history.ts'
import { MOBILE, withSite } from '../support/site.ts'

const LONG_NAME = 'The team that measures how long every parser takes on the corpus'
const LONG_LINE = `bun run measure ${'--corpus=fixtures/callers '.repeat(8)}--end`
const WIDE_TABLE = `| ${'Column with a title | '.repeat(6)}\n| ${'--- | '.repeat(6)}\n| ${'`notToBeBroken()` | '.repeat(6)}`
const NARROW = { ...MOBILE, viewport: { width: 320, height: 640 } }

const { parley, using, asRobin } = withSite()
let at: string
let traced: string

beforeAll(async () => {
  const { id, path, propose } = await proposalRoom(parley.post, 'A title that is long enough to need the whole width of a phone')
  at = path
  await parley.post(`${at}/join`, { team_name: LONG_NAME })
  await propose({ title: 'Measure again', description: `${WIDE_TABLE}\n\n\`\`\`sh\n${LONG_LINE}\n\`\`\`` })
  await propose({ title: 'Write it down', description: 'In the document.' })
  await parley.post(
    `/sessions/${id}/messages`,
    { content: { text: 'The parser takes 9.6 s.' } },
    (await parley.post(`${at}/join`, { team_name: 'Cleo' })).team_id,
  )
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
}, 60_000)

test('a long name fits into the choice of the convener', () =>
  using(NARROW, async (page) => {
    await asRobin(page, `${at}/convener`)
    expect(await sideways(page)).toBe(0)
    const label = page.locator('label', { hasText: LONG_NAME })
    expect(await cutBy(label)).toBe(0)
    expect(await label.evaluate((box) => box.scrollHeight - box.clientHeight)).toBe(0)
  }))

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

test('the focus shows on rows that are links, and where a box would cut it off it lies inside', () =>
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
  }))
