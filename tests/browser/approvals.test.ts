// The inbox and the cards of proposals as a person uses them: by keyboard, by touch, without script, and while others decide.
import { describe, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright'
import { violations } from '../support/axe.ts'
import { whileBusy } from '../support/cpu.ts'
import { startAgents } from '../support/demo-agents.ts'
import { fillProposals, proposalRoom } from '../support/demo-proposals.ts'
import { FULL, shortOf } from '../support/full.ts'
import { thatCanBeCut } from '../support/proxy.ts'
import { KEY, leastShift, MOBILE, observeShifts, openLive, serveSite, withSite } from '../support/site.ts'
import { withTwoSites } from '../support/two-sites.ts'

const SOON = { timeout: 10_000 }
const WIDE = { viewport: { width: 1280, height: 800 } }
const LIVE_MS = 500

const { parley, using, robin, asRobin } = withSite()

const room = (title?: string) => proposalRoom(parley.post, title)

/** Decides over REST, as a signed-in person. */
const decide = async (id: string, body: object, { url }: { url: string } = parley, cookie?: string) => {
  const headers = { 'content-type': 'application/json', cookie: cookie ?? (await robin()) }
  const response = await fetch(`${url}/api/approvals/${id}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as any }
}
const stateOf = async (id: string) => {
  const response = await fetch(`${parley.url}/api/approvals/${id}`, { headers: { cookie: await robin() } })
  return ((await response.json()) as any).proposal
}

const card = (page: Page, id: string) => page.locator(`#p${id}`)
/** Waits until the focus is on this card, or in it on what is named `field`. */
const hasFocus = (page: Page, id: string, field?: string) =>
  page.waitForFunction(
    ([card, name]) => {
      const { activeElement: at } = document
      return at?.closest('[data-card]')?.id === `p${card}` && (name ? at.getAttribute('name') === name : at.matches('[data-card]'))
    },
    [id, field] as const,
    SOON,
  )

/** What was typed into this card, once somebody else has decided it. The focus is there, and keys that go on do nothing. */
const keptIn = async (page: Page, id: string) => {
  const kept = card(page, id).getByLabel('What you had typed')
  await kept.waitFor(SOON)
  const at = page.url()
  for (const key of ['k', 'a', 'c', 'i']) await page.keyboard.press(key)
  expect([await kept.evaluate((field) => field === document.activeElement), page.url()]).toEqual([true, at])
  return kept.inputValue()
}

const follow = async (page: Page, path: string) => {
  await asRobin(page)
  await openLive(page, path)
}

/** How long it takes, from its beginning, until the page shows what `act` brings about: an element with this text. */
const shows = async (page: Page, selector: string, text: string, act: () => Promise<unknown>): Promise<number> => {
  await page.evaluate(
    ([wanted, said]) => {
      const isThere = () => [...document.querySelectorAll(wanted!)].some((one) => one.textContent.includes(said!))
      if (isThere()) throw new Error('it is there before')
      const shown = new Promise<number>((resolve) =>
        new MutationObserver(() => isThere() && resolve(Date.now())).observe(document, {
          subtree: true,
          childList: true,
          attributes: true,
        }),
      )
      Object.assign(window, { shown })
    },
    [selector, text],
  )
  const began = Date.now()
  await act()
  return (await page.evaluate<number>('shown')) - began
}

/** Of three times the shortest: the others may have waited for a busy machine. */
const quickest = async (once: (n: number) => Promise<number>): Promise<number> => {
  const times: number[] = []
  for (let n = 0; n < 3; n++) times.push(await once(n))
  return Math.min(...times)
}

test('[E12] decided with the keyboard alone: approved, edited and approved, rejected with a word; the proposer is told of each', () =>
  using(WIDE, async (page, complaints) => {
    const { id, path, alex, propose } = await room()
    const [plain, vague, wrong] = [
      await propose({ title: 'Freeze the syntax' }),
      await propose({ title: 'Write the guide', description: 'For the editors.', owner_name: "Bea's Team" }),
      await propose({ title: 'Delete the old parser', description: 'All of it.' }),
    ]
    await follow(page, path)
    await page.keyboard.press('i')
    await page.waitForURL('**/approvals')
    await page.goto(`/approvals?meeting=${id}`)
    await page.keyboard.press('j')
    await hasFocus(page, plain)
    const told = fetch(`${parley.url}/api/sessions/${id}/wait?only=addressed&timeout=20`, { headers: { 'x-team-id': alex } })
    await page.keyboard.press('a')
    await card(page, plain)
      .getByText(/Approved by Robin, \d\d:\d\d/)
      .waitFor(SOON)
    const first = ((await (await told).json()) as any).messages
    expect(first).toMatchObject([{ event: 'proposal_approved', proposal_id: plain, by: 'Robin', edited: [] }])
    await hasFocus(page, vague) // the next one
    expect(await card(page, plain).getByRole('link', { name: 'The record' }).getAttribute('href')).toContain(`${path}/records#r`)

    await page.keyboard.press('e')
    const title = card(page, vague).getByLabel('Title')
    await hasFocus(page, vague, 'title')
    await page.keyboard.press('End')
    await page.keyboard.type(' for the editors')
    await page.keyboard.press('Escape')
    expect(await title.isVisible()).toBe(false)
    await page.keyboard.press('e')
    expect(await title.inputValue()).toBe('Write the guide for the editors') // what was typed stays
    await page.keyboard.press('Enter')
    await card(page, vague).getByText('with another title').waitFor(SOON)
    expect(await stateOf(vague)).toMatchObject({
      status: 'approved',
      edited: ['title'],
      data: { title: 'Write the guide for the editors' },
    })

    await hasFocus(page, wrong)
    await page.keyboard.press('x')
    await page.keyboard.type('Two plugins need it.')
    await page.keyboard.press('Control+Enter')
    await card(page, wrong).getByText('Rejected').waitFor(SOON)
    expect(await stateOf(wrong)).toMatchObject({ status: 'rejected', feedback: 'Two plugins need it.' })
    await page.getByText('Nothing waits for you').waitFor(SOON)
    for (const one of [plain, vague, wrong]) expect(await card(page, one).isVisible()).toBe(true) // for this visit they stay
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Reject, or deny').waitFor(SOON)
    expect(complaints).toEqual([])
  }))

test('a key that is held down approves one card, and goes on only from card to card', () =>
  using(WIDE, async (page, complaints) => {
    const { id, propose } = await room()
    const ids: string[] = []
    for (const title of ['Freeze the syntax', 'Freeze the tokens', 'Freeze the errors']) ids.push(await propose({ title }))
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
    await follow(page, `/approvals?meeting=${id}`)
    await page.keyboard.press('j')
    await page.keyboard.down('a')
    await hasFocus(page, ids[1]!)
    await page.keyboard.down('a') // again without an end: what a browser sends while it is held
    for (const _ of ids) await page.keyboard.down('k')
    await hasFocus(page, ids[0]!)
    for (const _ of ids) await page.keyboard.down('j')
    await hasFocus(page, ids[2]!)
    expect(sent).toEqual([`/approvals/${ids[0]}`])
    expect(complaints).toEqual([])
  }))

test('by touch at 390 px; a second tap lands on nothing; what was refused keeps what was typed', () =>
  using(MOBILE, async (page, complaints) => {
    const { id, propose } = await room()
    const [first, second] = [await propose({ title: 'Freeze the syntax' }), await propose({ title: 'Freeze the tokens' })]
    await follow(page, `/approvals?meeting=${id}`)
    const button = card(page, first).getByRole('button', { name: 'Approve', exact: true })
    const box = (await button.boundingBox())!
    expect(box.height).toBe(44)
    for (let tap = 0; tap < 2; tap++) await page.touchscreen.tap(box.x + 10, box.y + 10)
    await card(page, first).getByText('Approved').waitFor(SOON)
    await page.touchscreen.tap(box.x + 10, box.y + 10)
    await page.waitForTimeout(200)
    expect((await stateOf(second)).status).toBe('pending')
    expect(await parley.services.database.query('select id from items where proposal_id = $1', [first])).toHaveLength(1)

    await page.waitForTimeout(500) // as long as taps are taken for second ones
    await card(page, second).getByText('Edit', { exact: true }).tap()
    const title = card(page, second).getByLabel('Title')
    await title.fill('No')
    await card(page, second).getByLabel('A word to the agent').fill('Shorter.')
    await card(page, second).getByRole('button', { name: 'Approve with changes' }).tap()
    await card(page, second).getByText('Must have at least 5 characters').waitFor(SOON)
    expect(await title.inputValue()).toBe('No')
    expect(await card(page, second).getByLabel('A word to the agent').inputValue()).toBe('Shorter.')
    await hasFocus(page, second, 'title')
    await title.fill('Freeze all tokens')
    await card(page, second).getByLabel('Due (UTC)').fill('2027-03-01T09:00')
    await card(page, second).getByRole('button', { name: 'Approve with changes' }).tap()
    await card(page, second).getByText('with another title and due date').waitFor(SOON)
    expect(await stateOf(second)).toMatchObject({
      edited: ['title', 'due_date'],
      feedback: 'Shorter.',
      data: { title: 'Freeze all tokens', due_date: '2027-03-01T09:00:00.000Z' },
    })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
  }))

test('without script the same forms decide, and the inbox keeps what was decided', () =>
  using({ ...MOBILE, javaScriptEnabled: false }, async (page, complaints) => {
    const { id, path, propose } = await room()
    const [plain, wrong, gone] = [
      await propose({ title: 'Freeze the syntax' }),
      await propose({ title: 'Delete the old parser' }),
      await propose({ title: 'Freeze the tokens' }),
    ]
    await asRobin(page, `/approvals?meeting=${id}`)
    await card(page, plain).getByRole('button', { name: 'Approve', exact: true }).click()
    expect(page.url()).toEndWith(`/approvals?meeting=${id}&done=${plain}#p${plain}`)
    expect(await card(page, plain).innerText()).toContain('Approved by Robin')
    await card(page, wrong).getByText('Reject', { exact: true }).click()
    await card(page, wrong).getByLabel('Feedback').fill('Not yet.')
    await card(page, wrong).getByRole('button', { name: 'Send rejection' }).click()
    expect(await card(page, wrong).innerText()).toContain('Not yet.')
    expect(await card(page, plain).isVisible()).toBe(true)
    await decide(gone, { action: 'approve' })
    await card(page, gone).getByText('Edit', { exact: true }).click()
    await card(page, gone).getByLabel('Title').fill('Freeze no tokens')
    await card(page, gone).getByRole('button', { name: 'Approve with changes' }).click()
    expect(await card(page, gone).innerText()).toContain('Approved by Robin') // it was decided before: what became of it, and of the words
    expect(await card(page, gone).getByRole('alert').innerText()).toContain('You had sent: Freeze no tokens')
    expect((await stateOf(gone)).data.title).toBe('Freeze the tokens')
    expect(complaints.splice(0)).toEqual([expect.stringContaining('409')])

    await page.goto(`/approvals?meeting=${id}`)
    await page.getByRole('link', { name: 'Decided' }).click()
    await card(page, plain).getByText('Withdraw', { exact: true }).click()
    await card(page, plain).getByLabel('Reason').fill('The syntax moves again.')
    await card(page, plain).getByRole('button', { name: 'Withdraw it' }).click()
    expect(await card(page, plain).innerText()).toContain('withdrawn since')
    const late = await propose({ title: 'Too late for this' })
    await parley.services.database.query(`update proposals set expires_at = now() - interval '1 second' where id = $1`, [late])
    await page.goto(`/approvals?show=expired&meeting=${id}`)
    await card(page, late).getByRole('button', { name: 'Bring back' }).click()
    expect((await stateOf(late)).status).toBe('pending')
    await page.goto(path)
    await card(page, late).getByRole('button', { name: 'Approve', exact: true }).click()
    expect(page.url()).toEndWith(`${path}#p${late}`) // back to the feed
    expect(await card(page, late).innerText()).toContain('Approved by Robin')
    await page.goto(`/approvals/${wrong}`)
    expect(await card(page, wrong).innerText()).toContain('Rejected by Robin')
    expect(complaints).toEqual([])
  }))

test('a card of the feed stays one and is led back to, also where the board or the records stand beside it', async () => {
  const { path, propose } = await room()
  for (const at of [path, `${path}/board`, `${path}/records`]) {
    const send = async (id: string, more: Record<string, string>) => {
      const headers = { cookie: await robin(), origin: parley.url, referer: parley.url + at, ...more }
      const body = new URLSearchParams({ act: 'approve' })
      return fetch(`${parley.url}/approvals/${id}`, { method: 'POST', redirect: 'manual', headers, body })
    }
    const [one, other] = [await propose({ title: `Freeze ${at}` }), await propose({ title: `Freeze more of ${at}` })]
    const card = await (await send(one, { 'hx-request': 'true' })).text()
    expect(card).toContain('data-card="done"')
    expect([at, card.includes('class="origin')]).toEqual([at, false]) // its row says by whom
    expect((await send(other, {})).headers.get('location')).toBe(`${at}#p${other}`)
  }
})

test.each(shortOf(['after the stream has told of it', 'as it comes'], 1))(
  'three of one team are approved with one question, whose answer, %s, says what came of each',
  (when) =>
    using(WIDE, async (page, complaints) => {
      const { id, propose } = await room()
      const titles = ['Freeze the syntax', 'Freeze the tokens', 'Freeze the errors', 'Freeze the docs']
      const ids: string[] = []
      for (const title of titles) ids.push(await propose({ title }))
      await follow(page, `/approvals?meeting=${id}`)
      await page.getByText('Approve these 4').click()
      for (const title of titles) expect(await page.locator('[id^=together-] li', { hasText: title }).isVisible()).toBe(true)
      await decide(ids[3]!, { action: 'reject' })
      await page.getByText('Approve these 3').waitFor(SOON) // one was decided elsewhere
      if (when !== 'as it comes')
        await page.route('**/approvals', async (route) => {
          const response = await route.fetch()
          await page.locator('[id^=together-]').waitFor({ state: 'hidden' })
          await route.fulfill({ response })
        })
      await page.getByRole('button', { name: 'Approve all 3 as they are' }).click()
      await page.locator('[role=status]', { hasText: 'Approved. Freeze the errors' }).waitFor(SOON)
      for (const one of ids.slice(0, 3)) expect(await card(page, one).innerText()).toContain('Approved by Robin')
      expect(complaints).toEqual([])
    }),
)

test('whoever may not decide sees the cards without buttons, and the way to sign in', () =>
  using(WIDE, async (page, complaints) => {
    const { id, path, propose } = await room()
    const one = await propose({ title: 'Freeze the syntax' })
    for (const at of [`/approvals?meeting=${id}`, `/approvals/${one}`, path]) {
      await page.goto(at)
      expect(await card(page, one).innerText()).toContain('Freeze the syntax')
      expect(await card(page, one).getByText('Approve', { exact: true }).isVisible()).toBe(false)
    }
    await page.goto(`/approvals?meeting=${id}`)
    await page.getByRole('link', { name: 'Sign in to decide' }).click()
    expect(new URL(page.url()).searchParams.get('next')).toBe(`/approvals?meeting=${id}`)
    const response = await page.request.post(`/approvals/${one}`, { form: { act: 'approve' }, headers: { origin: parley.url } })
    expect(response.status()).toBe(401)
    expect((await stateOf(one)).status).toBe('pending')
    expect(complaints).toEqual([])
  }))

test('with a password on the pages the inbox, a card and the number that waits are closed to strangers', async () => {
  const closed = await serveSite({ VIEWER_PASSWORD: 'the viewers password' })
  try {
    const { propose } = await proposalRoom(closed.post)
    const one = await propose({ title: 'Freeze the syntax' })
    for (const path of ['/approvals', `/approvals/${one}`]) {
      const response = await fetch(closed.url + path, { redirect: 'manual' })
      expect(response.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    }
    for (const path of ['/approvals/live', `/approvals/cards?proposal=${one}`]) expect((await fetch(closed.url + path)).status).toBe(401)
    expect(await (await fetch(`${closed.url}/sign-in`)).text()).toContain('data-waiting="0"')
    const body = new URLSearchParams({ key: 'the viewers password' })
    const entered = await fetch(`${closed.url}/sign-in`, { method: 'POST', redirect: 'manual', body })
    const cookie = entered.headers.getSetCookie()[0]!.split(';')[0]!
    const seen = await (await fetch(`${closed.url}/approvals`, { headers: { cookie } })).text()
    expect(seen).toContain('Freeze the syntax')
    expect(seen).toContain('Approvals, 1 waiting')
    const form = new URLSearchParams({ act: 'approve' })
    expect((await fetch(`${closed.url}/approvals/${one}`, { method: 'POST', headers: { cookie }, body: form })).status).toBe(403)
  } finally {
    await closed.stop()
  }
})

test('what an agent asks permission for stands first, and is answered there', () =>
  using(WIDE, async (page, complaints) => {
    const { propose } = await room()
    await propose({ title: 'Freeze the syntax' })
    const agents = await startAgents(parley)
    const session = await agents.create()
    await agents.prompt(session, 'Drop the fixtures.')
    const { task_id } = (await agents.take()).find(({ session_id }) => session_id === session)!
    await follow(page, '/approvals')
    const waiting = Number(await page.locator('#approvals-link').getAttribute('data-waiting'))
    await agents.ask(task_id, 'req-1', { tool_name: 'Bash', text: 'rm -r fixtures' })
    const asked = page.locator('#requests [data-card]', { hasText: 'rm -r fixtures' })
    await asked.waitFor(SOON)
    await page.locator(`#approvals-link[data-waiting="${waiting + 1}"]`).waitFor(SOON)
    await page.waitForFunction((title) => document.title === title, `(${waiting + 1}) Approvals · Parley`, SOON)
    expect(await page.getByRole('link', { name: `Approvals, ${waiting + 1} waiting` }).count()).toBe(1)
    await asked.focus()
    await page.keyboard.press('a')
    await asked.getByText('Allowed by Robin').waitFor(SOON)
    await page.locator(`#approvals-link[data-waiting="${waiting}"]`).waitFor(SOON)
    await agents.ask(task_id, 'req-2', { tool_name: 'Bash', text: 'rm -r more' })
    const other = page.locator('#requests [data-card]', { hasText: 'rm -r more' })
    await other.getByLabel('A word to the agent').fill('Only v2.')
    await other.getByRole('button', { name: 'Deny' }).press('Enter')
    await other.getByText('Denied by Robin: Only v2.').waitFor(SOON)
    expect(await other.innerText()).not.toContain('What you had typed') // it was sent
    expect(await other.evaluate((card) => card === document.activeElement)).toBe(true) // though its button had the focus, and was disabled
    await agents.finish(task_id, { status: 'completed', answer: 'Done.' })
    expect(complaints).toEqual([])
  }))

test('what comes while the page is open moves nothing, and what is typed and folded open stays', () =>
  using(WIDE, async (page, complaints) => {
    const { id, path, propose } = await room()
    const first = await propose({ title: 'Freeze the syntax' })
    for (const at of [`/approvals?meeting=${id}`, path]) {
      await follow(page, at)
      await card(page, first).getByText('Reject', { exact: true }).click()
      const field = card(page, first).getByLabel('Feedback')
      await field.fill('Half a sen')
      const top = () => field.evaluate((element) => Math.round(element.getBoundingClientRect().top))
      const before = await top()
      expect(
        await quickest(async (n) => {
          const title = `Another one, ${at.length}, ${n}`
          return shows(page, '[data-card=open]', title, () => propose({ title }))
        }),
      ).toBeLessThan(whileBusy(LIVE_MS))
      if (at !== path) expect(Math.abs((await top()) - before)).toBeLessThan(2) // a feed goes to its newest row
      expect(await field.inputValue()).toBe('Half a sen')
      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    }
    await follow(page, `/approvals?meeting=${id}`)
    await card(page, first).getByText('Reject', { exact: true }).click()
    await card(page, first).getByLabel('Feedback').fill('Not while plugins need it.')
    await decide(first, { action: 'approve' })
    await card(page, first).getByText('Approved by Robin').waitFor(SOON)
    expect(await keptIn(page, first)).toBe('Not while plugins need it.')
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('keys that were meant for a field do nothing once somebody else has decided its card, until they pause', () =>
  using(WIDE, async (page, complaints) => {
    const { id, path, propose } = await room()
    const above = await propose({ title: 'Freeze the syntax' })
    for (const at of [`/approvals?meeting=${id}`, path]) {
      const theirs = await propose({ title: `Freeze the tokens of ${at.length}` })
      await follow(page, at)
      await card(page, theirs).getByText('Reject', { exact: true }).click()
      await card(page, theirs).getByLabel('Feedback').focus()
      const pressed = page.evaluate(
        (one) =>
          new Promise<void>((resolve) => {
            const press = () => {
              for (const key of ['k', 'a', 'i']) document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
              resolve()
            }
            const look = () => {
              if (document.getElementById(one)!.dataset.card !== 'done') return
              observer.disconnect()
              setTimeout(press)
            }
            const observer = new MutationObserver(look)
            observer.observe(document, { subtree: true, childList: true, attributes: true })
            look()
          }),
        `p${theirs}`,
      )
      await decide(theirs, { action: 'approve' })
      await pressed
      await hasFocus(page, theirs)
      expect((await stateOf(above)).status).toBe('pending')
      expect(page.url()).toEndWith(at)
    }
    await page.waitForTimeout(1_500)
    await page.keyboard.press('i')
    await page.waitForURL('**/approvals')
    expect(complaints).toEqual([])
  }),
)

test('what is sent after somebody else was faster is said on the card, which keeps the focus', () =>
  using(WIDE, async (page, complaints) => {
    const { id, propose } = await room()
    const [first, second] = [await propose({ title: 'Freeze the syntax' }), await propose({ title: 'Freeze the tokens' })]
    await follow(page, `/approvals?meeting=${id}`)
    await card(page, first).getByText('Reject', { exact: true }).click()
    await card(page, first).getByLabel('Feedback').fill('Not while plugins need it.')
    await page.route(`**/approvals/${first}`, async (route) => {
      await decide(first, { action: 'approve' })
      await route.continue()
    })
    await card(page, first).getByRole('button', { name: 'Send rejection' }).click()
    const said = 'It was decided before, and what you sent was not applied. You had sent: Not while plugins need it.'
    await card(page, first).locator('[role=alert]:visible').getByText(said, { exact: true }).waitFor(SOON)
    await hasFocus(page, first)
    await decide(second, { action: 'approve' })
    await card(page, second).getByText('Approved by Robin').waitFor(SOON) // the stream has gone on since
    expect(await card(page, first).innerText()).toContain(said)
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([])
  }))

test('of several cards of a session that come at once, each is decided in its place', () =>
  using(WIDE, async (page, complaints) => {
    const { id, propose } = await room()
    await follow(page, `/approvals?meeting=${id}`)
    const hide = (hidden: boolean) =>
      page.evaluate((is) => {
        Object.defineProperty(document, 'hidden', { value: is, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await hide(true) // a hidden page is told of nothing, and of all at once when it is seen again
    const [first, second] = [await propose({ title: 'Freeze the syntax' }), await propose({ title: 'Freeze the tokens' })]
    await hide(false)
    await card(page, first).waitFor(SOON)
    await page.evaluate(() => Object.assign(window, { stays: true }))
    await card(page, second).getByRole('button', { name: 'Approve', exact: true }).click()
    await card(page, second).getByText('Approved by Robin').waitFor(SOON)
    expect(await page.evaluate(() => 'stays' in window)).toBe(true)
    await page.locator('#news', { hasText: '2 more wait for you' }).waitFor({ state: 'attached', ...SOON }) // what a screen reader says
    expect(complaints).toEqual([])
  }))

test('a card of the feed, which stays as it is, says when it expires, and one of the inbox for how long it waits', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const { id, path, propose } = await room()
    const one = await propose({ title: 'Freeze the syntax' })
    await page.goto(path)
    expect(await card(page, one).innerText()).toMatch(/expires \d+ \w+ \d{4}, \d\d:\d\d UTC/)
    await page.goto(`/approvals?meeting=${id}`)
    expect(await card(page, one).innerText()).toMatch(/expires in \d+ (h|days)/)
  }))

test.skipIf(!FULL)('for how long something waits goes on while the inbox is open', () =>
  using(WIDE, async (page, complaints) => {
    const { id, propose } = await room()
    const one = await propose({ title: 'Freeze the syntax' })
    await follow(page, `/approvals?meeting=${id}`)
    await parley.services.database.query(`update proposals set created_at = created_at - interval '5 minutes' where id = $1`, [one])
    await card(page, one).getByText('5m ago').waitFor(SOON)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('an inbox that cannot follow says so until it can again, and one that was closed to its reader says that', () =>
  using(WIDE, async (page) => {
    const { id, propose } = await room()
    const bar = page.locator('#reconnecting')
    const proxy = await thatCanBeCut(parley.url)
    try {
      await openLive(page, `${proxy.url}/approvals?meeting=${id}`)
      expect(await bar.isVisible()).toBe(false)
      proxy.cut()
      await bar.getByText('Reconnecting…').waitFor(SOON)
      const one = await propose({ title: 'Freeze the syntax' })
      proxy.heal()
      await card(page, one).waitFor(SOON)
      await bar.waitFor({ state: 'hidden', ...SOON })
    } finally {
      await proxy.close()
    }
    await page.route('**/approvals/live?*', (route) => route.fulfill({ status: 401 }))
    await page.goto(`/approvals?meeting=${id}`)
    await bar.getByText('You no longer have access to this page.').waitFor(SOON)
  }),
)

test.skipIf(!FULL)('a card that could not be loaded comes with the next try, and one that is decided while it is loaded says so', () =>
  using(WIDE, async (page, complaints) => {
    const { id, propose } = await room()
    await page.clock.install()
    await follow(page, `/approvals?meeting=${id}`)
    const before = Number(await page.locator('#approvals-link').getAttribute('data-waiting'))
    const waits = (more: number) => page.locator(`#approvals-link[data-waiting="${before + more}"]`).waitFor(SOON)
    const once = (work: (route: Route) => Promise<void>) => page.route('**/approvals/cards?*', work, { times: 1 })
    await once((route) => route.fulfill({ status: 503 }))
    const refused = page.waitForResponse('**/approvals/cards?*')
    const late = await propose({ title: 'Freeze the syntax' })
    await refused
    for (let second = 0; second < 12; second++) await page.clock.runFor(1_000)
    await card(page, late).waitFor(SOON)
    expect(complaints.filter((text) => !text.includes('503'))).toEqual([])

    await once(async (route) => {
      const response = await route.fetch()
      await waits(2)
      await decide(new URL(response.url()).searchParams.get('proposal')!, { action: 'approve' })
      await waits(1) // the stream has told of it
      await route.fulfill({ response })
    })
    const quick = await propose({ title: 'Freeze the tokens' })
    await card(page, quick).getByText('Approved by Robin').waitFor(SOON)
  }),
)

test.skipIf(!FULL)('a vote that could not be sent says so below all three buttons', () =>
  using(MOBILE, async (page) => {
    const { id, propose } = await room()
    const one = await propose({ title: 'Freeze the syntax' })
    await follow(page, `/approvals?meeting=${id}`)
    await page.route(`**/approvals/${one}`, (route) => route.abort('connectionrefused'))
    await card(page, one).getByRole('button', { name: 'Approve', exact: true }).click()
    const note = card(page, one).getByText('Not sent: the server cannot be reached. Try again.')
    await note.waitFor(SOON)
    const [said, reject] = [await note.boundingBox(), await card(page, one).getByText('Reject', { exact: true }).boundingBox()]
    expect(said!.x + said!.width).toBe(reject!.x + reject!.width)
    expect(said!.y).toBeGreaterThan(reject!.y + reject!.height)
  }),
)

const SIGNED_OUT = 'You are no longer signed in. Sign in in another tab, then send this again.'

test.skipIf(!FULL)('whoever was signed out in another tab is told so by each form, and signed in again there sends what was typed', () =>
  using(WIDE, async (page, _, context) => {
    const { id, propose } = await room()
    const one = await propose({ title: 'Freeze the syntax' })
    for (const title of ['Freeze the printer', 'Freeze the manual']) await propose({ title })
    await follow(page, `/approvals?meeting=${id}`)
    await card(page, one).getByText('Reject', { exact: true }).click()
    await card(page, one).getByLabel('Feedback').fill('Not while plugins need it.')
    const send = card(page, one).getByRole('button', { name: 'Send rejection' })
    const said = card(page, one).locator('[role=alert]:visible')
    await context.clearCookies()
    await send.click()
    await said.getByText(SIGNED_OUT, { exact: true }).waitFor(SOON)
    await page.locator('[id^=together-] summary').click()
    await page.getByRole('button', { name: 'Approve all 3 as they are' }).click()
    await page.locator('[id^=together-] [role=alert]').getByText(SIGNED_OUT, { exact: true }).waitFor(SOON)
    for (const [status, text] of [
      [502, 'Not sent: the server cannot be reached. Your text is kept; send it again.'],
      [401, 'Not sent: sign in again, in another tab.'],
      [429, 'Not sent: the server cannot be reached. Your text is kept; send it again.'],
      [403, 'Not sent: sign in again, in another tab.'],
    ] as const) {
      await page.route(`**/approvals/${one}`, (route) => route.fulfill({ status, body: '<p>A proxy' }))
      await send.click() // what is said is why it was not sent this time
      await said.getByText(text, { exact: true }).waitFor(SOON)
      await page.unroute(`**/approvals/${one}`)
    }
    await asRobin(page)
    await send.click()
    await card(page, one).getByText('Rejected').waitFor(SOON)
    expect(await stateOf(one)).toMatchObject({ status: 'rejected', feedback: 'Not while plugins need it.' })
  }),
)

test.skipIf(!FULL)('whoever asks too often is told so, and when to try again', async () => {
  const busy = await serveSite({ RATE_LIMIT: '30' })
  try {
    const { id, propose } = await proposalRoom(busy.post)
    const one = await propose({ title: 'Freeze the syntax' })
    await using(
      WIDE,
      async (page) => {
        await page.goto(`/sign-in?key=${KEY}&name=Robin`)
        await page.goto(`/approvals?meeting=${id}`)
        await page.route(`**/approvals/${one}`, async (route) => {
          for (let status = 200; status !== 429;) status = (await fetch(`${busy.url}/api/config`)).status
          await route.continue()
        })
        await card(page, one).getByRole('button', { name: 'Approve', exact: true }).click()
        await card(page, one)
          .locator('[role=alert]:visible')
          .getByText(/^Too many requests in a minute\. Try again in \d+ s\.$/)
          .waitFor(SOON)
      },
      busy,
    )
  } finally {
    await busy.stop()
  }
})

test.skipIf(!FULL)(
  'what is half typed into a card of the feed is not lost when somebody else decides it, and what was sent is not said again',
  () =>
    using(WIDE, async (page, complaints) => {
      const { path, propose } = await room()
      const titles = ['Freeze the syntax', 'Freeze the printer', 'Freeze the manual']
      const [theirs, own, late] = (await Promise.all(titles.map((title) => propose({ title })))) as [string, string, string]
      await follow(page, path)
      const typeInto = async (id: string) => {
        await card(page, id).getByText('Reject', { exact: true }).click()
        await card(page, id).getByLabel('Feedback').fill('Not while plugins need it.')
      }
      await typeInto(theirs)
      await decide(theirs, { action: 'approve' })
      expect(await keptIn(page, theirs)).toBe('Not while plugins need it.')
      expect(await card(page, theirs).locator('details[open]').count()).toBe(0) // above all not the one that withdraws
      await typeInto(own)
      await card(page, own).getByText('Send rejection').click()
      await page.locator(`#p${own}[data-card=done]`).waitFor(SOON)
      const other = await propose({ title: 'Freeze all of it' })
      await card(page, other).waitFor(SOON) // the stream has gone on since
      expect(await card(page, own).innerText()).not.toContain('What you had typed')
      await page.route(`**/approvals/${late}`, async (route) => {
        const response = await (await decide(late, { action: 'approve' }), route.fetch())
        await page.locator(`#p${late}[data-card=done]`).waitFor(SOON) // the stream was faster than the answer
        await route.fulfill({ response })
      })
      await typeInto(late)
      await card(page, late).getByText('Send rejection').click()
      await card(page, late).getByText('You had sent: Not while plugins need it.').waitFor(SOON)
      expect(await card(page, late).innerText()).not.toContain('What you had typed')
      expect(complaints.filter((text) => !text.includes('409'))).toEqual([])
    }),
)

test.skipIf(!FULL)('a row that waits for a person takes no button that copies a message', () =>
  using(WIDE, async (page, complaints) => {
    const { path, say, propose } = await room()
    const { cursor } = await say('I would freeze it.')
    const id = await propose({ title: 'Freeze the syntax' })
    await follow(page, path)
    const copy = page.locator(`#m${cursor} #copy-message`)
    await page.locator(`#m${cursor}`).hover()
    await copy.waitFor(SOON)
    await card(page, id).hover()
    await card(page, id).getByRole('button').first().focus()
    expect(await page.locator('.row-message', { has: card(page, id) }).count()).toBe(1)
    expect(await copy.count()).toBe(1)
    expect(complaints).toEqual([])
  }),
)

describe.skipIf(!FULL)('at two instances', () => {
  const twoSites = withTwoSites()

  test('what somebody else decides at another instance changes the open cards within 500 ms, in the inbox and in the feed', async () => {
    const [here, there] = twoSites()
    const entered = await fetch(`${there.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ key: KEY, name: 'Kim' }),
    })
    const kim = entered.headers.getSetCookie()[0]!.split(';')[0]!
    const { id, path, propose } = await proposalRoom(here.post)
    await using(
      WIDE,
      async (page, complaints) => {
        await page.goto(`/sign-in?key=${KEY}&name=Robin`)
        for (const at of ['/approvals', path, `/approvals?meeting=${id}`]) {
          await openLive(page, at)
          expect(
            await quickest(async (n) => {
              const one = await propose({ title: `Freeze the syntax of ${at.length}, ${n}` })
              await card(page, one).getByText('Approve', { exact: true }).waitFor(SOON)
              return shows(page, `#p${one}[data-card=done]`, 'Approved by Kim', () => decide(one, { action: 'approve' }, there, kim))
            }),
          ).toBeLessThan(whileBusy(LIVE_MS))
        }
        expect(complaints).toEqual([])
      },
      here,
    )
  })
})

test.skipIf(!FULL)('an inbox with 20 cards takes at most 70 KiB, all in, and nothing in it jumps', async () => {
  const other = await serveSite()
  try {
    const { propose } = await proposalRoom(other.post)
    for (let n = 0; n < 20; n++)
      await propose({ title: `Proposal ${n}`, description: 'Because it is **so**, and not otherwise. '.repeat(1 + (n % 5)) })
    await using(
      WIDE,
      async (page, complaints, context) => {
        await page.goto(`/sign-in?key=${KEY}&name=Robin&next=/nothing`)
        complaints.length = 0
        const network = await context.newCDPSession(page)
        await network.send('Network.enable')
        await network.send('Network.setCacheDisabled', { cacheDisabled: true })
        let bytes = 0
        network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
        await observeShifts(page)
        await page.goto('/approvals')
        await page.waitForTimeout(1_000)
        console.log(`the inbox with 20 cards: ${(bytes / 1024).toFixed(1)} KiB`)
        expect(bytes).toBeLessThanOrEqual(70 * 1024)
        expect(await leastShift(page)).toBeLessThan(0.001) // an age that grows wider: 0.00001
        expect(await page.locator('[data-card=open]').count()).toBe(20)
        expect(complaints).toEqual([])
      },
      other,
    )
  } finally {
    await other.stop()
  }
})

const LOOKS = [
  ['light', WIDE],
  ['dark phone', { ...MOBILE, colorScheme: 'dark' }],
  ['dark', { ...WIDE, colorScheme: 'dark' }],
  ['phone', MOBILE],
] as const
test.skipIf(!FULL).each(LOOKS)(
  'every page of proposals is readable for everybody, %s',
  async (look, options) => {
    const site = await serveSite()
    try {
      const body = new URLSearchParams({ key: KEY, name: 'Robin' })
      const entered = await fetch(`${site.url}/sign-in`, { method: 'POST', redirect: 'manual', body })
      const [name = '', value = ''] = entered.headers.getSetCookie()[0]!.split(';')[0]!.split('=')
      const cookie = `${name}=${value}`
      const isFine = async (page: Page, at: string) => {
        const wrong = await violations(page, look.startsWith('dark') ? 'dark' : 'light')
        expect({ at, wrong }).toEqual({ at, wrong: [] })
        expect({ at, over: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) }).toEqual({ at, over: 0 })
      }
      await using(
        options,
        async (page, complaints, context) => {
          await context.addCookies([{ name, value, url: site.url }])
          for (const path of ['/approvals', '/approvals?show=decided', '/approvals?show=expired']) {
            await page.goto(path)
            await isFine(page, `${path}, empty`)
          }
          const reject = (id: string, feedback: string) => decide(id, { action: 'reject', feedback }, site, cookie)
          const { parser, first, spans, again } = await fillProposals(site.post, reject)
          await decide(first, { action: 'approve' }, site, cookie)
          await site.services.database.query(`update proposals set expires_at = now() + interval '1 hour' where id = $1`, [again])
          await site.services.database.query(`update proposals set expires_at = now() - interval '1 hour' where id = $1`, [spans])
          await site.services.database.query('insert into loops (session_id, suspected_at) values ($1, now())', [parser.id])
          for (const path of [
            '/approvals',
            `/approvals?done=${first}`,
            '/approvals?show=decided',
            '/approvals?show=expired',
            parser.path,
          ]) {
            await page.goto(path)
            await isFine(page, path)
          }
          await page.goto(`/approvals/${again}`)
          expect(await page.locator('main').innerText()).toMatch(/expires in 5\d min/)
          for (const fold of ['Edit', 'Reject']) {
            await page.getByText(fold, { exact: true }).click()
            await isFine(page, `a card with ${fold} open`)
          }
          expect(complaints).toEqual([])
        },
        site,
      )
    } finally {
      await site.stop()
    }
  },
  120_000,
)

test.skipIf(!FULL)('what an archived session proposed can be read and not decided, until it is brought back', () =>
  using(WIDE, async (page, complaints) => {
    const { id, path, propose } = await room()
    const proposal = await propose({ title: 'Write the guide' })
    const manage = async (action: string) => {
      const headers = { 'content-type': 'application/json', cookie: await robin() }
      const body = JSON.stringify({ session_id: id, action })
      expect((await fetch(`${parley.url}/api/control/manage_session`, { method: 'POST', headers, body })).status).toBe(200)
    }
    const approve = card(page, proposal).getByRole('button', { name: 'Approve', exact: true })
    await asRobin(page, path)
    await approve.waitFor(SOON)
    await manage('delete')
    await approve.waitFor({ ...SOON, state: 'hidden' })
    await page.goto(`${parley.url}/approvals/${proposal}`)
    await card(page, proposal).getByText('Its session is archived. Bring it back to decide.').waitFor(SOON)
    expect(await approve.isVisible()).toBe(false)
    await manage('start')
    await page.reload()
    await approve.waitFor(SOON)
    expect(complaints).toEqual([])
  }),
)
