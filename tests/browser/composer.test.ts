// What a person types, how it reads in the feed, and what becomes of it when it cannot be sent.
import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { FULL, shortOf } from '../support/full.ts'
import { MOBILE, openLive, withSite } from '../support/site.ts'

const { parley, using, asRobin } = withSite()

const WIDE = { viewport: { width: 1280, height: 800 } }

/** A session that Alex's Team convenes; its page as Robin sees it. */
const meeting = async (...texts: string[]) => {
  const alex = await parley.post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  const at = `/sessions/${alex.session_id}`
  const say = (text: string) => parley.post(`${at}/messages`, { content: { text } }, alex.team_id)
  for (const text of texts) await say(text)
  const conclude = () => parley.post(`${at}/conclude`, { summary_section: 'It ships.\nOn Monday.' }, alex.team_id)
  const reopen = () => parley.post(`${at}/reopen`, { reason: 'One more thing.' }, alex.team_id)
  return { at, say, conclude, reopen, write: (content: string) => parley.post(`${at}/doc`, { content, expected_version: 0 }, alex.team_id) }
}

const usingAsRobin = (options: Parameters<typeof using>[0], work: (page: Page, complaints: string[]) => Promise<void>) =>
  using(options, async (page, complaints) => {
    page.setDefaultTimeout(30_000)
    // A tick stands for 1.5 s, of which a busy machine may leave nothing to look at.
    await page.addInitScript(() => {
      const set = window.setTimeout
      window.setTimeout = ((work: () => void, ms?: number) => set(work, ms === 1_500 ? 6_000 : ms)) as typeof window.setTimeout
    })
    await asRobin(page)
    await work(page, complaints)
  })

const message = (page: Page) => page.getByRole('textbox', { name: 'Message to all teams' })
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

/** The rectangles of a text's lines, against the box that it stands in. */
const linesOf = (page: Page, selector: string) =>
  page.evaluate((selector) => {
    const element = document.querySelector(selector)!
    const range = document.createRange()
    range.selectNodeContents(element)
    const box = element.getBoundingClientRect()
    const lines = [...range.getClientRects()].filter(({ width }) => width > 0) // a line break has a rectangle too
    return lines.map(({ left, right }) => ({ left: left - box.left, right: box.right - right }))
  }, selector)

test('whoever sends something while they read further up sees it arrive, and it is no news to them', () =>
  usingAsRobin(WIDE, async (page, complaints) => {
    const { at } = await meeting(...Array.from({ length: 40 }, (_, n) => `message ${n}\n\nand more`))
    await page.goto(at)
    await message(page).fill('Here I am.')
    await page.evaluate(() => void (document.querySelector('#scroller')!.scrollTop = -900))
    await page.locator('#jump').waitFor()
    await message(page).press('Control+Enter')
    await page.locator('.row-message', { hasText: 'Here I am.' }).waitFor()
    await page.locator('#jump').waitFor({ state: 'hidden' })
    expect(await page.title()).toBe('Shipping the parser · Parley')
    expect(await page.evaluate(() => document.querySelector('#scroller')!.scrollTop)).toBe(0)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('message')
    expect(complaints).toEqual([])
  }))

describe.each([
  ['wide', WIDE],
  ['a phone', MOBILE],
])('%s', (_, options) => {
  test.each(shortOf([4_000, 120, 300], 1))('an address of %d characters in the composer leaves the page as wide as it is', (length) =>
    usingAsRobin(options, async (page) => {
      const { at } = await meeting('Where is it?')
      await page.goto(at)
      await message(page).fill(`https://example.com/${'a'.repeat(length)}`)
      expect(await overflow(page)).toBe(0)
      expect(await message(page).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    }),
  )
})

describe('line breaks', () => {
  // Before a page's first frames its rows, which have content-visibility, show nothing.
  const lines = (page: Page, selector: string) =>
    page.locator(selector).evaluate(async (element) => {
      await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))
      return (element as HTMLElement).innerText
    })

  test('of a message are kept, in paragraphs, items and quotes, with nothing added between them', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at } = await meeting('one\ntwo\n\nthree', '- one\n  two\n  - three\n    four\n- five', '- a\n\n  b\n- c', '> one\n> two')
      await page.goto(at)
      expect(await lines(page, '#m1 .prose p:first-child')).toBe('one\ntwo')
      expect((await lines(page, '#m2 .prose')).trim()).toBe('one\ntwo\nthree\nfour\nfive')
      expect(await lines(page, '#m4 .prose p')).toBe('one\ntwo')
      // Four lines and their margins: a line of its own for each break between two blocks would make it eight.
      const height = await page.locator('#m3 .prose').evaluate((element) => element.getBoundingClientRect().height)
      expect(height).toBeLessThan(4.5 * 21)
    }))

  test('of code and tables stay what they were', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at } = await meeting('```\na\n\nb\n```', '| a | b |\n| - | - |\n| 1 | 2 |')
      await page.goto(at)
      expect(await lines(page, '#m1 pre')).toBe('a\n\nb')
      const [first, second] = await page.locator('#m2 tr').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect()))
      expect(second!.top - first!.bottom).toBeLessThan(2)
    }))

  test('of the document and of its conclusion are those of markdown', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at, write, conclude } = await meeting()
      await write('one\ntwo')
      await conclude()
      await page.goto(at)
      expect(await lines(page, '#document article p:first-child')).toBe('one two')
      expect(await lines(page, '#conclusion .prose p')).toBe('It ships. On Monday.')
    }))
})

describe('right-to-left text', () => {
  test.skipIf(!FULL)('stands on the right, line by line, and its lists begin there', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at, write } = await meeting(
        'שלום לכולם\nHello',
        '- ראשון\n- שני',
        '- first\n- second',
        '> ציטוט',
        '`code()` והסבר\n\n```\nconst a = 1\n```',
      )
      await write('# כותרת\n\nשלום')
      await page.goto(at)
      const [hebrew, english] = await linesOf(page, '#m1 p')
      expect(hebrew!.right).toBeLessThan(1)
      expect(hebrew!.left).toBeGreaterThan(100)
      expect(english!.left).toBeLessThan(1)
      const paddings = (selector: string) =>
        page.locator(selector).evaluate((list) => [getComputedStyle(list).paddingLeft, getComputedStyle(list).paddingRight])
      expect((await paddings('#m2 ul'))[0]).toBe('0px')
      expect((await paddings('#m3 ul'))[1]).toBe('0px')
      expect((await linesOf(page, '#m2 li'))[0]!.right).toBeLessThan(12)
      expect((await linesOf(page, '#m3 li'))[0]!.left).toBeLessThan(12)
      expect(await page.locator('#m4 blockquote').evaluate((quote) => getComputedStyle(quote).borderRightWidth)).toBe('2px')
      expect((await linesOf(page, '#m5 pre code'))[0]!.left).toBeLessThan(1)
      for (const part of ['h1', 'p']) expect((await linesOf(page, `#document article ${part}`))[0]!.right).toBeLessThan(1)
    }),
  )

  test.skipIf(!FULL)('moves nothing else: a title of it runs its own way, and a name stays in its place', () =>
    usingAsRobin({}, async (page) => {
      const { at } = await meeting('one')
      await page.goto(at)
      for (const part of ['h1', '.row b']) expect(await page.locator(part).first().getAttribute('dir')).toBe('auto')
    }),
  )

  test.skipIf(!FULL)('is typed from the right as well', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at } = await meeting()
      await page.goto(at)
      const direction = () => message(page).evaluate((field) => getComputedStyle(field).direction)
      expect(await direction()).toBe('ltr')
      await message(page).fill('שלום')
      expect(await direction()).toBe('rtl')
    }),
  )
})

describe('a draft', () => {
  test('that is too long is not cut: the server says so, and the text is still there', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at } = await meeting()
      await page.goto(at)
      const text = 'a word '.repeat(33_000 / 7)
      await message(page).focus()
      await page.keyboard.insertText(text)
      expect((await message(page).inputValue()).length).toBe(text.length)
      await page.getByRole('button', { name: 'Send' }).click()
      expect(await page.locator('#composer [data-slot=alert]').innerText()).toBe(
        'The message is too long: at most 32 KiB. Put what is longer into the document, and say where it stands.',
      )
      expect(await message(page).inputValue()).toBe(text)
    }))

  test.skipIf(!FULL)('stays when the session is concluded meanwhile, is not sent, and can be when it is reopened', () =>
    usingAsRobin(WIDE, async (page, complaints) => {
      const { at, conclude, reopen } = await meeting('Anything else?')
      await page.goto(at)
      await message(page).fill('Wait, one more thing')
      await conclude()
      await page.locator('#composer', { hasText: 'The session is over. Your text was not sent.' }).getByRole('status').waitFor()
      expect(await message(page).inputValue()).toBe('Wait, one more thing')
      expect(await page.getByRole('button', { name: 'Send' }).isVisible()).toBe(false)
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      await message(page).press('Control+Enter')
      await page.waitForTimeout(300)
      expect(sent).toEqual([])
      expect(await violations(page)).toEqual([])
      await reopen()
      await page.evaluate(() => dispatchEvent(new Event('online'))) // else the page looks again within 30 s
      await page.getByRole('button', { name: 'Send' }).waitFor()
      expect(await page.locator('#composer').getByRole('status').isVisible()).toBe(false)
      await message(page).press('Control+Enter')
      await page.locator('#rows .row-message', { hasText: 'one more thing' }).waitFor()
      expect(complaints).toEqual([])
    }),
  )

  test.skipIf(!FULL)('that is empty goes with its form', () =>
    usingAsRobin(WIDE, async (page) => {
      const { at, conclude } = await meeting('Anything else?')
      await page.goto(at)
      await message(page).waitFor()
      await conclude()
      await message(page).waitFor({ state: 'hidden' })
      expect(await page.locator('#composer').isVisible()).toBe(false)
      expect(await page.locator('#session-head').innerText()).toContain('Concluded')
    }),
  )
})

describe('what is copied', () => {
  const CLIPBOARD = { ...WIDE, permissions: ['clipboard-read', 'clipboard-write'] }

  /** Shape and colour of a button that is pointed at, and what is said. */
  const signsOf = (page: Page, selector: string) =>
    page.evaluate((selector) => {
      const button = document.querySelector(selector)!
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.color = 'var(--ok-foreground)'
      const ok = getComputedStyle(probe).color
      probe.remove()
      const said = [...document.querySelectorAll('[role=status]')].map((place) => place.textContent).filter((text) => text === 'Copied')
      const style = getComputedStyle(button)
      return {
        shape: button.querySelector('use')!.getAttribute('href'),
        ok: style.color === ok,
        seen: style.opacity !== '0',
        said: said.length,
      }
    }, selector)
  const COPIED = { shape: '#i-tick', ok: true, seen: true, said: 1 }

  test.skipIf(!FULL)('a snippet: a tick, and a word for those who listen, for a moment', () =>
    usingAsRobin(CLIPBOARD, async (page, complaints) => {
      await page.goto('/connect')
      const shape = '[data-copy] use[href="#i-tick"]'
      await page.locator('[data-copy]').first().click()
      await page.locator(shape).waitFor({ state: 'attached' })
      expect(await signsOf(page, '[data-copy]')).toEqual(COPIED)
      expect(await page.locator('#i-tick path').evaluate((path) => (path as SVGPathElement).getTotalLength())).toBeGreaterThan(10)
      expect(await violations(page)).toEqual([])
      await page.locator(shape).waitFor({ state: 'detached' })
      expect(await signsOf(page, '[data-copy]')).toMatchObject({ shape: '#i-copy', ok: false, said: 0 })
      for (const at of [0, 1]) await page.locator('[data-copy]').nth(at).click()
      await page.locator('[data-copy] >> nth=1').locator('use[href="#i-tick"]').waitFor({ state: 'attached' })
      expect(await page.locator(shape).count()).toBe(1)
      expect(complaints).toEqual([])
    }),
  )

  test.skipIf(!FULL)('a message: the tick stays with it while one points elsewhere', () =>
    usingAsRobin(CLIPBOARD, async (page) => {
      const { at } = await meeting('**one**\ntwo', 'another')
      await page.goto(at)
      await page.locator('#m1').hover()
      await page.locator('#copy-message').click()
      await page.locator('#copy-message use[href="#i-tick"]').waitFor({ state: 'attached' })
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('**one**\ntwo')
      expect(await signsOf(page, '#copy-message')).toEqual(COPIED)
      await page.locator('#m2').hover()
      expect(await signsOf(page, '#m1 #copy-message')).toEqual(COPIED)
    }),
  )

  test.skipIf(!FULL)(
    'nothing, if the browser refuses or the text does not come: everybody is told, and what was said before is taken back',
    () =>
      usingAsRobin(CLIPBOARD, async (page) => {
        const { at, write } = await meeting('one')
        await openLive(page, at)
        expect(await page.locator('#document [data-copy]').isVisible()).toBe(false) // there is nothing to copy
        await write('# Plan')
        await page.locator('#document [data-copy]').waitFor()
        const notice = page.locator('[role=status].notice')
        await page.route('**/history/1.md', (route) => route.abort())
        await page.locator('#document [data-copy]').click()
        await notice.waitFor()
        expect(await notice.textContent()).toBe('Copy failed: select the text')
        expect(await violations(page)).toEqual([])
        await page.locator('#m1').hover()
        await page.locator('#copy-message').click()
        await notice.waitFor({ state: 'detached' })
        expect(await signsOf(page, '#copy-message')).toEqual(COPIED)
        for (const answer of [
          { status: 503, body: 'not now' },
          { status: 303, headers: { location: '/sign-in' } },
        ]) {
          await page.route('**/history/1.md', (route) => route.fulfill(answer))
          await page.locator('#document [data-copy]').click()
          await notice.waitFor()
          expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('one')
          await page.locator('#copy-message').click()
          await notice.waitFor({ state: 'detached' })
        }
        await page.evaluate(() => {
          const { clipboard } = navigator
          const refuses = () => Promise.reject(new DOMException('no', 'NotAllowedError'))
          Object.assign(clipboard, { writeText: () => (delete (clipboard as Partial<Clipboard>).writeText, refuses()) })
        })
        await page.locator('#copy-message').click()
        await notice.waitFor()
        expect(await signsOf(page, '#copy-message')).toMatchObject({ shape: '#i-copy', ok: false, said: 0 })
        expect(await page.locator('#copy-message').getAttribute('title')).toBe('Copy failed: select the text')
        await page.locator('#copy-message').click()
        await notice.waitFor({ state: 'detached' })
        expect(await signsOf(page, '#copy-message')).toEqual(COPIED)
      }),
  )
})
