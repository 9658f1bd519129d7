// Teams that are asleep, and wakes that are used up, as people see them on open pages.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { FULL } from '../support/full.ts'
import { KEY, MOBILE, withSite } from '../support/site.ts'

const { parley, using, asRobin } = withSite({ IDLE_AFTER: '1', WAKES_PER_HOUR: '2' })

const meeting = async () => {
  const alex = await parley.post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  const id = alex.session_id!
  const bea = await parley.post(`/sessions/${id}/join`, { team_name: "Bea's Team" })
  const say = (text: string) => parley.post(`/sessions/${id}/messages`, { content: text }, alex.team_id)
  const { services } = parley
  /** Bea's Team holds a peek until it is woken or lets go. */
  const sleep = async () => {
    const gone = new AbortController()
    const url = `${parley.url}/api/sessions/${id}/unread?timeout=120`
    const answer = fetch(url, { headers: { 'x-team-id': bea.team_id! }, signal: gone.signal }).then((response) => response.json())
    answer.catch(() => {})
    while (services.peeks.held === 0) await Bun.sleep(5)
    return { answer, letGo: () => gone.abort() }
  }
  /** As much as the two may have until nobody wakes for it any more. */
  const useUp = () => services.database.query('insert into wakes (session_id, taken) values ($1, 2)', [id])
  return { at: `/sessions/${id}`, id, alex, bea, say, sleep, useUp }
}
const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

test('a team that falls asleep gets its own dot and word while the page is open, and loses them when a message has woken it', async () => {
  const { at, say, sleep } = await meeting()
  await using({}, async (page, complaints) => {
    await page.goto(at)
    const chip = page.locator('#roster li', { hasText: "Bea's Team" })
    const { answer } = await sleep()
    await chip.getByText('asleep', { exact: true }).waitFor()
    expect(await chip.getByText('Asleep, a message wakes it').count()).toBe(1)
    expect(await chip.getAttribute('title')).toMatch(/^Bea's Team: awake .* ago; a message wakes it$/)
    await page.locator('#listening', { hasText: '1 asleep: a message wakes it' }).waitFor()
    expect(await violations(page)).toEqual([])
    await say('Wake up.')
    expect(((await answer) as { wake: boolean }).wake).toBe(true)
    await chip.getByText('asleep', { exact: true }).waitFor({ state: 'detached', timeout: 10_000 })
    expect(complaints).toEqual([])
  })
}, 180_000)

test.skipIf(!FULL)(
  'when the wakes are used up the open page says so, until a person writes',
  async () => {
    const { at, id, say, sleep, useUp } = await meeting()
    await using({}, async (page, complaints) => {
      await asRobin(page, at)
      const { answer } = await sleep()
      await useUp()
      const strip = page.locator('#wakes')
      await strip.waitFor({ timeout: 10_000 })
      expect(await strip.innerText()).toMatch(
        /^Since \d\d:\d\d UTC messages have woken sleeping teams 2 times, without a word from a person\./,
      )
      await page.getByRole('link', { name: 'Needs a person' }).waitFor()
      const chip = page.locator('#roster li', { hasText: "Bea's Team" })
      await chip.getByText('asleep', { exact: true }).waitFor()
      expect(await chip.getAttribute('title')).toMatch(/; only a message to it or from a person wakes it$/)
      expect(await chip.getByText('Asleep, only a message to it or from a person wakes it').count()).toBe(1)
      expect(await violations(page)).toEqual([])
      await say('This wakes nobody.')
      await using({}, async (home) => {
        await home.goto('/')
        const row = home.locator(`#s-${id}`)
        expect(await row.getByText('Needs a person').getAttribute('title')).toBe('Messages wake its sleeping teams no more')
        await home.locator('#figures').getByText('1 asleep').waitFor() // presence is written once a second
      })
      expect(parley.services.peeks.held).toBe(1)
      await strip.getByRole('link', { name: 'Write to them' }).click()
      await page.keyboard.type('Go on.')
      await page.keyboard.press('Control+Enter')
      await strip.waitFor({ state: 'hidden', timeout: 10_000 })
      expect(await answer).toMatchObject({ unread: 2, wake: true })
      expect(await page.getByRole('link', { name: 'Needs a person' }).count()).toBe(0)
      expect(complaints).toEqual([])
    })
  },
  180_000,
)

test.skipIf(!FULL)(
  'a session in which nothing happens and whose teams sleep is idle on the home page, with a dot of its own',
  async () => {
    const { id, sleep } = await meeting()
    const { query } = parley.services.database
    const { letGo } = await sleep()
    await query(`update sessions set last_event_at = now() - interval '1 hour', created_at = now() - interval '2 hours' where id = $1`, [
      id,
    ])
    await query(`update participants set last_seen_at = now() - interval '1 hour' where session_id = $1`, [id])
    await using({}, async (page) => {
      for (const path of ['/', '/?status=idle']) {
        await page.goto(path)
        await page.locator(`#s-${id}`).getByText('Idle, with teams that a message wakes').waitFor({ state: 'attached' })
      }
      await page.goto('/?status=live')
      expect(await page.locator(`#s-${id}`).count()).toBe(0)
      await page.goto(`/sessions/${id}`)
      expect(await page.locator('#listening').innerText()).toMatch(/^Idle for 1h, not concluded · 1 asleep: a message wakes it/)
    })
    letGo()
  },
  180_000,
)

test.skipIf(!FULL)(
  'or until a person clears it, on a phone too',
  async () => {
    const { at, useUp } = await meeting()
    await useUp()
    await using(MOBILE, async (page, complaints) => {
      await asRobin(page, at)
      expect(await overflow(page)).toBe(0)
      await page.locator('#wakes').getByRole('link', { name: 'Clear' }).click()
      await page.getByRole('button', { name: 'Clear the warning' }).click()
      await page.locator('#wakes').waitFor({ state: 'hidden', timeout: 10_000 })
      expect(complaints).toEqual([])
    })
  },
  180_000,
)

test.skipIf(!FULL)(
  'the number of wakes is saved on the settings page, refused when it is none, and forgotten',
  () =>
    using({}, async (page, complaints) => {
      await page.goto(`/sign-in?key=${KEY}&name=Robin&next=/settings`)
      const form = page.locator('form[action="/settings/wakes"]')
      const field = form.getByLabel('Wakes per session and hour')
      expect(await field.inputValue()).toBe('2')
      await field.fill('7')
      await form.getByRole('button', { name: 'Save' }).click()
      expect(await page.getByRole('alert').textContent()).toBe('Wakes per hour saved.')
      expect([await field.inputValue(), parley.services.wakes.perHour()]).toEqual(['7', 7])
      expect(await page.getByRole('row', { name: /WAKES_PER_HOUR/ }).innerText()).toMatch(/7\s+saved/i)
      for (const wrong of ['', '-1', '1.5', '100001']) {
        await field.evaluate((input: HTMLInputElement) => input.form!.setAttribute('novalidate', ''))
        await field.fill(wrong)
        await form.getByRole('button', { name: 'Save' }).click()
        expect(await page.getByRole('alert').textContent()).toStartWith('Not saved: wakes_per_hour: must be ')
      }
      expect(parley.services.wakes.perHour()).toBe(7)
      await form.getByRole('button', { name: 'Forget what is set here' }).click()
      expect(await page.getByRole('alert').textContent()).toBe('The number of wakes that was saved is forgotten.')
      expect(parley.services.wakes.perHour()).toBe(2)
      expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([])
    }),
  180_000,
)
