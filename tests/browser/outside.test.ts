// What a person does for those outside, and for teams that go in circles.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { FULL } from '../support/full.ts'
import { MOBILE, withSite } from '../support/site.ts'

const { parley, using, asRobin } = withSite({ VIEWER_PASSWORD: 'the viewers password' })

const meeting = async () => {
  const alex = await parley.post('/sessions', {
    title: 'Shipping the parser',
    description: 'What goes out.',
    creator_team_name: "Alex's Team",
  })
  const bea = await parley.post(`/sessions/${alex.session_id}/join`, { team_name: "Bea's Team" })
  const say = (who: Record<string, string>, text: string) =>
    parley.post(`/sessions/${alex.session_id}/messages`, { content: text }, who.team_id)
  return { at: `/sessions/${alex.session_id}`, alex, bea, say }
}
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

test('a link shows the session to somebody outside, live, and nothing else; taken back, it is over', async () => {
  const { at, alex, say } = await meeting()
  await using({}, async (page, complaints) => {
    await asRobin(page, at)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('link', { name: 'Share, or invite an agent' }).click()
    await page.getByRole('button', { name: 'Make a link' }).click()
    const url = (await page.locator('figure pre').innerText()).trim()
    await using(MOBILE, async (outside, wrong) => {
      await outside.goto(url)
      expect(new URL(outside.url()).pathname).toBe(at)
      await outside.getByRole('heading', { name: 'Shipping the parser' }).waitFor()
      await say(alex, 'Seen from outside')
      await outside.locator('#rows .row-message', { hasText: 'Seen from outside' }).waitFor()
      expect(await overflow(outside)).toBe(0)
      const files = [at, `${at}.md`, `${at}/feed.jsonl`, `${at}/turns`, `/api${at}/handoff.md`]
      expect(await outside.evaluate(async (paths) => Promise.all(paths.map(async (path) => (await fetch(path)).status)), files)).toEqual(
        files.map(() => 200),
      )
      expect(wrong).toEqual([])
      expect(await outside.context().cookies(`${parley.url}/`)).toEqual([])
      await outside.goto('/')
      expect(new URL(outside.url()).pathname).toBe('/sign-in')
      await page.getByRole('button', { name: 'Revoke the link' }).click()
      await page.getByText('No link is active').waitFor()
      await outside.goto(at)
      expect(new URL(outside.url()).pathname).toBe('/sign-in')
    })
    expect(complaints).toEqual([])
  })
})

test('a session whose teams go in circles says so on its open page, until a person lets them go on', async () => {
  const { at, alex, bea, say } = await meeting()
  await using({}, async (page, complaints) => {
    await asRobin(page, at)
    for (let i = 0; i < 16; i++)
      await say(i % 2 ? bea : alex, i % 2 ? 'And I wait for your answer.' : 'I wait for your review of the lexer.')
    const strip = page.locator('#loop')
    await strip.waitFor({ timeout: 30_000 })
    expect(await strip.innerText()).toMatch(/^Alex's Team and Bea's Team have been repeating themselves since \d\d:\d\d UTC\. Tell them/)
    await using({}, async (reader) => {
      await reader.goto(`/sign-in?key=${encodeURIComponent('the viewers password')}`)
      await reader.goto(at)
      expect(await reader.locator('#loop').innerText()).toMatch(/UTC\.\s*$/)
    })
    await strip.getByRole('link', { name: 'Write to them' }).click()
    expect(await page.evaluate('document.activeElement.id')).toBe('message')
    await strip.getByRole('link', { name: 'Clear' }).click()
    await page.getByRole('heading', { name: 'Clear the warning' }).waitFor()
    await page.getByRole('button', { name: 'Clear the warning' }).click()
    await strip.waitFor({ state: 'hidden' })
    expect(await page.getByRole('link', { name: 'Needs a person' }).count()).toBe(0)
    expect(complaints).toEqual([])
  })
})

test.skipIf(!FULL)('the page to share on fits a phone, and works without script', () =>
  using({ ...MOBILE, javaScriptEnabled: false }, async (page) => {
    const { at } = await meeting()
    await asRobin(page, `${at}/share`)
    await page.getByRole('button', { name: 'Make a link' }).click()
    expect(await page.locator('figure pre').innerText()).toContain('/shared/')
    expect(await page.getByRole('button', { name: 'Replace the link' }).isVisible()).toBe(true)
    expect(await overflow(page)).toBe(0)
  }),
)
