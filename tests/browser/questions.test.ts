import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { INBOX } from '../../src/pages/approvals/waiting.ts'
import { thatCanBeCut } from '../support/proxy.ts'
import { violations } from '../support/axe.ts'
import { FULL, shortOf } from '../support/full.ts'
import { MOBILE, openLive, withSite } from '../support/site.ts'

const SOON = { timeout: 10_000 }

const { parley, using, robin, asRobin } = withSite()

const room = async () => {
  const { post } = parley
  const alex = await post('/sessions', { title: 'Shipping the parser', description: '', creator_team_name: "Alex's Team" })
  const path = `/sessions/${alex.session_id}`
  const join = (team_name: string) => post(`${path}/join`, { team_name })
  const [bea, cleo] = [await join("Bea's Team"), await join('Cleo')]
  const say = (who: Record<string, string>, text: string, more: object = {}) =>
    post(`${path}/messages`, { content: { text }, ...more }, who.team_id)
  const ask = async (text: string, ...to: Record<string, string>[]) => {
    const { message_id, cursor } = await say(alex, text, { to: to.map(({ handle }) => handle), expects_reply: true })
    return { reply_to: message_id, mark: `#q${cursor}` }
  }
  return { path, alex, bea, cleo, join, say, ask, post }
}

/** The text of the mark below a question. */
const marked = (page: Page, mark: string) => page.locator(mark).innerText()
const becomes = (page: Page, mark: string, text: string) =>
  page.waitForFunction(([id, wanted]) => (document.querySelector(id!) as HTMLElement | null)?.innerText === wanted, [mark, text], {
    timeout: 10_000,
  })

test('a question waits for those whom it asks, and each answer is linked at once, there and back', () =>
  using({}, async (page, complaints) => {
    const { path, bea, cleo, say, ask } = await room()
    await openLive(page, path)
    const { reply_to, mark } = await ask('Who takes the printer?', bea, cleo)
    await becomes(page, mark, "Question · waiting for Bea's Team, Cleo")
    await page.locator(mark).evaluate((element) => element.setAttribute('data-kept', '')) // it is changed in place
    const answer = await say(bea, 'I do.', { reply_to })
    await becomes(page, mark, `Question · answered by Bea's Team, #${answer.cursor} · waiting for Cleo`)
    const last = await say(cleo, 'Then not me.', { reply_to })
    const answered = `Question · answered by Bea's Team, #${answer.cursor} · answered by Cleo, #${last.cursor}`
    await becomes(page, mark, answered)
    await say(bea, 'And it is done.', { reply_to }) // the first answer is the one that is shown
    await page.locator('#rows', { hasText: 'it is done' }).waitFor()
    expect(await marked(page, mark)).toBe(answered)
    await page.getByRole('link', { name: `answered by Cleo, #${last.cursor}` }).click()
    expect(await page.locator(`#m${last.cursor}`).evaluate((row) => row.matches(':target'))).toBe(true)
    await page.locator(`#m${last.cursor}`).getByRole('link', { name: "↗ answers Alex's Team, #" }).click()
    expect(await page.locator('.row:target').locator(mark).count()).toBe(1)
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('what was loaded long ago is marked as well, and an answer to what is not loaded disturbs nothing', () =>
  using({}, async (page, complaints) => {
    const { path, bea, cleo, say, ask, alex } = await room()
    const old = await ask('Not loaded?', bea)
    for (let n = 0; n < 130; n++) await say(alex, `work ${n}`)
    const loaded = await ask('Loaded?', cleo)
    for (let n = 0; n < 60; n++) await say(alex, `more work ${n}`)
    await page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 })) // loads no older rows by itself
    await openLive(page, path)
    expect(await page.locator(old.mark).count()).toBe(0)
    await say(bea, 'An answer.', { reply_to: old.reply_to })
    const answer = await say(cleo, 'Yes.', { reply_to: loaded.reply_to })
    await page.locator(loaded.mark, { hasText: `answered by Cleo, #${answer.cursor}` }).waitFor({ state: 'attached' }) // far out of sight
    expect(complaints).toEqual([])
    await page.goto(`${path}?all=1`)
    expect(await page.locator(old.mark).textContent()).toContain("answered by Bea's Team")
  }),
)

test.skipIf(!FULL)('a question that is withdrawn says so, and its withdrawal is no answer', () =>
  using({}, async (page) => {
    const { path, alex, bea, cleo, say, ask } = await room()
    const { reply_to, mark } = await ask('Who takes it?', bea, cleo)
    await openLive(page, path)
    const answer = await say(cleo, 'Not me.', { reply_to })
    const never = await say(alex, 'Never mind.', { reply_to })
    const all = `Question · answered by Cleo, #${answer.cursor} · withdrawn, #${never.cursor}`
    await becomes(page, mark, all)
    expect(await page.locator(`#m${never.cursor}`).innerText()).toContain(`↗ withdraws the question, ${mark.replace('q', '')}`)
    const done = await ask('Done?', bea)
    await say(bea, 'Done.', { reply_to: done.reply_to })
    const thanks = await say(alex, 'Thanks.', { reply_to: done.reply_to }) // nobody owed an answer any more
    await page.locator(`#m${thanks.cursor}`).waitFor()
    expect(await marked(page, done.mark)).not.toContain('withdrawn')
    expect(await page.locator(`#m${thanks.cursor}`).innerText()).toContain("↗ answers Alex's Team")
    await page.reload()
    expect(await marked(page, mark)).toBe(all)
  }),
)

test.skipIf(!FULL)('an answer that came while the page was cut off is marked when it is back', () =>
  using({}, async (page) => {
    const proxy = await thatCanBeCut(parley.url)
    try {
      const { path, bea, say, ask } = await room()
      const { reply_to, mark } = await ask('Are you there?', bea)
      await openLive(page, proxy.url + path)
      proxy.cut()
      const answer = await say(bea, 'I am.', { reply_to })
      proxy.heal()
      await becomes(page, mark, `Question · answered by Bea's Team, #${answer.cursor}`)
    } finally {
      await proxy.close()
    }
  }),
)

for (const script of shortOf([true, false], 1))
  test(`a question to a person is answered on the page, ${script ? 'with' : 'without'} script, by those who are signed in`, () =>
    using({ javaScriptEnabled: script, viewport: { width: 390, height: 844 } }, async (page, complaints) => {
      const { path, alex, say } = await room()
      await page.goto(path)
      await asRobin(page, path)
      await page.locator('#message').fill('I am here.')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.row-message', { hasText: 'I am here.' }).waitFor()
      const { cursor } = await say(alex, 'Shall we ship it?', { to: ['Robin'], expects_reply: true })
      if (!script) await page.reload()
      const mark = page.locator(`#q${cursor}`)
      await becomes(page, `#q${cursor}`, 'Question · waiting for Robin · Answer')
      await using({}, async (stranger) => {
        await stranger.goto(path)
        await becomes(stranger, `#q${cursor}`, 'Question · waiting for Robin')
      })
      await mark.getByRole('link', { name: 'Answer', exact: true }).click()
      const answers = page.locator('#composer', { hasText: `Answers Alex's Team, #${cursor}` })
      await answers.waitFor()
      if (script) expect(await violations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      await answers.getByRole('link', { name: 'Cancel' }).click()
      await page.locator('#composer').waitFor()
      expect(await answers.count()).toBe(0)
      await mark.getByRole('link', { name: 'Answer', exact: true }).click()
      await page.locator('#message').fill('Yes.')
      await page.getByRole('button', { name: 'Send' }).click()
      await mark.getByRole('link', { name: `answered by Robin, #${Number(cursor) + 1}` }).waitFor()
      expect(await mark.getByRole('link', { name: 'Answer', exact: true }).count()).toBe(0)
      await answers.waitFor({ state: 'detached' }) // the stream may be faster than the answer to the post
      await page.waitForURL((url) => !url.searchParams.has('answer')) // the next message answers nothing, also once the page was loaded again
      expect(complaints).toEqual([])
    }))

test('beside the board a question to a person is answered as well', () =>
  using({ viewport: { width: 1280, height: 800 } }, async (page, complaints) => {
    const { path, alex, say } = await room()
    const spoken = await fetch(`${parley.url}/api${path}/messages`, {
      method: 'POST',
      headers: { cookie: await robin() },
      body: 'I am here.',
    })
    expect(spoken.status).toBe(200)
    const { cursor } = await say(alex, 'Shall we ship it?', { to: ['Robin'], expects_reply: true })
    await asRobin(page, `${path}/board`)
    await page.locator(`#q${cursor}`).getByRole('link', { name: 'Answer', exact: true }).click()
    await page.locator('#composer', { hasText: `Answers Alex's Team, #${cursor}` }).waitFor(SOON)
    await page.locator('#message').fill('Yes.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator(`#q${cursor}`).getByRole('link', { name: 'answered by Robin' }).waitFor(SOON)
    expect(await page.locator('[data-panel=board]').count()).toBe(1)
    expect(complaints).toEqual([])
  }))

const waitsFor = (page: Page, waiting: number) => page.locator(`#approvals-link[data-waiting="${waiting}"]`).waitFor(SOON)

test('what a person is asked stands in the inbox and in the header of that person alone, wherever it was asked, until it is answered', () =>
  using({}, async (page, complaints) => {
    const [here, there] = [await room(), await room()]
    await page.goto(here.path)
    await asRobin(page, here.path)
    const written = { method: 'POST', headers: { cookie: await robin() }, body: 'I am here.' }
    for (const { path } of [here, there]) expect((await fetch(`${parley.url}/api${path}/messages`, written)).status).toBe(200)
    const before = Number(await page.locator('#approvals-link').getAttribute('data-waiting'))
    const ask = (of: typeof here, text: string) => of.say(of.alex, text, { to: ['Robin'], expects_reply: true })
    await openLive(page, here.path)
    const first = await ask(here, 'Shall we **ship** it?')
    await waitsFor(page, before + 1)
    await page.goto('/approvals')
    const asked = page.locator('#asked li')
    await asked.filter({ hasText: 'Shall we ship it?' }).waitFor()
    const second = await ask(there, 'And when?')
    await asked.filter({ hasText: 'And when?' }).waitFor(SOON)
    await waitsFor(page, before + 2)
    expect(await asked.allInnerTexts()).toEqual([
      expect.stringContaining("Alex's Team asks in Shipping the parser"),
      expect.stringContaining('And when?'),
    ])
    expect(await violations(page)).toEqual([])
    await using({}, async (stranger) => {
      await stranger.goto('/approvals')
      expect(await stranger.locator('#asked li').count()).toBe(0)
      await waitsFor(stranger, before)
    })
    await page.locator('#news', { hasText: '1 more waits for you' }).waitFor({ state: 'attached', ...SOON })
    const session = there.path.split('/').at(-1)!
    await openLive(page, `/approvals?meeting=${session}`)
    expect(await asked.allInnerTexts()).toEqual([expect.stringContaining('And when?')])
    await there.say(there.alex, 'Never mind.', { reply_to: second.message_id })
    await page.getByText('Nothing waits for you').waitFor(SOON)
    const third = await ask(there, 'Or never?')
    await asked.filter({ hasText: 'Or never?' }).waitFor(SOON)
    expect(await asked.count()).toBe(1) // none of another session
    expect(await page.getByText('Nothing waits for you').isVisible()).toBe(false)
    for (const { path } of [here, there])
      await parley.services.database.query('insert into loops (session_id, suspected_at) values ($1, now())', [path.split('/').at(-1)])
    parley.services.publishTopic(INBOX, Date.now()) // else it is looked at within 5 s
    await page.locator(`#needy a[href="${there.path}"]`).waitFor(SOON)
    expect(await page.locator('#needy li').count()).toBe(1)
    await openLive(page, '/approvals')
    await there.say(there.alex, 'Never mind.', { reply_to: third.message_id })
    await asked.filter({ hasText: 'Or never?' }).waitFor({ state: 'detached', ...SOON })
    expect(await asked.getByRole('link', { name: 'Shipping the parser' }).getAttribute('href')).toBe(
      `${here.path}?around=${first.cursor}#m${first.cursor}`,
    )
    await asked.getByRole('link', { name: 'Answer' }).click()
    await page.locator('#composer', { hasText: `Answers Alex's Team, #${first.cursor}` }).waitFor()
    await page.locator('#message').fill('Yes.')
    await page.getByRole('button', { name: 'Send' }).click()
    await waitsFor(page, before)
    await page.goto('/approvals')
    expect(await page.locator('[data-asked]').count()).toBe(0)
    expect(complaints).toEqual([])
  }))

for (const script of [true, false]) {
  test.skipIf(!FULL)(`${script ? 'with' : 'without'} script a concluded session names those who never answered`, () =>
    using({ javaScriptEnabled: script }, async (page) => {
      const { path, alex, bea, ask, post } = await room()
      const { mark } = await ask('Are you there?', bea)
      if (script) await openLive(page, path)
      else await page.goto(path)
      expect(await marked(page, mark)).toBe("Question · waiting for Bea's Team")
      await post(`${path}/conclude`, { summary_section: 'The end.' }, alex.team_id)
      if (script) await becomes(page, mark, "Question · not answered by Bea's Team")
      else await page.reload()
      expect(await marked(page, mark)).toBe("Question · not answered by Bea's Team")
    }),
  )
}

test.skipIf(!FULL)('many names and long ones fit on a phone, and cannot pass for markup', () =>
  using(MOBILE, async (page, complaints) => {
    const { path, bea, cleo, join, ask, say } = await room()
    const names = ['<img src=x onerror=alert(1)>', 'W'.repeat(100), 'Dan', 'Emi', 'Farid']
    const others = []
    for (const name of names) others.push(await join(name))
    const { reply_to, mark } = await ask('Everybody?', ...others, bea, cleo)
    await openLive(page, path)
    const text = await marked(page, mark)
    expect(text).toContain(`waiting for ${names.slice(0, 3).join(', ')} and 4 more`)
    expect(await page.locator(`${mark} [title]`).getAttribute('title')).toContain('Farid')
    for (const [n, one] of others.entries()) await say(one, `answer ${n}`, { reply_to })
    await becomes(page, mark, await expected(page, mark, names))
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    expect(await page.locator('#scroller').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    expect(complaints).toEqual([])
  }),
)

/** The mark's text once all these have answered, which Bea's Team and Cleo have not. */
const expected = async (page: Page, mark: string, names: string[]) => {
  const asked = Number(mark.slice(2))
  return `Question${names.map((name, n) => ` · answered by ${name}, #${asked + 1 + n}`).join('')} · waiting for Bea's Team, Cleo`
}
