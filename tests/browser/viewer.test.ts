// What a page shows beside what is said: edits of the document among the messages, the search in every header, and rows without a mouse.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { FULL } from '../support/full.ts'
import { KEY, MOBILE, openLive, serveSite, withSite } from '../support/site.ts'

const SOON = { timeout: 15_000 }
const WIDE = { viewport: { width: 1280, height: 800 } }

const { parley, using } = withSite()

const room = async () => {
  const alex = await parley.post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  const path = `/sessions/${alex.session_id}`
  const bea = await parley.post(`${path}/join`, { team_name: "Bea's Team" })
  const say = (text: string, who = bea) => parley.post(`${path}/messages`, { content: { text } }, who.team_id)
  const append = (text: string, who = alex) => parley.post(`${path}/doc/append`, { text }, who.team_id)
  return { path, alex, bea, say, append }
}

const rows = (page: Page) => page.$$eval('#rows > .row', (all) => all.map(({ id }) => id))
const edit = (page: Page, text: string) => page.locator('.row-doc', { hasText: text })

test('an edit stands between what was said before and after it, live and after a reload, and leads to what it changed', () =>
  using(WIDE, async (page, complaints) => {
    const { path, bea, say, append } = await room()
    await say('before')
    await page.goto(path)
    await append('# Plan\n\n- lexer\n')
    await edit(page, "Alex's Team updated the document to v1").waitFor(SOON)
    await append('- printer\n')
    await edit(page, "Alex's Team updated the document, v1 to v2").waitFor(SOON)
    await append('- docs\n', bea)
    await edit(page, "Bea's Team updated the document to v3").waitFor(SOON)
    await say('after')
    await page.locator('.row-message', { hasText: 'after' }).waitFor(SOON)
    const all = ['m1', 'm2', 'd1', 'd3', 'm3']
    expect(await rows(page)).toEqual(all)
    await page.reload()
    expect(await rows(page)).toEqual(all)
    expect(await edit(page, 'v1 to v2').innerText()).toContain('+4')
    expect(await page.locator('#m3 b[data-hue]').count()).toBe(1) // somebody wrote in between: the name is said again
    expect(await violations(page)).toEqual([])
    await page.locator('label', { hasText: 'Messages' }).click()
    expect(await edit(page, 'v3').isVisible()).toBe(false)
    await page.locator('label', { hasText: 'Events' }).click()
    await edit(page, 'v1 to v2').click()
    await page.waitForURL('**/history?from=0&to=2')
    expect(await page.locator('main').innerText()).toContain('v0 → v2')
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('a colour that is used whole and faintly too is whole where it is whole', () =>
  using(WIDE, async (page) => {
    const { path } = await room()
    await page.goto(path)
    const colours = await page.evaluate(() =>
      [
        ['bg-ok', 'background-color'],
        ['bg-warn', 'background-color'],
        ['bg-violet', 'background-color'],
        ['text-brand', 'color'],
      ].map(([name, property]) => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.className = name!
        return getComputedStyle(probe).getPropertyValue(property!)
      }),
    )
    for (const colour of colours) expect(colour).toMatch(/^oklch\([^/]+\)$/) // without a share of its own
  }),
)

test.skipIf(!FULL)('for who wants little motion nothing comes to its place by way of another', () =>
  using(WIDE, async (page) => {
    const { path, say } = await room()
    await say('Here I am.')
    await page.goto(path)
    const moving = await page.evaluate(() => {
      const row = document.querySelector<HTMLElement>('#m2')!
      const before = getComputedStyle(row).flexGrow
      row.style.flexGrow = '3'
      return [before, getComputedStyle(row).flexGrow, document.getAnimations().filter((one) => one instanceof CSSTransition).length]
    })
    expect(moving).toEqual(['0', '3', 0])
  }),
)

test.skipIf(!FULL)('a rule in a message takes no more room than a paragraph', () =>
  using(WIDE, async (page) => {
    const { path, say } = await room()
    await say('above\n\n---\n\nbelow')
    await page.goto(path)
    const gap = await page.evaluate(() => {
      const [above, , below] = document.querySelectorAll('#m2 .prose > *')
      return below!.getBoundingClientRect().top - above!.getBoundingClientRect().bottom
    })
    expect(gap).toBeLessThan(20)
  }),
)

test.skipIf(!FULL)('a document that was begun before anybody spoke does not take the place of the way in', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const alex = await parley.post('/sessions', { title: 'Naming the release', description: '', creator_team_name: "Alex's Team" })
    const path = `/sessions/${alex.session_id}`
    await parley.post(`${path}/doc/append`, { text: '# Names\n' }, alex.team_id)
    await page.goto(path)
    expect(await edit(page, 'v1').isVisible()).toBe(true)
    expect(await page.getByText('Nothing said yet').isVisible()).toBe(true)
    await parley.post(`${path}/messages`, { content: { text: 'Iris' } }, alex.team_id)
    await page.reload()
    expect(await page.getByText('Nothing said yet').isVisible()).toBe(false)
  }),
)

test('who reads by a shared link is led to no version, also by what comes live', async () => {
  const closed = await serveSite({ VIEWER_PASSWORD: 'the viewers password' })
  try {
    const { session_id, team_id } = await closed.post('/sessions', { title: 'Closed', description: '', creator_team_name: "Alex's Team" })
    const append = (text: string) => closed.post(`/sessions/${session_id}/doc/append`, { text }, team_id)
    await append('# Plan\n')
    const signedIn = await fetch(`${closed.url}/sign-in?key=${KEY}&name=Robin`, { redirect: 'manual' })
    const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!
    const shared = await fetch(`${closed.url}/api/sessions/${session_id}/share`, { method: 'POST', headers: { cookie } })
    const { url } = (await shared.json()) as { url: string }
    await using(WIDE, async (page) => {
      await page.goto(url)
      expect(await edit(page, 'v1').locator('a').count()).toBe(0)
      expect(await page.getByRole('searchbox').count()).toBe(0)
      await append('- lexer\n')
      await edit(page, 'v1 to v2').waitFor(SOON)
      expect(await edit(page, 'v1 to v2').locator('a').isVisible()).toBe(false)
      await openLive(page, page.url()) // of what came live the link is only hidden
      await page.keyboard.press('k')
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('d1')
    })
  } finally {
    await closed.stop()
  }
})

test('no key leads away from an open dialog, wherever one clicked in it', async () => {
  const { path } = await room()
  await using(MOBILE, async (page) => {
    await openLive(page, path)
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.waitFor()
    for (const key of ['/', 'd']) {
      await page.keyboard.press(key)
      await dialog.getByText('Newest message').click()
      await page.keyboard.press(key)
    }
    await page.waitForTimeout(300)
    expect(page.url()).toEndWith(path)
    expect(await dialog.isVisible()).toBe(true)
  })
})

test.skipIf(!FULL)('the search stands in every header, for the slash key too, and without script', async () => {
  const { path } = await room()
  for (const javaScriptEnabled of [true, false])
    await using({ ...WIDE, javaScriptEnabled }, async (page, complaints) => {
      for (const from of ['/', path, '/settings', '/connect', `${path}/history`, '/nothing']) {
        await page.goto(from)
        const field = page.locator('header').getByRole('searchbox', { name: 'Search everything' })
        expect(await page.locator('header kbd').isVisible()).toBe(javaScriptEnabled) // the key does nothing without script
        if (javaScriptEnabled) await page.keyboard.press('/')
        else await field.focus()
        expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
        await page.keyboard.type('ledger quill')
        await page.keyboard.press('Enter')
        await page.waitForURL('**/search?q=ledger+quill')
        expect(await page.getByRole('searchbox').count()).toBe(1) // this page's own, with all its filters
      }
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
    })
  await using(MOBILE, async (page) => {
    await page.goto(path)
    expect(await page.getByRole('searchbox').count()).toBe(0)
    await page.locator('header').getByRole('link', { name: 'Search everything' }).click()
    await page.waitForURL('**/search')
  })
})

test.skipIf(!FULL)('without script the Tab key reaches the link of each row, with it those of none', async () => {
  const { path, say, append } = await room()
  for (const text of ['one', 'two']) await say(text)
  await append('# Plan\n')
  const stops = async (page: Page) => {
    const names: string[] = []
    await page.locator('#scroller').focus()
    for (let i = 0; i < 5; i++) {
      await page.keyboard.press('Tab')
      names.push(await page.evaluate(() => document.activeElement!.closest('.row')?.id ?? 'beyond'))
    }
    return names
  }
  await using({ ...WIDE, javaScriptEnabled: false }, async (page) => {
    await page.goto(path)
    expect(await stops(page)).toEqual(['m1', 'm2', 'm3', 'd1', 'beyond'])
    for (const key of ['Shift+Tab', 'Shift+Tab']) await page.keyboard.press(key)
    const isSeen = () => page.evaluate(() => getComputedStyle(document.activeElement!).opacity === '1')
    for (let n = 0; n < 100 && !(await isSeen()); n++) await page.waitForTimeout(20)
    expect(await isSeen()).toBe(true)
    expect(await page.evaluate(() => document.activeElement!.getAttribute('href'))).toBe('#m3')
  })
  await using(WIDE, async (page) => {
    await page.goto(path)
    await say('three')
    await page.locator('.row-message', { hasText: 'three' }).waitFor(SOON)
    expect(await stops(page)).not.toContain('m2')
    expect(await page.locator('#rows a:not([tabindex="-1"])').count()).toBe(0)
    for (const key of ['k', 'k']) await page.keyboard.press(key)
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('d1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/history?from=0&to=1')
  })
})

const SHORT = `| topic | state | owner |
| --- | --- | --- |
| dedupe table | built, measured | Backend Guild |
| > 256 KB payloads | claim-check in staging | Infra Night Shift |`
const LONG = 'Nothing; the relay stays for seven days and records what it sees, then it goes'
const NINE = `| id | component | status | owner | started | finished | p50 | p99 | what is left |
| - | - | - | - | - | - | -: | -: | - |
| 1 | webhook dispatcher | in review | Infra Night Shift | 2026-11-02 | 2026-11-09 | 0.21 s | 0.9 s | ${LONG} |`
const OPTIONS = `| option | for | against |
| - | - | - |
| generated parser | ${LONG} | ${LONG} |`

for (const [name, options, pane] of [
  ['in a message at 390 px', MOBILE, '#rows'],
  ['in the document at 390 px', MOBILE, '#doc'],
  ['in the document beside the feed', WIDE, '#doc'],
] as const)
  test(`${name} a small table fits, and a wide one scrolls in its box instead of being squeezed`, () =>
    using(options, async (page) => {
      const { path, say, append } = await room()
      const text = [SHORT, NINE, OPTIONS].join('\n\nAnd:\n\n')
      await say(text)
      await append(text)
      await page.goto(pane === '#doc' ? `${path}#document` : path)
      const tables = await page.$$eval(`${pane} table`, (all) =>
        all.map((table) => ({
          scrolls: table.scrollWidth > table.clientWidth,
          beyond: table.getBoundingClientRect().right - table.parentElement!.getBoundingClientRect().right > 1,
          lines: [...table.querySelectorAll('td')].map((cell) => {
            const { fontSize } = getComputedStyle(cell)
            const range = document.createRange()
            range.selectNodeContents(cell)
            return Math.round(range.getBoundingClientRect().height / (1.4 * parseFloat(fontSize)))
          }),
          narrowest: Math.min(...[...table.querySelectorAll('td > p')].map((long) => long.getBoundingClientRect().width)),
        })),
      )
      const [small, nine, choices] = tables
      expect(small).toMatchObject({ scrolls: false, beyond: false })
      expect(Math.max(...small!.lines)).toBeLessThanOrEqual(2)
      expect(nine).toMatchObject({ scrolls: true, beyond: false })
      expect(nine!.lines.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 1))
      expect(nine!.narrowest).toBeGreaterThanOrEqual(224)
      expect(choices!.beyond).toBe(false)
      expect(choices!.narrowest).toBeGreaterThanOrEqual(128)
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      expect(await violations(page)).toEqual([])
    }))
