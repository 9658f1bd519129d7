// The records that people approved, as people look for them: filtered without script, taken back, and shown to somebody outside.
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { fillRecords, recordsTeams, type RecordsDemo } from '../support/demo-records.ts'
import { FULL, shortOf } from '../support/full.ts'
import { MOBILE, openLive, withSite } from '../support/site.ts'

const SOON = { timeout: 10_000 }
const WIDE = { viewport: { width: 1280, height: 800 } }

const { parley, using, robin, asRobin } = withSite({ VIEWER_PASSWORD: 'the viewers password' })
let demo: RecordsDemo
const MANY = FULL ? 70 : 45 // more than a page of a list, in the long form more than two
const OF_BEA = FULL ? 40 : 32 // more than one page of a list, and no more than stand first as open ones

beforeAll(async () => {
  demo = await fillRecords(parley, await robin())
  const { convene, approve } = await recordsTeams(parley, await robin())
  const many = await convene('Seventy small things', '')
  for (let n = 1; n <= MANY; n++) {
    const owner_name = n === 3 ? "Chidi's Team" : n <= OF_BEA ? "Bea's Team" : "Deniz's Team"
    await approve((await many.as(0).propose('action_item', { title: `Small thing ${n}`, owner_name })).id)
  }
}, 120_000)

const titles = async (page: Page) => (await page.locator('li.record h3').allInnerTexts()).map((text) => text.trim())
const sideways = (page: Page) => page.evaluate('document.documentElement.scrollWidth - innerWidth')

const WAYS = [
  ['with script', WIDE],
  ['without script, on a phone', { ...MOBILE, javaScriptEnabled: false }],
] as const

for (const [name, options] of shortOf(WAYS, 1))
  test(
    `${name}: words, type, status, owner, session and series choose what is shown, and older pages follow`,
    () =>
      using(options, async (page, complaints) => {
        await asRobin(page, '/records')
        expect((await titles(page))[0]).toBe(`Small thing ${MANY}`)
        expect(await sideways(page)).toBe(0)
        const seen = await titles(page)
        for (;;) {
          const older = page.getByRole('link', { name: 'Older records' })
          if ((await older.count()) === 0) break
          await older.click()
          seen.push(...(await titles(page)))
        }
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.length).toBe(MANY + 5)

        await page.goto('/records')
        await page.getByRole('link', { name: 'Decisions', exact: true }).click()
        expect(await titles(page)).toEqual([
          'parse() keeps its signature until 5.0',
          'The parser is written by hand',
          'The grammar is generated',
        ])
        await page.getByLabel('Status').selectOption('withdrawn')
        await page.getByRole('button', { name: 'Show' }).click()
        expect(await titles(page)).toEqual(['The grammar is generated'])
        expect(await page.locator('li.record').innerText()).toContain('Withdrawn by Robin: The measurements speak against it.')
        expect(await page.locator('li.record h3').evaluate((title) => getComputedStyle(title).textDecorationLine)).toBe('line-through')

        await page.goto('/records')
        await page.getByLabel('Search records').fill('HAND parser')
        await page.getByRole('button', { name: 'Show' }).click()
        expect(await titles(page)).toEqual(['The parser is written by hand'])
        expect(await page.getByText('300 MB').isVisible()).toBe(false)
        await page.getByText('Why', { exact: true }).click()
        expect(await page.getByText('300 MB').isVisible()).toBe(true)

        await page.goto(`/records?meeting=${demo.session}&type=action`)
        await page.getByRole('link', { name: "Chidi's Team" }).first().click()
        expect(new URL(page.url()).searchParams.get('owner')).toBe(demo.owner)
        expect(await page.getByRole('region', { name: 'Whose records' }).innerText()).toMatch(
          /Chidi's Team\s+team\s+unverified\s+2 open action items/,
        )
        expect(await titles(page)).toEqual(['Small thing 3', 'Tell the editors’ teams about byte spans before the beta'])
        expect(await page.locator('li.record').last().innerText()).toMatch(/AI-assisted\s+proposed by Chidi's Team, approved by Robin/)
        expect(await page.locator('li.record').last().innerText()).toContain('with another title and priority')

        await page.goto(`/records?q=Small+thing+${OF_BEA}`)
        await page.getByRole('link', { name: "Bea's Team" }).first().click()
        expect(await page.getByText(`${OF_BEA} open action items, first in this list`).isVisible()).toBe(true)
        expect((await titles(page)).length).toBe(OF_BEA) // with one of the demo, and without the third
        expect(await page.getByRole('link', { name: 'Older records' }).count()).toBe(0) // all of them are here

        await page.goto(`/sessions/${demo.session}/records`)
        await page.getByText('One of 2 sessions').click()
        await page.getByRole('link', { name: 'All their decisions in force' }).click()
        expect(await page.getByRole('region', { name: 'The series' }).getByRole('listitem').count()).toBe(2)
        expect(await titles(page)).toEqual(['parse() keeps its signature until 5.0', 'The parser is written by hand'])
        expect(complaints).toEqual([])
      }),
    180_000,
  )

test('a person withdraws a record with a reason: beside the feed it is struck through at once, in the list of all after it', () =>
  using(WIDE, async (page, complaints) => {
    const { convene, approve } = await recordsTeams(parley, await robin())
    const session = await convene('What to take back', '')
    const decide = async (title: string) =>
      (await approve((await session.as(0).propose('decision', { title, description: 'So it is.' })).id)).record.decision_id as string
    const [first, second] = [await decide('Tabs, not spaces'), await decide('Spaces, not tabs')]
    await asRobin(page, `${session.at}/records`)
    await page.locator(`#r${first}`).getByRole('link', { name: 'Withdraw' }).click()
    await page.locator('dialog[open]').getByLabel('Reason').fill('Nobody\nagreed.')
    await page.getByRole('button', { name: 'Withdraw it' }).click()
    await page.locator(`#r${first}`, { hasText: 'Withdrawn by Robin' }).waitFor(SOON)
    expect(await page.locator('#rows').innerText()).toContain('Tabs, not spaces')
    await page.goto('/records?type=decision')
    await page.locator(`#r${second}`).getByRole('link', { name: 'Withdraw' }).click()
    await page.locator('dialog[open]').getByLabel('Reason').fill('Neither.')
    await page.getByRole('button', { name: 'Withdraw it' }).click()
    await page.locator(`#r${second}`, { hasText: 'Withdrawn by Robin: Neither.' }).waitFor(SOON)
    expect(new URL(page.url()).search).toBe('?type=decision')
    expect(complaints).toEqual([])
  }))

test('what is approved while the page is open comes by itself', () =>
  using(WIDE, async (page, complaints) => {
    const { convene, approve } = await recordsTeams(parley, await robin())
    const session = await convene('What to decide', '')
    await asRobin(page)
    await openLive(page, `${session.at}/records`)
    await page.getByText('Nothing is decided yet').waitFor(SOON)
    await approve((await session.as(0).propose('decision', { title: 'Spaces, not tabs', description: 'Two.' })).id)
    await page.locator('li.record', { hasText: 'Spaces, not tabs' }).waitFor(SOON)
    expect(await page.locator('#panel [data-count=records]').innerText()).toBe('1')
    expect(complaints).toEqual([])
  }))

test('a share link opens the board and the records of its session, live, without what only some may do', async () => {
  const { convene } = await recordsTeams(parley, '')
  const session = await convene('For somebody outside', '')
  const [one] = (await session.as(0).plan([{ title: 'Write the lexer' }])).items as { item_id: string }[]
  let url = ''
  await using({ javaScriptEnabled: false }, async (page) => {
    await asRobin(page, `${session.at}/share`)
    await page.getByRole('button', { name: 'Make a link' }).click()
    url = (await page.locator('figure pre').innerText()).trim()
  })
  await using(MOBILE, async (page, complaints) => {
    await page.goto(url)
    await page.locator('#tabs').getByRole('link', { name: 'Board' }).click()
    await page.locator(`#w${one!.item_id}`).waitFor(SOON)
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Add an item' }).count()).toBe(0)
    await session.as(1).claim(one!.item_id)
    await page.locator('section[aria-labelledby=board-claimed]', { hasText: "Bea's Team" }).waitFor(SOON)
    await page.locator('#tabs').getByRole('link', { name: 'Records' }).click()
    await page.getByText('Nothing is decided yet').waitFor(SOON)
    expect(complaints).toEqual([])
    for (const path of ['/records', `/sessions/${demo.session}/board`, `${session.at}/board/new`]) {
      await page.goto(path)
      expect(new URL(page.url()).pathname).toBe('/sign-in')
    }
  })
})

const LOOKS = [
  ['dark', WIDE],
  ['light', MOBILE],
] as const

for (const [colorScheme, options] of LOOKS)
  test.skipIf(!FULL)(`${colorScheme}: axe finds nothing on the pages of records, and nothing is wider than the window`, () =>
    using({ ...options, colorScheme }, async (page, complaints) => {
      await asRobin(page)
      for (const path of [
        '/records',
        '/records?q=zyzzogeton',
        `/records?owner=${demo.owner}`,
        `/records?series=${demo.before}`,
        `/sessions/${demo.session}/records`,
      ]) {
        await page.goto(path)
        expect([path, await violations(page, colorScheme), await sideways(page)]).toEqual([path, [], 0])
      }
      expect(complaints).toEqual([])
    }),
  )
