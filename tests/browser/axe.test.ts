// Every page, empty and full, light and dark, wide and on a phone: readable for everybody, and quiet.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { fillDemo, type Demo } from '../support/demo.ts'
import { FULL } from '../support/full.ts'
import { MOBILE, serveSite, withSite, type Site } from '../support/site.ts'

const { parley, using, asRobin } = withSite()
let nothing: Site
let demo: Demo

beforeAll(async () => {
  nothing = await serveSite()
  demo = await fillDemo(parley.post)
}, 120_000)

afterAll(() => nothing?.stop())

// A page, and whether one is signed in there.
const PAGES = (): [name: string, path: string, as?: 'stranger'][] => [
  ['home', '/'],
  ['home for a stranger', '/', 'stranger'],
  ['a search', '/?q=parser'],
  ['a search without a find', '/?q=nothing-like-it'],
  ['searching everything', '/search'],
  ['hits', '/search?q=parser'],
  ['hits of one session and kind', `/search?q=parser&type=assistant_response&session=${demo.busy}`],
  ['no hits', '/search?q=zyzzogeton'],
  ['a session', `/sessions/${demo.busy}`],
  ['a session for a stranger', `/sessions/${demo.busy}`, 'stranger'],
  ['a whole feed', `/sessions/${demo.busy}?all=1`],
  ['a concluded session', `/sessions/${demo.concluded}`],
  ['an empty session', `/sessions/${demo.empty}`],
  ['the versions of a doc', `/sessions/${demo.busy}/history`],
  ['a difference', `/sessions/${demo.busy}/history?from=1&to=3`],
  ['a difference side by side', `/sessions/${demo.busy}/history?from=1&to=3&view=split`],
  ['the turns of a session', `/sessions/${demo.busy}/turns`],
  ['a new session', '/sessions/new'],
  ['concluding', `/sessions/${demo.busy}/conclude`],
  ['another title', `/sessions/${demo.busy}/edit`],
  ['another convener', `/sessions/${demo.busy}/convener`],
  ['reopening', `/sessions/${demo.concluded}/reopen`],
  ['resuming', `/sessions/${demo.concluded}/resume`],
  ['sharing', `/sessions/${demo.busy}/share`],
  ['connect', '/connect'],
  ['an invitation', `/connect?session=${demo.busy}`],
  ['settings', '/settings'],
  ['settings for a stranger', '/settings', 'stranger'],
  ['keys and sign-ins', '/settings/keys'],
  ['the status', '/status'],
  ['sign-in', '/sign-in', 'stranger'],
]

// Another page with more of the same, or with less, or another form of the same parts: looked at in the long form.
const MUCH_ALIKE = [
  'a search without a find',
  'hits of one session and kind',
  'no hits',
  'a whole feed',
  'a difference side by side',
  'another convener',
  'reopening',
  'resuming',
  'another title',
  'a new session',
  'sharing',
  'settings for a stranger',
  'a session for a stranger',
  'an invitation',
]
const lookedAt = () => PAGES().filter(([name]) => FULL || !MUCH_ALIKE.includes(name))

const sideways = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

const missingIcons = (page: Page) =>
  page.$$eval('use', (uses) => uses.map((use) => use.getAttribute('href')!).filter((icon) => !document.querySelector(icon)))

for (const colorScheme of ['light', 'dark'] as const)
  for (const [width, options] of [
    ['1280 px', { viewport: { width: 1280, height: 800 } }],
    ['390 px', MOBILE],
  ] as const) {
    if (!FULL && (colorScheme !== 'dark' || width !== '390 px')) continue
    test(`${colorScheme}, ${width}: no page hinders anybody, scrolls sideways or complains`, async () => {
      const wrong: Record<string, string[]> = {}
      const look = async (page: Page, complaints: string[], name: string, path: string, status = 200) => {
        const response = await page.goto(path)
        const found = await violations(page, FULL ? colorScheme : 'light')
        if (response!.status() !== status) found.push(`status ${response!.status()}`)
        const over = await sideways(page)
        if (over > 0) found.push(`${over} px too wide`)
        found.push(...(await missingIcons(page)).map((icon) => `no icon ${icon}`))
        found.push(...complaints.splice(0).filter((text) => status === 200 || !text.includes(String(status))))
        if (found.length > 0) wrong[name] = found
      }
      // One browser page for all of them: to start a process for each takes longer than to look at it.
      const lookAt = (pages: ReturnType<typeof PAGES>) => async (page: Page, complaints: string[]) => {
        for (const [name, path] of pages) await look(page, complaints, name, path)
      }
      const context = { ...options, colorScheme }
      await using(context, (page, complaints) => look(page, complaints, 'an empty home', '/'), nothing)
      await using(context, (page, complaints) => look(page, complaints, 'a page that is not there', '/nothing', 404))
      await using(context, lookAt(lookedAt().filter(([, , as]) => as === 'stranger')))
      await using(context, async (page, complaints) => {
        await asRobin(page)
        await lookAt(lookedAt().filter(([, , as]) => as !== 'stranger'))(page, complaints)
      })
      expect(wrong).toEqual({})
    }, 900_000)
  }

test.skipIf(!FULL)('the dialogs of a session are as good as its page', () =>
  using({}, async (page, complaints) => {
    await asRobin(page, `/sessions/${demo.busy}`)
    await page.getByRole('link', { name: 'Conclude' }).click()
    await page.locator('dialog[open]').waitFor()
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
  }),
)
